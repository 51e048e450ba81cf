"""What was given in place of references: a file that references are made for, or another that is no JSON.

Only the first bytes are looked at, so that a recording of any size is refused at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..access.locations import is_remote, without_query
from ..errors import InvalidReferencesError, ShadowzarrError
from ..recognition import HDF5_SIGNATURE, TITLES, Format, find_format, format_of_head, other_kind
from ..refs.byte_range import FileRange

if TYPE_CHECKING:
    from .fetch_chunk import FileReader

_LOOKED_AT = 1024


def refuse_source(location: str, reader: FileReader) -> None:
    """Refuse a file that references are made for, before it is read whole.

    Parameters
    ----------
    location : str
        Canonical; what is not there or cannot be read is left to whoever reads it.
    reader : FileReader
        Reads the first bytes of a remote file.

    Raises
    ------
    InvalidReferencesError
        When it is one; the message says how references are made.
    """
    found = _of_remote(location, reader) if is_remote(location) else _of_local(Path(location))
    if found is not None:
        raise source_error(without_query(location), found)


def source_error(name: str, found: Format) -> InvalidReferencesError:
    """The error for a file of some format where references are expected."""
    return InvalidReferencesError(
        f"{name} is {TITLES[found]}, not references to one; make references first: "
        f"shadowzarr generate {name} OUT"
    )


def kind_of_binary(data: bytes) -> str | None:
    """What a file is that cannot be JSON text, by its first bytes; None for text."""
    head = data[:_LOOKED_AT]
    found = format_of_head(head)
    kind = TITLES[found] if found is not None else other_kind(head)
    if kind is None and b"\0" in head:
        return "a binary file"
    return kind


def _of_local(path: Path) -> Format | None:
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:

            def read(ranges: Sequence[FileRange]) -> list[bytes]:
                return [_read_at(file, each) for each in ranges]

            return find_format(read, path.stat().st_size)
    except (OSError, ValueError):
        return None  # reading it says why


def _read_at(file: BinaryIO, wanted: FileRange) -> bytes:
    file.seek(wanted.offset)
    return file.read(wanted.length)


def _of_remote(url: str, reader: FileReader) -> Format | None:
    try:
        (head,) = reader.read(url, [FileRange(0, len(HDF5_SIGNATURE))])
    except (ShadowzarrError, OSError):
        return None  # reading it says why
    return format_of_head(head)
