"""What a file is, by how it begins: the one place that knows the signatures of formats.

Names of files say nothing here, but for recordings that NEO reads (``recordings``), which may be folders.
How a file of a format is read is left to ``formats``, and to ``verify``, which shares nothing else with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal, get_args

from .access.locations import canonical, is_remote, without_query
from .access.range_reader import DefaultReader, default_reader
from .access.source_identity import Buffer
from .errors import UnknownFormatError
from .recording_parts import hint_for
from .recordings import find_recording, kind_of_head
from .refs.byte_range import FileRange

Format = Literal["hdf5", "tiff", "neo"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)

TITLES: Final[dict[Format, str]] = {
    "hdf5": "an HDF5 file",
    "tiff": "a TIFF file",
    "neo": "a recording that NEO reads",
}
"""How messages call a file of each format."""

_KNOWN: Final = (
    "HDF5 (as NWB, NetCDF-4 and MATLAB 7.3 files are), TIFF (as BigTIFF and OME-TIFF are) or a recording "
    "that NEO reads"
)

HDF5_SIGNATURE: Final = b"\x89HDF\r\n\x1a\n"
"""First bytes of a superblock (HDF5 File Format Specification 3.0, II.A)."""

FIRST_USER_BLOCK: Final = 512
"""A superblock that is not at 0 is here, or at twice that, four times that, and so on (the same section)."""

HEAD_BYTES: Final = 4096
"""What is read of a file at first: enough for superblocks behind user blocks of up to 2 kB."""

_TIFF: Final = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
"""Byte order, then 42 (TIFF 6.0, section 2) or 43 (BigTIFF) in it."""

_OTHERS: Final = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "compressed by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"PAR1": "a Parquet file",
    b"CDF\x01": "a NetCDF-3 file",
    b"CDF\x02": "a NetCDF-3 file",
    b"CDF\x05": "a NetCDF-3 file",
    b"\x0e\x03\x13\x01": "an HDF4 file",
    b"MATLAB 5.0": "a MATLAB file of a version before 7.3",
}

ReadRanges = Callable[[Sequence[FileRange]], Sequence[Buffer]]
"""Reads ranges that lie in a file."""


def format_of_head(head: Buffer) -> Format | None:
    """The format of a file by its first bytes alone; None when they do not tell.

    Parameters
    ----------
    head : bytes
        `HEAD_BYTES` of a file, or all of a smaller one.
    """
    start = bytes(head[:4])
    if start in _TIFF:
        return "tiff"
    if any(_is_signature(head[at : at + 8]) for at in superblock_places(len(head))):
        return "hdf5"
    return None


def superblock_places(size: int) -> list[int]:
    """Where an HDF5 superblock may begin in so many bytes."""
    places, at = [], 0
    while at + len(HDF5_SIGNATURE) <= size:
        places.append(at)
        at = 2 * at or FIRST_USER_BLOCK
    return places


def find_format(read: ReadRanges, size: int) -> Format | None:
    """The format of a file by its content; None when it is none that is known.

    Parameters
    ----------
    read : callable
        Reads ranges of the file; it is called twice at most.
    size : int
        Bytes of the file.
    """
    (head,) = read([FileRange(0, min(size, HEAD_BYTES))])
    return _find_in(head, read, size)


def recognize(source: str | os.PathLike[str], *, reader: DefaultReader | None = None) -> Format:
    """The format of a file by its content.

    Parameters
    ----------
    source : str or path-like
        The file, in any form that `access.locations.canonical` takes.
    reader : DefaultReader, optional
        What reads it; the process's own by default. A remote file costs one request, and another round
        of them when its first bytes do not tell.

    Raises
    ------
    UnknownFormatError
        When it is of no format that is known, a folder without a recording, or one with several.
    ReadError
        When it cannot be read.
    """
    location = canonical(source)
    reader = reader or default_reader()
    if not is_remote(location) and Path(location).is_dir():
        if find_recording(location) is None:
            raise unknown_folder(location)
        return "neo"
    answer = reader.probe(location, HEAD_BYTES)
    head, size = answer.data, answer.total or 0
    if not head and size:  # of a local file only its size is told
        (head,) = reader.read(location, [FileRange(0, min(size, HEAD_BYTES))])
    found = _find_in(head, lambda ranges: reader.read(location, ranges), size)
    if found is None and not is_remote(location) and find_recording(location) is not None:
        return "neo"
    if found is None:
        raise unknown_format(location, head)
    return found


def unknown_format(location: str, head: Buffer) -> UnknownFormatError:
    """The error for a file of no format that is known."""
    recording = kind_of_head(bytes(head))
    if recording is not None:
        return UnknownFormatError(
            f"{without_query(location)} is {recording.title}, which NEO reads from local files only; give a "
            "local copy"
        )
    hint = None if is_remote(location) else hint_for(location)
    if hint is not None:
        return UnknownFormatError(f"{location} cannot be read alone: {hint}")
    what = (other_kind(bytes(head)) or "of no format that is known") if len(head) else "empty"
    return UnknownFormatError(f"{without_query(location)} is {what}; expected {_KNOWN}")


def unknown_folder(path: str) -> UnknownFormatError:
    """The error for a folder without a recording."""
    hint = hint_for(path)
    if hint is not None:
        return UnknownFormatError(f"{path} is a directory without a whole recording: {hint}")
    return UnknownFormatError(f"{path} is a directory without a recording; expected {_KNOWN}")


def other_kind(head: bytes) -> str | None:
    """What a file is that is of no format that is known; None when its first bytes do not tell."""
    return next((kind for signature, kind in _OTHERS.items() if head.startswith(signature)), None)


def _find_in(head: Buffer, read: ReadRanges, size: int) -> Format | None:
    found = format_of_head(head)
    rest = [FileRange(at, len(HDF5_SIGNATURE)) for at in superblock_places(size) if at + 8 > len(head)]
    if found is None and rest and any(map(_is_signature, read(rest))):
        return "hdf5"
    return found


def _is_signature(data: Buffer) -> bool:
    return bytes(data) == HDF5_SIGNATURE
