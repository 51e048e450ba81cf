"""A chunk index as it is read here, beside the values that h5py reads."""

import zlib
from pathlib import Path

import h5py
import numpy as np

from shadowzarr.formats.hdf5.chunk_index import IndexRefusedError
from shadowzarr.formats.hdf5.reasons import READ_ERRORS
from shadowzarr.formats.hdf5.stored_file import stored_table


def is_same(path: Path) -> bool:
    """Whether the table gives the values that h5py reads; False when it is refused, or its chunks are."""
    data = path.read_bytes()
    with h5py.File(path) as file:
        try:
            table = stored_table(file["d"].id)
        except IndexRefusedError:
            return False
        assert table is not None
        values = np.zeros(file["d"].shape, "<i4")
        is_filtered = file["d"].compression is not None
        for row, (offset, nbytes) in enumerate(
            zip(table.offsets.tolist(), table.nbytes.tolist(), strict=True)
        ):
            stored = data[offset : offset + nbytes]
            is_plain = not is_filtered or table.filter_masks[row] & 1
            try:
                chunk = stored if is_plain else zlib.decompress(stored)
            except zlib.error:
                return False
            if len(chunk) != 8:
                return False
            values[table.coordinates[row, 0]] = np.frombuffer(chunk, "<i4")
        try:
            read = file["d"][...]
        except READ_ERRORS:
            return False
        np.testing.assert_array_equal(values, read)
    return True
