"""HDF5 filter pipelines → Zarr codecs (HDF5 File Format, IV.A.2.l "Filter Pipeline").

The order of the codecs is the order of the filters. Where other readers know a codec for each filter, those
are named; a pipeline with any other filter is named as a whole by our codec (``hdf5_filters``), which runs
HDF5's own. ``HOW`` lists what becomes of each filter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from h5py import h5p

from ...hdf5_filters.availability import missing_filter
from ...hdf5_filters.names import (
    BITSHUFFLE,
    BLOSC,
    BLOSC2,
    BZIP2,
    DEFLATE,
    FLETCHER32,
    LZ4,
    LZF,
    NBIT,
    SCALEOFFSET,
    SHUFFLE,
    SZIP,
    ZFP,
    ZSTD,
    Filters,
    codec_entry,
    filter_name,
)

_BLOSC_COMPRESSORS = {0: "blosclz", 1: "lz4", 2: "lz4hc", 4: "zlib", 5: "zstd"}
_BLOSC_SHUFFLES = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}
_STANDARD_ORDER = {SHUFFLE: 0, DEFLATE: 1, FLETCHER32: 2}


class NoCodecError(Exception):
    """Neither a Zarr codec nor HDF5 here undoes a filter; the message names it."""


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter of a pipeline.

    Attributes
    ----------
    number : int
        Its registered identifier.
    values : tuple of int
        Its client data values.
    """

    number: int
    values: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """What people call it."""
        return filter_name(self.number)


@dataclass(frozen=True, slots=True)
class CodecChain:
    """Codecs that undo a pipeline.

    Attributes
    ----------
    codecs : tuple of dict
        In Zarr's order, after ``bytes``.
    is_proven : bool
        Whether chunks in this order of filters decode to h5py's values in every case; otherwise the
        smallest and the largest chunk are compared before the references are trusted.
    """

    codecs: tuple[dict[str, Any], ...]
    is_proven: bool = True


def filter_pipeline(properties: h5p.PropDCID) -> tuple[Filter, ...]:
    """The filters of a dataset, in the order in which they were applied."""
    return tuple(
        Filter(int(number), tuple(map(int, values)))
        for number, _, values, _ in map(properties.get_filter, range(properties.get_nfilters()))
    )


def applied(filters: Sequence[Filter], mask: int) -> tuple[Filter, ...]:
    """The filters that a chunk with this filter mask went through; bit i skips filter i."""
    return tuple(entry for position, entry in enumerate(filters) if not mask >> position & 1)


def codecs_for(filters: Sequence[Filter], itemsize: int) -> CodecChain | None:
    """Codecs that other readers know; None when they know none for these filters in this order.

    Parameters
    ----------
    filters : sequence of Filter
        Those that the chunks went through.
    itemsize : int
        Bytes of an element, for a shuffle filter that does not say.
    """
    codecs = []
    for position, entry in enumerate(filters):
        codec = _CODECS[entry.number](entry, itemsize) if entry.number in _CODECS else None
        if codec is None or (entry.number == SHUFFLE and position > 0):  # shuffle has to see whole elements
            return None
        codecs.append(codec)
    order = [_STANDARD_ORDER.get(entry.number, -1) for entry in filters]
    return CodecChain(tuple(codecs), is_proven=-1 not in order and order == sorted(set(order)))


def own_codec(filters: Sequence[Filter]) -> CodecChain:
    """Our codec, for any filters that HDF5 here can undo.

    Raises
    ------
    NoCodecError
        When it cannot.
    """
    missing = missing_filter(_plain(filters))
    if missing is not None:
        raise NoCodecError(f"no Zarr codec undoes its filters, and {missing}")
    return CodecChain((codec_entry(_plain(filters)),), is_proven=False)


def without_idle(filters: Sequence[Filter]) -> tuple[Filter, ...]:
    """The filters that change anything: n-bit leaves data types alone that have no bits to spare."""
    return tuple(
        entry for entry in filters if not (entry.number == NBIT and len(entry.values) > 1 and entry.values[1])
    )


