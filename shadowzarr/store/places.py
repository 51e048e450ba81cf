"""Where a document is, and where what it names is: names relative to a folder made absolute.

Pure but for `check_inside`, which follows symbolic links.
"""

from __future__ import annotations

import os
import posixpath
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from ..access.allowed_places import is_below
from ..access.locations import is_remote, local_path, without_query
from ..errors import RefusedPlaceError
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


def check_inside(index: str, folder: str) -> str:
    """Where an index array is, if that is in its document's folder.

    Parameters
    ----------
    index : str
        As `resolve` gives it.
    folder : str
        Of the document.

    Raises
    ------
    RefusedPlaceError
        When it is elsewhere; symbolic links to it are followed.
    """
    if _is_inside(index, folder):
        return index
    raise RefusedPlaceError(
        f"the references name {without_query(index)} as the place of a chunk index, which is not in their "
        f"folder {without_query(folder)}; put it there, or write the references again"
    )


def _is_inside(place: str, folder: str) -> bool:
    if is_remote(folder) != is_remote(place):
        return False
    if not is_remote(folder):
        try:
            return is_below(os.path.realpath(local_path(place)), os.path.realpath(folder))
        except ValueError:  # a NUL in it
            return False
    here, there = urlsplit(folder), urlsplit(place)
    # Unquoted and made plain again: a place that was absolute is as it was written.
    path = posixpath.normpath(unquote(there.path))
    own = posixpath.normpath(unquote(here.path) or "/").rstrip("/")
    return here[:2] == there[:2] and path.startswith(f"{own}/")
