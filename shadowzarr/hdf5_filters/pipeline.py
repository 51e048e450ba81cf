"""Chunks through HDF5's own filter pipeline, whatever its filters are.

A filter knows nothing of the dataset but its client data values and the bytes. So a chunk of any dataset
decodes in a small HDF5 file in memory (`one_chunk_file`): one dataset of bytes, one chunk, the same filters
with the same values; the stored bytes are put in, the decoded ones are read.

Nothing here knows Zarr.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from typing import Any, Final

import numpy as np
from h5py import h5s, h5t, h5z

from ..errors import DamagedSourceError, InvalidReferencesError, MissingDependencyError, UnsupportedError
from .availability import has_encoder, missing_filter
from .checks import Check, does_nothing, has_size, input_check
from .guard import the_guard
from .names import SZIP, ZFP, Filters, filter_name
from .one_chunk_file import HDF5_ERRORS, image, open_image
from .parameters import bad_values, unpadded_szip

MAX_CHUNK_BYTES: Final = 2**32 - 1
"""Bytes of the largest chunk that HDF5 can store."""

MARK: Final = b"\x89shadowzarr-mask"
"""Begins a chunk of ours that names the filters it skipped; HDF5 keeps that beside the chunk."""

Array = np.ndarray[Any, np.dtype[np.uint8]]

_KEPT_PIPELINES = 8
_KEPT_BYTES = 16 * 2**20  # a file in memory never shrinks: beyond this it is made anew
_MAX_FILTERS = 32  # H5Z_MAX_NFILTERS, guards included


def decode_chunk(filters: Filters, data: Any, nbytes: int) -> Array:
    """Undo filters.

    Parameters
    ----------
    filters : tuple of (int, tuple of int)
        Numbers and client data values, in the order in which they were applied.
    data : bytes-like
        The stored chunk. It may begin with `MARK` (`mark_chunk`).
    nbytes : int
        Bytes that it has to decode to.

    Returns
    -------
    numpy.ndarray
        The decoded bytes, uint8.

    Raises
    ------
    MissingDependencyError
        When the plug-in of a filter is not installed.
    DamagedSourceError
        When the chunk does not decode, or to another size.
    InvalidReferencesError
        When HDF5 cannot have such a chunk or such filters.
    """
    view, mask = _unmarked(memoryview(data).cast("B"))
    if not len(view) or len(view) > MAX_CHUNK_BYTES:
        raise DamagedSourceError(
            f"a stored chunk of {len(view):,} bytes; HDF5's have 1 to {MAX_CHUNK_BYTES:,}"
        )
    applied = tuple(entry for position, entry in enumerate(filters) if not mask >> position & 1)
    with h5z.phil:
        return _pipeline(applied, nbytes).decode(view)


def encode_chunk(filters: Filters, data: Any) -> bytes:
    """Apply filters.

    Parameters
    ----------
    filters : tuple of (int, tuple of int)
        Numbers and client data values, in the order in which they are to be applied.
    data : bytes-like
        A whole chunk.

    Returns
    -------
    bytes
        The chunk as HDF5 stores it; begun with `MARK` when a filter declined it, as some do with what
        they cannot make smaller.

    Raises
    ------
    MissingDependencyError
        When the plug-in of a filter is not installed.
    UnsupportedError
        When a filter can only be undone.
    InvalidReferencesError
        When HDF5 cannot have such a chunk or such filters.
    """
    view = memoryview(data).cast("B")
    with h5z.phil:
        pipeline = _Pipeline(filters, len(view))  # not a kept one: HDF5 keeps the mask of a chunk it rewrites
        for number, _ in filters:
            if not has_encoder(number):
                raise UnsupportedError(
                    f"the filter {filter_name(number)} can only be undone here; write with other codecs"
                )
        stored, mask = pipeline.encode(view)
    return mark_chunk(stored, mask) if mask or stored.startswith(MARK) else stored


def mark_chunk(stored: bytes, mask: int) -> bytes:
    """A stored chunk that says itself which of the filters it skipped (bit i: filter i)."""
    return MARK + struct.pack("<I", mask) + stored


def _unmarked(view: memoryview) -> tuple[memoryview, int]:
    start = len(MARK) + 4
    if len(view) < start or bytes(view[: len(MARK)]) != MARK:
        return view, 0
    return view[start:], int(struct.unpack_from("<I", view, len(MARK))[0])


# Under h5py's lock from here on. It is the one that each call into HDF5 takes anyway, a second one could
# only wait for it, and h5py sees to it that a forked child finds it free.


def _pipeline(filters: Filters, nbytes: int) -> _Pipeline:
    """The pipeline of a configuration, made or kept from the last chunk."""
    key = filters, nbytes
    found = _pipelines.pop(key, None)
    if found is None or found.is_large():
        found = _Pipeline(filters, nbytes)
    _pipelines[key] = found
    while len(_pipelines) > _KEPT_PIPELINES:
        _pipelines.popitem(last=False)
    return found


class _Pipeline:
    """A file in memory with one chunk.

    Parameters
    ----------
    filters : tuple of (int, tuple of int)
        Numbers and client data values.
    nbytes : int
        Bytes of the decoded chunk.
    """

    def __init__(self, filters: Filters, nbytes: int) -> None:
        _refuse(filters, nbytes)
        self._names = ", ".join(filter_name(number) for number, _ in filters)
        self._nbytes = nbytes
        number, values = filters[-1] if filters else (0, ())
        self._is_zfp = number == ZFP
        unpadded = unpadded_szip(values, nbytes) if number == SZIP else None
        self._unpadded = unpadded and _Pipeline(((SZIP, unpadded[0]),), unpadded[1])
        stages, self._checks, self._bits = _guarded(filters, nbytes)
        self._file, self._dataset = open_image(image(stages, nbytes))

    def is_large(self) -> bool:
        """Whether the file has grown so much that it had better be made anew."""
        return bool(self._file.get_filesize() > _KEPT_BYTES)

    def decode(self, data: memoryview) -> Array:
        """The values of a stored chunk."""
        if self._unpadded is not None:
            # HDF5 takes a chunk that ends within lines that szip has padded for a whole one, and gives what
            # was in memory. Of lines that are not padded it counts the bytes.
            size = self._unpadded._nbytes.to_bytes(4, "little")
            self._unpadded.decode(memoryview(size + data[4:]))
        if not self._is_zfp:
            return self._decode(data, len(data))
        # zfp reads on where a chunk has ended. One that is whole decodes to the same whatever follows it.
        spare = min(3 * self._nbytes + 64, MAX_CHUNK_BYTES - len(data))
        first, second = (
            self._decode(b"".join((data, fill * spare)), len(data)) for fill in (b"\xff", b"\x55")
        )
        if not np.array_equal(first, second):
            raise self._damaged(len(data), "it is truncated")
        return first

    def _decode(self, data: memoryview | bytes, nbytes: int) -> Array:
        values = np.empty(self._nbytes, np.uint8)
        guard = the_guard()
        guard.checks, guard.complaint = self._checks, ""
        try:
            self._dataset.write_direct_chunk((0,), data)
            self._dataset.read(h5s.ALL, h5s.ALL, values, h5t.STD_U8LE)
        except HDF5_ERRORS as error:
            raise self._damaged(nbytes, guard.complaint or str(error)) from error
        if guard.complaint:
            raise self._damaged(nbytes, guard.complaint)
        return values

    def _damaged(self, nbytes: int, reason: str) -> DamagedSourceError:
        return DamagedSourceError(
            f"a stored chunk of {nbytes:,} bytes does not decode by the filters {self._names}: {reason}"
        )

    def encode(self, data: memoryview) -> tuple[bytes, int]:
        """A chunk as HDF5 stores it, and which filters declined it (bit i: filter i)."""
        try:
            self._dataset.write(h5s.ALL, h5s.ALL, np.frombuffer(data, np.uint8), h5t.STD_U8LE)
            skipped, stored = self._dataset.read_direct_chunk((0,))
        except HDF5_ERRORS as error:
            raise UnsupportedError(
                f"HDF5 cannot apply the filters {self._names} to a chunk: {error}"
            ) from error
        mask = sum(1 << position for position, bit in enumerate(self._bits) if skipped & bit)
        return bytes(stored), mask


_pipelines: OrderedDict[tuple[Filters, int], _Pipeline] = OrderedDict()


def _refuse(filters: Filters, nbytes: int) -> None:
    """Refuse what HDF5 cannot have, and what cannot be run here."""
    if not 0 < nbytes <= MAX_CHUNK_BYTES:
        raise InvalidReferencesError(
            f"a chunk of {nbytes:,} bytes behind HDF5 filters; HDF5's have 1 to {MAX_CHUNK_BYTES:,}"
        )
    missing = missing_filter(filters)
    if missing is not None:
        raise MissingDependencyError(missing)
    for number, values in filters:
        wrong = bad_values(number, values, nbytes)
        if wrong:
            raise InvalidReferencesError(
                f"the filter {filter_name(number)} has values that are not for a chunk of {nbytes:,} bytes: "
                f"{wrong}"
            )


def _guarded(filters: Filters, nbytes: int) -> tuple[Filters, list[Check], list[int]]:
    """Filters with guards between them, the guards' checks, and the bit of each filter in HDF5's masks."""
    number = the_guard().number
    stages: list[tuple[int, tuple[int, ...]]] = [(number, (0,))]
    checks = [has_size(nbytes)]
    bits = []
    for entry in filters:
        if does_nothing(*entry):
            bits.append(0)
            continue
        bits.append(1 << len(stages))
        stages.append(entry)
        check = input_check(*entry, nbytes)
        if check is not None:
            stages.append((number, (len(checks),)))
            checks.append(check)
    if len(stages) > _MAX_FILTERS:
        raise InvalidReferencesError(f"{len(filters)} HDF5 filters before one chunk; too many to be true")
    return tuple(stages), checks, bits
