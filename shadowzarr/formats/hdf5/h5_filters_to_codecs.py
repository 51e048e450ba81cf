"""HDF5 filter pipelines → Zarr codecs (HDF5 File Format, IV.A.2.l "Filter Pipeline").

The order of the codecs is the order of the filters. Only filters whose chunks were found to decode to
h5py's values are mapped; for the rest there is a reason, and their values are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from h5py import h5p, h5z

DEFLATE, SHUFFLE, FLETCHER32, SZIP, NBIT, SCALEOFFSET = 1, 2, 3, 4, 5, 6
LZF, BLOSC, LZ4, BITSHUFFLE, ZSTD, BZIP2 = 32000, 32001, 32004, 32008, 32015, 307

_NAMES = {
    DEFLATE: "gzip",
    SHUFFLE: "shuffle",
    FLETCHER32: "fletcher32",
    SZIP: "szip",
    NBIT: "n-bit",
    SCALEOFFSET: "scale-offset",
    LZF: "lzf",
    BLOSC: "blosc",
    LZ4: "lz4",
    BITSHUFFLE: "bitshuffle",
    ZSTD: "zstd",
    BZIP2: "bzip2",
}
_BLOSC_COMPRESSORS = {0: "blosclz", 1: "lz4", 2: "lz4hc", 4: "zlib", 5: "zstd"}
_BLOSC_SHUFFLES = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}
_STANDARD_ORDER = {SHUFFLE: 0, DEFLATE: 1, FLETCHER32: 2}


class NoCodecError(Exception):
    """No Zarr codec undoes a filter; the message names it."""


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
        return _NAMES.get(self.number, f"HDF5 filter {self.number}")


@dataclass(frozen=True, slots=True)
class CodecChain:
    """Codecs that undo a pipeline.

    Attributes
    ----------
    codecs : tuple of dict
        In Zarr's order, after ``bytes``.
    needs_extra : bool
        Whether reading needs the extra ``hdf5`` (imagecodecs).
    is_proven : bool
        Whether chunks in this order of filters decode to h5py's values in every case; otherwise one
        chunk is compared before the references are trusted.
    """

    codecs: tuple[dict[str, Any], ...]
    needs_extra: bool = False
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


def codecs_for(filters: Sequence[Filter], itemsize: int) -> CodecChain:
    """Codecs that undo these filters.

    Parameters
    ----------
    filters : sequence of Filter
        Those that the chunks went through.
    itemsize : int
        Bytes of an element, for a shuffle filter that does not say.

    Raises
    ------
    NoCodecError
        When a filter has no codec.
    """
    codecs = []
    for entry in filters:
        codec = _CODECS[entry.number](entry, itemsize) if entry.number in _CODECS else None
        if codec is None:
            raise NoCodecError(f"no Zarr codec undoes the filter {entry.name}")
        codecs.append(codec)
    order = [_STANDARD_ORDER.get(entry.number, -1) for entry in filters]
    return CodecChain(
        tuple(codecs),
        needs_extra=any(entry.number in _EXTRA for entry in filters),
        is_proven=-1 not in order and order == sorted(set(order)),
    )


def can_undo(filters: Sequence[Filter]) -> bool:
    """Whether HDF5 here has every filter, so that h5py can read the chunks."""
    return all(h5z.filter_avail(entry.number) for entry in filters)


def has_reliable_copy(filters: Sequence[Filter]) -> bool:
    """Whether values should rather be copied than asked of codecs that only an extra brings.

    The base install has to read every filter that HDF5 itself brings, and lzf.
    """
    return all(entry.number in (*_STANDARD_ORDER, SZIP, LZF) for entry in filters)


def _codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def _deflate(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("numcodecs.zlib", level=entry.values[0] if entry.values else 1)


def _shuffle(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("numcodecs.shuffle", elementsize=entry.values[0] if entry.values else itemsize)


def _fletcher32(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("numcodecs.fletcher32")


def _szip(entry: Filter, itemsize: int) -> dict[str, Any] | None:
    if len(entry.values) < 4:
        return None
    names = ("options_mask", "pixels_per_block", "bits_per_pixel", "pixels_per_scanline")
    return _codec("imagecodecs_szip", **dict(zip(names, entry.values[:4], strict=True)), header=True)


def _lzf(entry: Filter, itemsize: int) -> dict[str, Any]:
    return _codec("imagecodecs_lzf", header=False)


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
    SZIP: _szip,
    LZF: _lzf,
    BLOSC: _blosc,
    LZ4: _lz4,
    ZSTD: _zstd,
    BZIP2: _bzip2,
}
_EXTRA = frozenset({SZIP, LZF, LZ4})
