"""Where a document is, and where what it names is: names relative to a folder made absolute. Pure."""

from __future__ import annotations

import os
import posixpath
from urllib.parse import quote, urlsplit, urlunsplit

from ..access.locations import is_remote
from ..refs.absolute_places import is_absolute

_SAFE = "/:@!$&'()*+,;=~"


def inside(folder: str, name: str) -> str:
    """A file in a folder; ``name`` has ``/`` between its parts.

    The query of a folder's URL stays: who gave it gave it for all that is in the folder.
    """
    if not is_remote(folder):
        return os.path.join(folder, *name.split("/"))  # noqa: PTH118 - locations are strings
    parts = urlsplit(folder)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{quote(name, safe=_SAFE)}"))


def folder_of(document: str) -> str:
    """The folder that a document is in; its own query, which may sign it alone, is left off."""
    if not is_remote(document):
        return os.path.dirname(document)  # noqa: PTH120
    parts = urlsplit(document)
    return urlunsplit(parts._replace(path=posixpath.dirname(parts.path), query="", fragment=""))


def resolve(place: str, folder: str) -> str:
    """A place that a document in ``folder`` names, made absolute."""
    if is_absolute(place):
        return place
    if not is_remote(folder):
        return os.path.normpath(os.path.join(folder, place))  # noqa: PTH118
    parts = urlsplit(inside(folder, place))
    return urlunsplit(parts._replace(path=posixpath.normpath(parts.path)))