def can_undo(filters: Sequence[Filter]) -> bool:
    """Whether HDF5 here has every filter, so that h5py can read the chunks."""
    return missing_filter(_plain(filters)) is None


def _plain(filters: Sequence[Filter]) -> Filters:
    return tuple((entry.number, entry.values) for entry in filters)


def _codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def _deflate(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("numcodecs.zlib", level=entry.values[0] if entry.values else 1)


def _shuffle(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("numcodecs.shuffle", elementsize=entry.values[0] if entry.values else itemsize)


def _fletcher32(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("numcodecs.fletcher32")


def _lz4(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("imagecodecs_lz4h5")


def _zstd(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("zstd", level=entry.values[0] if entry.values else 3, checksum=False)


def _bzip2(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("numcodecs.bz2", level=entry.values[0] if entry.values else 9)


def _blosc(entry: Filter, itemsize: int) -> dict[str, Any] | None:
    values = (*entry.values, *(0,) * 7)
    typesize, clevel, shuffle = values[2] or itemsize, values[4], values[5]
    compressor = values[6] if len(entry.values) > 6 else 0
    if compressor not in _BLOSC_COMPRESSORS or not 1 <= typesize <= 255:
        return None
    return _codec(
        "blosc",
        typesize=typesize,
        cname=_BLOSC_COMPRESSORS[compressor],
        clevel=min(clevel, 9),
        shuffle=_BLOSC_SHUFFLES.get(shuffle, "noshuffle"),
        blocksize=0,
    )


_CODECS: dict[int, Callable[[Filter, int], dict[str, Any] | None]] = {
    DEFLATE: _deflate,
    SHUFFLE: _shuffle,
    FLETCHER32: _fletcher32,
    BLOSC: _blosc,
    LZ4: _lz4,
    ZSTD: _zstd,
    BZIP2: _bzip2,
}


class HowStored(NamedTuple):
    """What becomes of chunks behind a filter.

    Attributes
    ----------
    filter : int
        The filter's number.
    codec : str
        Name of the Zarr codec.
    readers : str
        Who can read it.
    """

    filter: int
    codec: str
    readers: str


_ANY, _IMAGECODECS, _OURS, _OURS_AND_PLUGIN = (
    "any Zarr v3 reader with this codec; zarr-python without more",
    "zarr-python with imagecodecs-zarr (extra hdf5)",
    "zarr-python with shadowzarr",
    "zarr-python with shadowzarr and the HDF5 plug-in (extra hdf5)",
)
_OWN = "shadowzarr.hdf5_filters"

HOW: tuple[HowStored, ...] = (
    HowStored(DEFLATE, "numcodecs.zlib", _ANY),
    HowStored(SHUFFLE, "numcodecs.shuffle", _ANY),
    HowStored(FLETCHER32, "numcodecs.fletcher32", _ANY),
    HowStored(SZIP, _OWN, _OURS),
    HowStored(NBIT, _OWN, _OURS),
    HowStored(SCALEOFFSET, _OWN, _OURS),
    HowStored(LZF, _OWN, _OURS),
    HowStored(BLOSC, "blosc", _ANY),
    HowStored(ZSTD, "zstd", _ANY),
    HowStored(BZIP2, "numcodecs.bz2", _ANY),
    HowStored(LZ4, "imagecodecs_lz4h5", _IMAGECODECS),
    HowStored(BITSHUFFLE, _OWN, _OURS_AND_PLUGIN),
    HowStored(BLOSC2, _OWN, _OURS_AND_PLUGIN),
    HowStored(ZFP, _OWN, _OURS_AND_PLUGIN),
    *(HowStored(number, _OWN, _OURS_AND_PLUGIN) for number in (32017, 32018, 32024, 32028)),
)
"""One row for each filter alone, and what a table in the documentation says of it.

Several filters are named one by one when each has a codec that others know and shuffle comes first;
otherwise all of them by our codec. Any other filter is ours when HDF5 here has a plug-in for it.
"""
