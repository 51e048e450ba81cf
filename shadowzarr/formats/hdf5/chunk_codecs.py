"""Running the codecs of a chain on one chunk: a comparison with h5py, or a chunk encoded anew."""

from __future__ import annotations

import importlib
from typing import Any

from ...hdf5_filters.names import CODEC_NAME, Filters
from ...hdf5_filters.pipeline import decode_chunk, encode_chunk, mark_chunk
from .h5_filters_to_codecs import CodecChain

_NUMCODECS = "numcodecs."
_ANY_ERROR = (Exception,)  # each codec raises what its library does: zlib.error, EOFError, struct.error …


def decode(chain: CodecChain, data: bytes, nbytes: int) -> bytes | None:
    """A stored chunk, decoded to ``nbytes``; None when the codecs fail or are not installed."""
    try:
        for codec in reversed(chain.codecs):
            if codec["name"] == CODEC_NAME:
                data = decode_chunk(_filters(codec), data, nbytes).tobytes()
            else:
                data = bytes(_codec(codec).decode(data))
    except _ANY_ERROR:
        return None
    return data if len(data) == nbytes else None


def encode(chain: CodecChain, data: bytes) -> bytes | None:
    """A chunk as the chain stores it, without loss; None when the codecs fail or are not installed."""
    try:
        for codec in chain.codecs:
            if codec["name"] == CODEC_NAME:
                data = _encode_exactly(_filters(codec), data)
            else:
                data = bytes(_codec(codec).encode(data))
    except _ANY_ERROR:
        return None
    return data


def _encode_exactly(filters: Filters, data: bytes) -> bytes:
    """A chunk of our codec; with all filters skipped when they cannot be applied, or lose something."""
    try:
        encoded = encode_chunk(filters, data)
        if decode_chunk(filters, encoded, len(data)).tobytes() == data:
            return encoded
    except _ANY_ERROR:
        pass
    return mark_chunk(data, 2**32 - 1)


def _filters(entry: dict[str, Any]) -> Filters:
    return tuple((item["id"], tuple(item["cd_values"])) for item in entry["configuration"]["filters"])


def _codec(entry: dict[str, Any]) -> Any:
    import numcodecs

    name: str = entry["name"].removeprefix(_NUMCODECS)
    configuration = dict(entry["configuration"])
    if name.startswith("imagecodecs_"):
        importlib.import_module("imagecodecs.numcodecs").register_codecs(name, verbose=False)
    if name == "blosc":
        configuration.pop("typesize", None)
        configuration["shuffle"] = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}[configuration["shuffle"]]
    return numcodecs.get_codec({"id": name, **configuration})
