"""Checksums of metadata: Bob Jenkins' lookup3, of many nodes at once.

HDF5 File Format, "Checksum" fields: the 32-bit hash of the bytes before it, with the initial value 0.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from .nodes import Bytes2D
from .numbers import fields_at, unsigned
from .refusal import sound

CHECKSUM_SIZE = 4

_BYTES_AT_ONCE = 8 * 2**20
_FEW = 8
"""Rows below which plain integers are faster than arrays."""

_BLOCK = 12
_START = 0xDEADBEEF
_ALL = 0xFFFFFFFF
_MIX = ((0, 2, 4, 1), (1, 0, 6, 2), (2, 1, 8, 0), (0, 2, 16, 1), (1, 0, 19, 2), (2, 1, 4, 0))
_FINAL = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))

Words = npt.NDArray[np.uint32]


def check(rows: Bytes2D, lengths: npt.NDArray[np.int64] | int | None = None) -> None:
    """Compare the checksum that follows the first bytes of each row with that of those bytes.

    Parameters
    ----------
    rows : numpy.ndarray
        A row per node.
    lengths : numpy.ndarray or int, optional
        Bytes before the checksum; all but the last four of a row when left out.

    Raises
    ------
    DamagedIndexError
        When one differs.
    """
    before = np.broadcast_to(rows.shape[1] - CHECKSUM_SIZE if lengths is None else lengths, len(rows))
    at_once = max(1, _BYTES_AT_ONCE // max(1, rows.shape[1]))
    for start in range(0, len(rows), at_once):
        part, ends = rows[start : start + at_once], before[start : start + at_once]
        stored = unsigned(fields_at(part, ends, CHECKSUM_SIZE))
        sound((lookup3(part, ends) == stored).all(), "a checksum that is not that of its node")


def lookup3(rows: Bytes2D, lengths: npt.NDArray[np.int64]) -> Words:
    """The hash of the first bytes of each row, as many as `lengths` says (at least one)."""
    if len(rows) < _FEW:
        pairs = zip(rows, lengths.tolist(), strict=True)
        return np.array([_of_one(row[:length].tobytes()) for row, length in pairs], np.uint32)
    order = np.argsort(-lengths, kind="stable")  # rows that go on are the first ones, in every step
    lengths = lengths[order]
    words = _padded_words(rows, order, lengths)
    state = np.repeat((lengths.astype(np.uint64) + _START)[None].astype(np.uint32), 3, axis=0)
    blocks = -(-lengths // _BLOCK)
    for number in range(int(blocks[0])):
        there = int(np.searchsorted(-blocks, -number))  # rows with more than `number` blocks
        going_on = int(np.searchsorted(-blocks, -number - 1))
        state[:, :there] += words[:, number, :there]
        _mix(state[:, :going_on])
        _finish(state[:, going_on:there])
    found = np.empty(len(rows), np.uint32)
    found[order] = state[2]
    return found


def _of_one(data: bytes) -> int:
    state = [(_START + len(data)) & _ALL] * 3
    blocks = -(-len(data) // _BLOCK)
    words = struct.unpack(f"<{3 * blocks}I", data.ljust(blocks * _BLOCK, b"\0"))
    for place in range(0, len(words), 3):
        state = [(a + b) & _ALL for a, b in zip(state, words[place : place + 3], strict=True)]
        if place + 3 == len(words):
            break
        for target, source, bits, partner in _MIX:
            turned = (state[source] << bits & _ALL) | state[source] >> (32 - bits)
            state[target] = ((state[target] - state[source]) & _ALL) ^ turned
            state[source] = (state[source] + state[partner]) & _ALL
    for target, source, bits in _FINAL:
        turned = (state[source] << bits & _ALL) | state[source] >> (32 - bits)
        state[target] = ((state[target] ^ state[source]) - turned) & _ALL
    return state[2]


def _padded_words(rows: Bytes2D, order: npt.NDArray[np.intp], lengths: npt.NDArray[np.int64]) -> Words:
    """Words of the rows in this order, zeros after their lengths; shape (3, blocks, rows)."""
    longest = int(lengths[0])
    padded = np.zeros((len(rows), -(-longest // _BLOCK) * _BLOCK), np.uint8)
    padded[:, :longest] = rows[order, :longest]
    if lengths[-1] != longest:
        padded[np.arange(padded.shape[1]) >= lengths[:, None]] = 0
    return np.ascontiguousarray(padded.view("<u4").reshape(len(rows), -1, 3).transpose(2, 1, 0))


def _rotated(word: Words, bits: int) -> Words:
    return (word << np.uint32(bits)) | (word >> np.uint32(32 - bits))


def _mix(state: Words) -> None:
    if not state.shape[1]:
        return
    for target, source, bits, partner in _MIX:
        state[target] -= state[source]
        state[target] ^= _rotated(state[source], bits)
        state[source] += state[partner]


def _finish(state: Words) -> None:
    if not state.shape[1]:
        return
    for target, source, bits in _FINAL:
        state[target] ^= state[source]
        state[target] -= _rotated(state[source], bits)
