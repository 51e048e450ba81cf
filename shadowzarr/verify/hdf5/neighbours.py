"""Other files that the original names: where they are, and which of them must not be read.

As HDF5 looks for them beside the file that names them, but never in the working folder, and only inside
the original's own folder or that folder of its URL unless that is lifted.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

from ...access.archives import archive_of, asset_address
from ...access.locations import is_remote


class NotToBeReadError(Exception):
    """Another file must not be read; the message says why."""


class MissingNeighbourError(NotToBeReadError):
    """There is no such file."""


class MisleadingError(NotToBeReadError):
    """HDF5 would read another file than the one that is named."""


class Neighbours:
    """The files around the original.

    Parameters
    ----------
    original : str
        Its location: an absolute path or a URL.
    allow_external : bool
        Whether files outside its folder may be read.
    """

    def __init__(self, original: str, *, allow_external: bool) -> None:
        self._original = original
        self._allow_external = allow_external

    def locate(self, name: str, holder: str, *, by_last_part: bool = True) -> str:
        """Where a file is that another one names.

        Parameters
        ----------
        name : str
            As the holder says it.
        holder : str
            Location of the file that says it.
        by_last_part : bool
            Whether an absolute name that leads nowhere is looked for beside the holder.

        Raises
        ------
        MissingNeighbourError
            When no local file is there.
        NotToBeReadError
            When it must not be read.
        """
        if is_remote(holder):
            return self._url(name, holder, by_last_part)
        raw = Path(os.fsdecode(name.encode("utf-8", "surrogateescape")))
        tried = [raw] if raw.is_absolute() else []
        if by_last_part or not raw.is_absolute():
            last = raw.name if raw.is_absolute() else raw
            tried += [folder / last for folder in _own_folders(holder)]
        for place in tried:
            if place.exists():
                return self._checked(name, place)
        raise MissingNeighbourError(f"the file it names ({name}) is not there")

    def _checked(self, name: str, place: Path) -> str:
        real = Path(os.path.realpath(place))
        inside = any(real.is_relative_to(folder) for folder in _own_folders(self._original))
        if not inside and not self._allow_external:
            raise NotToBeReadError(f"the file it names ({name}) lies outside its folder")
        return str(place.parent.resolve() / place.name)

    def _url(self, name: str, holder: str, by_last_part: bool) -> str:
        if asset_address(holder) is not None or archive_of(holder) is not None:
            raise NotToBeReadError(f"the file it names ({name}) has no place beside an asset of an archive")
        if name.startswith("/"):
            if not by_last_part:
                raise NotToBeReadError(f"the file it names ({name}) is a local one")
            name = name.rpartition("/")[2]
        is_url = name.startswith(("http://", "https://", "s3://"))
        url = name if is_url else _beside(holder, quote(name.encode("utf-8", "surrogateescape")))
        folder = _beside(self._original, ".")
        if not self._allow_external and (not url.startswith(folder) or "/../" in url or "/./" in url):
            raise NotToBeReadError(f"the file it names ({name}) lies outside its folder")
        return url


def _own_folders(location: str) -> list[Path]:
    return [Path(location).parent.resolve(), Path(location).resolve().parent]


def _beside(holder: str, name: str) -> str:
    """A name in the folder of a URL; `urljoin` knows http alone."""
    parts = urlsplit(holder)
    path = urljoin(f"http://host{parts.path}", name)
    return f"{parts.scheme}://{parts.netloc}{path.removeprefix('http://host')}"
