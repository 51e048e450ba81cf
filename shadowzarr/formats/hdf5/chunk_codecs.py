"""Running the codecs of a chain on one chunk: a comparison with h5py, or a chunk encoded anew."""

from __future__ import annotations

import importlib
from typing import Any

from .h5_filters_to_codecs import CodecChain

_NUMCODECS = "numcodecs."
_ANY_ERROR = (ValueError, RuntimeError, TypeError, OSError, ImportError, KeyError, MemoryError)


def decode(chain: CodecChain, data: bytes) -> bytes | None:
    """A stored chunk, decoded; None when the codecs fail or are not installed."""
    try:
        for codec in reversed(chain.codecs):
            data = bytes(_codec(codec).decode(data))
    except _ANY_ERROR:
        return None
    return data


def encode(chain: CodecChain, data: bytes) -> bytes | None:
    """A chunk as the chain stores it; None when the codecs fail or are not installed."""
    try:
        for codec in chain.codecs:
            data = bytes(_codec(codec).encode(data))
    except _ANY_ERROR:
        return None
    return data


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
