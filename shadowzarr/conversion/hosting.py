"""Where recordings are hosted: local files → URLs, by the folders that lie there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from urllib.parse import quote

from ..access.locations import is_remote
from ..errors import UsageError


def url_for_hosts(hosts: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that gives the URL of a local file.

    Parameters
    ----------
    hosts : mapping of str to str
        URLs of folders, by their absolute paths; of two that fit, the longer path counts.

    Returns
    -------
    callable
        It raises a `UsageError` for a file in none of the folders. What is a URL already stays.
    """
    folders = sorted(hosts, key=len, reverse=True)

    def url_for(path: str) -> str:
        if is_remote(path):
            return path
        for folder in folders:
            if PurePosixPath(path).is_relative_to(folder):
                rest = os.path.relpath(path, folder)
                return f"{hosts[folder].rstrip('/')}/{quote(os.fsencode(rest))}"
        raise UsageError(
            f"{path} is in no folder of url_for, which has {', '.join(sorted(hosts))}; add its own"
        )

    return url_for
