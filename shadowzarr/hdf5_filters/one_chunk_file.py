"""HDF5 files in memory with one dataset of bytes in one chunk, behind any filters with any values.

Creating such a dataset would let every filter compute its values anew from the data type (``set_local``), so
it is made with filters that HDF5 does not know, and their numbers are replaced in the file's header (HDF5
File Format, IV.A.2.l).
"""

from __future__ import annotations

import itertools
import os
import struct
from typing import Final

from h5py import h5d, h5f, h5p, h5s, h5t, h5z

from ..errors import InvalidReferencesError
from .names import Filters

HDF5_ERRORS: Final = (OSError, RuntimeError, ValueError, TypeError, OverflowError)
"""What h5py raises for what HDF5 refuses."""

_UNKNOWN = 65000  # above every registered number; replaced before HDF5 looks for a filter

_numbers = itertools.count()


def image(filters: Filters, nbytes: int) -> bytes:
    """A file with one dataset of bytes in one chunk behind these filters, nothing written yet."""
    access = _in_memory()
    access.set_libver_bounds(h5f.LIBVER_EARLIEST, h5f.LIBVER_V110)  # headers without checksums
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk((nbytes,))
    properties.set_fill_time(h5d.FILL_TIME_NEVER)
    try:
        file = h5f.create(_new_name(), h5f.ACC_TRUNC, fapl=access)
        for position, (_, values) in enumerate(filters):
            properties.set_filter(_UNKNOWN + position, h5z.FLAG_OPTIONAL, values)
        h5d.create(file, b"chunk", h5t.STD_U8LE, h5s.create_simple((nbytes,)), properties)
        h5f.flush(file)
    except HDF5_ERRORS as error:
        raise InvalidReferencesError(f"HDF5 cannot have these filters: {error}") from error
    content = bytearray(file.get_file_image())
    for position, (number, values) in enumerate(filters):
        start = content.index(_message(_UNKNOWN + position, values))
        content[start : start + 2] = struct.pack("<H", number)
    return bytes(content)


def _message(number: int, values: tuple[int, ...]) -> bytes:
    """A filter in a header: its number, no name, that it is optional, its values."""
    head = struct.pack("<4H", number, 0, h5z.FLAG_OPTIONAL, len(values))
    return head + struct.pack(f"<{len(values)}I", *values)


def open_image(content: bytes) -> tuple[h5f.FileID, h5d.DatasetID]:
    """Open such a file in memory, to be written to: the file and its dataset."""
    access = _in_memory()
    access.set_file_image(content)
    access.set_cache(0, 0, 0, 0.0)  # no chunk cache: each chunk is looked at once
    file = h5f.open(_new_name(), h5f.ACC_RDWR, fapl=access)
    return file, h5d.open(file, b"chunk")


def _in_memory() -> h5p.PropFAID:
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fapl_core(64 * 1024, False)
    return access


def _new_name() -> bytes:
    """A name of its own: HDF5 takes two files in memory for one when they have the same."""
    return b"shadowzarr-%d-%d" % (os.getpid(), next(_numbers))
