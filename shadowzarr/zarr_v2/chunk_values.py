"""Bytes of a Zarr v2 chunk → its values, for what the document holds itself.

Only codecs that cannot run code decode here: numcodecs would hand ``pickle`` to Python.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..refs.data_types import DType
from .codecs import steps_of
from .data_types import dtype_of, is_object
from .held_budget import HeldBudget
from .reasons import NoV3FormError
from .sizes_ahead import is_larger

_DECODED = frozenset(
    {"blosc", "zlib", "gzip", "zstd", "bz2", "lzma", "lz4", "shuffle", "fletcher32", "crc32", "adler32"}
)
_ANY_ERROR = (Exception,)  # each codec raises what its library does: zlib.error, EOFError, struct.error …


def chunk_values(zarray: Mapping[str, Any], data: bytes, budget: HeldBudget) -> np.ndarray[Any, DType]:
    """Values of a whole chunk.

    Parameters
    ----------
    zarray : mapping
        The array's ``.zarray``.
    data : bytes
        The chunk as it is stored.
    budget : HeldBudget
        What may be decoded; what is, is taken.

    Returns
    -------
    numpy.ndarray
        Of the chunk's shape; of objects for text and JSON.

    Raises
    ------
    NoV3FormError
        When it cannot be decoded here, or is larger than the budget.
    """
    steps, shape = steps_of(zarray), tuple(zarray["chunks"])
    objects = is_object(zarray.get("dtype"))
    if objects and (not steps or steps[0]["id"] not in _OBJECTS):
        name = steps[0]["id"] if steps else None
        raise NoV3FormError(f"objects encoded by {name!r}; text and JSON (vlen-utf8, json2) are known")
    if not objects and steps and steps[0]["id"] in _OBJECTS:
        raise NoV3FormError(f"the codec {steps[0]['id']!r} of an array that has no objects")
    dtype = None if objects else dtype_of(zarray["dtype"])
    if dtype is not None:
        budget.take(math.prod(shape) * dtype.itemsize)
    for step in reversed(steps[1:] if objects else steps):
        data = _decoded(step, data, budget.limit)
    if dtype is None:
        budget.take(len(data))
        values = _OBJECTS[steps[0]["id"]](data, math.prod(shape), len(shape))
    else:
        values = _plain(data, dtype, math.prod(shape))
    return values.reshape(shape, order=zarray.get("order", "C"))


def objects_of(items: Sequence[Any]) -> np.ndarray[Any, DType]:
    """Items of any kind as a one-dimensional object array."""
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _decoded(step: Mapping[str, Any], data: bytes, most: int) -> bytes:
    import numcodecs

    if step["id"] not in _DECODED:
        raise NoV3FormError(f"a chunk that is encoded by {step['id']!r}, which is not decoded here")
    if is_larger(step, data, most):
        raise NoV3FormError(f"a chunk that {step['id']!r} makes larger than {most:,} bytes")
    try:
        return bytes(numcodecs.get_codec(dict(step)).decode(data))
    except _ANY_ERROR as error:
        raise NoV3FormError(f"a chunk that {step['id']!r} cannot decode: {error}") from error


def _plain(data: bytes, dtype: DType, count: int) -> np.ndarray[Any, DType]:
    nbytes = count * dtype.itemsize
    if len(data) > nbytes:
        raise NoV3FormError(f"a chunk of {len(data)} bytes, expected {nbytes}")
    return np.frombuffer(data.ljust(nbytes, b"\0"), dtype)  # LINDI leaves the end of a last chunk away


def _texts(data: bytes, count: int, rank: int) -> np.ndarray[Any, DType]:
    from numcodecs import VLenUTF8

    try:
        values = VLenUTF8().decode(data)
    except (*_ANY_ERROR, MemoryError) as error:  # it says itself how many texts there are
        raise NoV3FormError(f"a chunk of text that cannot be decoded: {error}") from error
    return _counted(list(values), count)


def _json(data: bytes, count: int, rank: int) -> np.ndarray[Any, DType]:
    """Values as numcodecs' JSON codec writes them: nested lists, then a data type and the shape."""
    try:
        listed = json.loads(data)
        items: list[Any] = listed[:-2] if isinstance(listed, list) else []
        # As it was written, a chunk without axes is a list of one item.
        for _ in range(rank - 1):
            items = [item for part in items for item in part]
    except (ValueError, TypeError, RecursionError) as error:
        raise NoV3FormError(f"a chunk of JSON that cannot be decoded: {error}") from error
    if not isinstance(listed, list):
        raise NoV3FormError(f"a chunk of JSON of type {type(listed).__name__}, which is no list")
    return _counted(items, count)


def _counted(items: list[Any], count: int) -> np.ndarray[Any, DType]:
    if len(items) != count:
        raise NoV3FormError(f"a chunk of {len(items)} items, expected {count}")
    return objects_of(items)


_OBJECTS = {"vlen-utf8": _texts, "json2": _json}
