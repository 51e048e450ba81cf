"""The files of a recording: where references say that they are, and whether they hold what is claimed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ...errors import UsageError
from ...refs.document import SourceEntry
from ..cannot_represent import CannotRepresentError

UrlFor = Callable[[str], str]
"""Gives the URL under which a local file is hosted, of its path as NEO reads it."""


class Files:
    """Files that are referenced.

    Parameters
    ----------
    url_for : callable or None
        As `UrlFor`; None to reference local paths.

    Attributes
    ----------
    sources : dict
        Size of each file that was referenced, by what references call it.
    """

    def __init__(self, url_for: UrlFor | None) -> None:
        self._url_for = url_for
        self.sources: dict[str, SourceEntry] = {}

    def place(self, path: str | os.PathLike[str], end: int) -> str:
        """What references call a file, of which bytes up to ``end`` are needed.

        Raises
        ------
        CannotRepresentError
            When the file is not there or shorter.
        UsageError
            When ``url_for`` gives no URL.
        """
        name = os.fspath(path)
        try:
            size = Path(name).stat().st_size
        except (OSError, ValueError) as error:
            raise CannotRepresentError(f"{name} cannot be read: {error}") from error
        if end > size:
            raise CannotRepresentError(
                f"{name} has {size:,} bytes, and its samples would end at byte {end:,}: it is cut short"
            )
        url = os.path.abspath(name) if self._url_for is None else self._url_for(name)  # noqa: PTH100
        if not isinstance(url, str) or not url:
            raise UsageError(f"url_for gave {url!r} for {name}; expected a URL")
        self.sources[url] = {"size": size}
        return url
