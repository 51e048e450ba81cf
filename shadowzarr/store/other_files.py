"""What was given in place of references: an HDF5 file, or another file that is no JSON.

Only the first bytes are looked at, so that a recording of any size is refused at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..access.locations import is_remote, without_query
from ..errors import InvalidReferencesError, ShadowzarrError
from ..refs.byte_range import FileRange

if TYPE_CHECKING:
    from .fetch_chunk import FileReader

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
USER_BLOCKS = (0, *(512 * 2**power for power in range(12)))
"""Where an HDF5 file may begin: after a user block of 512 bytes to 1 MiB."""

_LOOKED_AT = 1024
_KINDS = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "compressed by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"PAR1": "a Parquet file",
    b"II*\0": "a TIFF file",
    b"MM\0*": "a TIFF file",
}


def refuse_hdf5(location: str, reader: FileReader) -> None:
    """Refuse an HDF5 file before it is read whole.

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
    if _is_remote_hdf5(location, reader) if is_remote(location) else _is_local_hdf5(Path(location)):
        raise hdf5_error(without_query(location))


def hdf5_error(name: str) -> InvalidReferencesError:
    """The error for an HDF5 file where references are expected."""
    return InvalidReferencesError(
        f"{name} is an HDF5 file, not references to one; make references first: "
        f"shadowzarr generate {name} OUT"
    )


def kind_of_binary(data: bytes) -> str | None:
    """What a file is that cannot be JSON text, by its first bytes; None for text."""
    head = data[:_LOOKED_AT]
    kind = next((kind for signature, kind in _KINDS.items() if head.startswith(signature)), None)
    if kind is None and b"\0" in head:
        return "a binary file"
    return kind


def _is_local_hdf5(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        size = path.stat().st_size
        with path.open("rb") as file:
            for offset in USER_BLOCKS:
                if offset >= size:
                    break
                file.seek(offset)
                if file.read(len(HDF5_SIGNATURE)) == HDF5_SIGNATURE:
                    return True
    except (OSError, ValueError):
        return False  # reading it says why
    return False


def _is_remote_hdf5(url: str, reader: FileReader) -> bool:
    try:
        (head,) = reader.read(url, [FileRange(0, len(HDF5_SIGNATURE))])
    except (ShadowzarrError, OSError):
        return False  # reading it says why
    return bytes(head) == HDF5_SIGNATURE
