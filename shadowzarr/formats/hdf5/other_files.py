"""Names of other files that an HDF5 file holds → where those files are, if they may be read.

HDF5 is never asked: through a Python file object it opens the same file again, and external raw files by
local path, whatever the file says. A name counts from the folder of the file that holds it, or from that
folder of a URL, and must lead to a place inside the folder of the file that references are made for,
unless that is lifted. Nothing is opened here.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from ...access.archives import archive_of, asset_address
from ...access.locations import is_remote
from .object_names import encode_name, printable
from .reasons import CannotRepresentError

_REMOTE_NAME = re.compile(r"^(?:https?|s3)://")


class MissingFileError(CannotRepresentError):
    """The file that is named is not there."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Where files may lie that an HDF5 file names.

    Attributes
    ----------
    first : str
        Location of the file that references are made for: an absolute path or a URL.
    allow_external : bool
        Whether they may lie outside its folder.
    """

    first: str
    allow_external: bool = False

    def locate(self, name: str, holder: str, *, by_last_part: bool = True) -> str:
        """Where a file is.

        Parameters
        ----------
        name : str
            As the HDF5 file says it.
        holder : str
            Location of the file that says it.
        by_last_part : bool, optional
            Whether an absolute name that leads nowhere is looked for beside the holder, as HDF5 does for
            links and virtual datasets, but not for raw files.

        Returns
        -------
        str
            An absolute path of a file that exists, or a URL.

        Raises
        ------
        MissingFileError
            When no such local file is there.
        CannotRepresentError
            When the file must not be read.
        """
        if is_remote(holder):
            return self._at_url(name, holder, by_last_part=by_last_part)
        for candidate in _candidates(name, holder, by_last_part=by_last_part):
            if not candidate.exists():
                continue
            real = os.path.realpath(candidate)
            if not self.allow_external and not any(
                Path(real).is_relative_to(folder) for folder in _folders(self.first)
            ):
                raise CannotRepresentError(f"the file {printable(name)} is outside the folder of the file")
            if not candidate.is_file():
                raise CannotRepresentError(f"{printable(name)} is a directory or a device")
            return str(Path(os.path.realpath(candidate.parent), candidate.name))
        raise MissingFileError(f"the file {printable(name)} is not there")

    def _at_url(self, name: str, holder: str, *, by_last_part: bool) -> str:
        shown = printable(name)
        if asset_address(holder) is not None or archive_of(holder) is not None:
            raise CannotRepresentError(
                f"the file {shown} cannot be found: the download URL of an archive's asset has no folder"
            )
        url = _joined(name, holder, by_last_part=by_last_part)
        if self.allow_external or _is_below(url, self.first):
            return url
        raise CannotRepresentError(f"the file {shown} is outside the folder of the file's URL")


def _folders(holder: str) -> list[str]:
    """A local file's own folder; also that of the file itself, when its name is a symbolic link."""
    folders = [os.path.realpath(Path(holder).parent), str(Path(os.path.realpath(holder)).parent)]
    return list(dict.fromkeys(folders))


def _candidates(name: str, holder: str, *, by_last_part: bool) -> Iterator[Path]:
    named = Path(os.fsdecode(encode_name(name)))
    if named.is_absolute():
        yield named
        if not by_last_part:
            return
        named = Path(named.name)
    for folder in _folders(holder):
        yield Path(folder) / named


def _joined(name: str, holder: str, *, by_last_part: bool) -> str:
    if _REMOTE_NAME.match(name):
        return name.partition("#")[0]
    if name.startswith("/"):
        if not by_last_part:
            raise CannotRepresentError(f"{printable(name)} names a local file, which a URL must not lead to")
        name = posixpath.basename(name)
    parts = urlsplit(holder)
    path = posixpath.join(posixpath.dirname(parts.path), quote(encode_name(name)))
    return urlunsplit((parts.scheme, parts.netloc, "/" + posixpath.normpath(path).lstrip("/"), "", ""))


def _is_below(url: str, first: str) -> bool:
    """Whether a URL has the origin of another one and lies in its folder."""
    one, other = urlsplit(url), urlsplit(first)
    folder = posixpath.dirname(other.path).rstrip("/") + "/"
    is_plain = posixpath.normpath(one.path).lstrip("/") == one.path.lstrip("/")
    return (one.scheme, one.netloc) == (other.scheme, other.netloc) and (
        is_plain and one.path.startswith(folder)
    )
