"""Checksums of metadata: Bob Jenkins' lookup3.

HDF5 File Format, "Checksum" fields: the 32-bit hash of the bytes before it, with the initial value 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numcodecs.jenkins import jenkins_lookup3

from .nodes import Bytes2D
from .numbers import fields_at, unsigned
from .refusal import sound

CHECKSUM_SIZE = 4

_WRONG = "a checksum that is not that of its node"


def check(rows: Bytes2D, lengths: npt.NDArray[np.int64] | None = None) -> None:
    """Compare the checksum that follows the first bytes of each row with that of those bytes.

    Parameters
    ----------
    rows : numpy.ndarray
        A row per node.
    lengths : numpy.ndarray, optional
        Bytes before the checksum; all but the last four of a row when left out.

    Raises
    ------
    DamagedIndexError
        When one differs.
    """
    if len(rows) == 1:
        data = rows[0].tobytes()
        end = len(data) - CHECKSUM_SIZE if lengths is None else int(lengths[0])
        stored_one = int.from_bytes(data[end : end + CHECKSUM_SIZE], "little")
        sound(jenkins_lookup3(data[:end]) == stored_one, _WRONG)
        return
    if lengths is None:
        lengths = np.full(len(rows), rows.shape[1] - CHECKSUM_SIZE, np.int64)
    stored = unsigned(fields_at(rows, lengths, CHECKSUM_SIZE)).tolist()
    found = [jenkins_lookup3(row[:length]) for row, length in zip(rows, lengths.tolist(), strict=True)]
    sound(found == stored, _WRONG)
