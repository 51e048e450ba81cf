"""Checks of what an interface is given: plain values that a record can hold, local files, no secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from ..access.locations import is_remote, secret_in
from ..errors import UsageError

PATH_ENDINGS = ("file_path", "folder_path", "file_paths", "folder_paths", "directory")
"""How NeuroConv's arguments are called that name files and folders, at their ends."""


def check_given(what: str, given: Mapping[str, Any]) -> None:
    """Refuse values that a record cannot hold, or must not.

    Raises
    ------
    UsageError
        For what is not of JSON's kinds, a URL in place of a path, and a URL with a password or a signature;
        the message does not show it.
    """
    try:
        orjson.dumps(dict(given))
    except TypeError as error:
        raise UsageError(
            f"expected {what} of text, numbers, lists and sections with text as keys: {error}"
        ) from error
    for name, text in _texts("", given):
        if name.endswith(PATH_ENDINGS) and is_remote(text):
            raise UsageError(f"expected {name} of {what} on this machine, not a URL: NeuroConv reads files")
        if (secret := secret_in(text)) is not None:
            raise UsageError(f"expected {name} of {what} without {secret}, which would stand in the record")


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """All texts in a value, each with the nearest key above it."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _texts(key, each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(name, each)
