"""Filters, compressor and order of Zarr v2 → codecs of Zarr v3, and back.

Zarr v2 names codecs by numcodecs' identifiers. Zarr v3 runs array-to-array codecs first, then the one that
makes bytes, then bytes-to-bytes codecs; a pipeline in another order has no form there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..refs.data_types import DType, bytes_codec
from .reasons import NoV2FormError, NoV3FormError

_ARRAY_TO_ARRAY = frozenset({"delta", "fixedscaleoffset", "quantize", "bitround"})
_NATIVE_ONLY = frozenset({"quantize", "bitround"})
_BYTES_TO_BYTES = frozenset(
    {"zlib", "bz2", "lzma", "lz4", "shuffle", "crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3"}
)
_IMAGECODECS = frozenset({"imagecodecs_lzw", "imagecodecs_packbits", "imagecodecs_deflate"})
_OBJECT_CODECS = {"vlen-utf8": "string", "vlen-bytes": "variable_length_bytes"}
_BLOSC_SHUFFLES = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}
_BLOSC_NUMBERS = {name: number for number, name in _BLOSC_SHUFFLES.items()}

Codec = dict[str, Any]


def steps_of(zarray: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Filters and compressor of an array, in the order in which they encode.

    Raises
    ------
    NoV3FormError
        When one of them is no codec's configuration.
    """
    filters, compressor = zarray.get("filters"), zarray.get("compressor")
    if not isinstance(filters, list | None):
        raise NoV3FormError(f"its filters are {str(filters)[:60]}")
    last = compressor if isinstance(compressor, list) else [compressor] if compressor is not None else []
    steps = [*(filters or []), *last]
    for step in steps:
        if not isinstance(step, Mapping) or not isinstance(step.get("id"), str):
            raise NoV3FormError(f"a codec {str(step)[:60]} without an id")
    return [dict(step) for step in steps]


def v3_codecs(zarray: Mapping[str, Any], dtype: DType) -> list[Codec]:
    """Codecs of an array of numbers or bytes of fixed width.

    Parameters
    ----------
    zarray : mapping
        Its ``.zarray``.
    dtype : numpy.dtype
        Its data type, in the stored byte order.

    Raises
    ------
    NoV3FormError
        When a codec, or their order, has no form in Zarr v3.
    """
    rank, stored = len(zarray["shape"]), dtype
    first: list[Codec] = []
    last: list[Codec] = []
    if zarray.get("order", "C") == "F" and rank > 1:
        first.append({"name": "transpose", "configuration": {"order": list(range(rank))[::-1]}})
    for step in steps_of(zarray):
        if step["id"] in _ARRAY_TO_ARRAY:
            if last:
                raise NoV3FormError(f"the codec {step['id']!r} after one that makes bytes")
            codec, stored = _array_codec(step, stored)
            first.append(codec)
        else:
            last.append(_bytes_codec(step, stored.itemsize))
    return [*first, bytes_codec(stored), *last]


def v3_object_codecs(zarray: Mapping[str, Any]) -> tuple[str, list[Codec]]:
    """Data type and codecs of an array of objects.

    Raises
    ------
    NoV3FormError
        When the objects are not text or bytes of any length.
    """
    steps = steps_of(zarray)
    rank = len(zarray["shape"])
    if not steps or steps[0]["id"] not in _OBJECT_CODECS:
        how = f"encoded by {steps[0]['id']!r}" if steps else "without a codec"
        raise NoV3FormError(f"objects {how}, of which Zarr v3 has no form")
    first: list[Codec] = []
    if zarray.get("order", "C") == "F" and rank > 1:
        first.append({"name": "transpose", "configuration": {"order": list(range(rank))[::-1]}})
    name = steps[0]["id"]
    last = [_bytes_codec(step, 1) for step in steps[1:]]
    return _OBJECT_CODECS[name], [*first, {"name": name, "configuration": {}}, *last]


def _array_codec(step: Mapping[str, Any], dtype: DType) -> tuple[Codec, DType]:
    """An array-to-array codec and the data type of what it makes."""
    configuration = {key: value for key, value in step.items() if key != "id" and value is not None}
    if step["id"] in _NATIVE_ONLY and dtype.byteorder == ">":
        raise NoV3FormError(f"the codec {step['id']!r} of big-endian numbers, which numcodecs gets wrong")
    entry = {"name": f"numcodecs.{step['id']}", "configuration": configuration}
    try:
        if "dtype" in configuration and np.dtype(configuration["dtype"]) != dtype:
            raise NoV3FormError(f"the codec {step['id']!r} of another data type than its array's ({dtype})")
        made = np.dtype(configuration.get("astype") or configuration.get("dtype") or dtype)
    except TypeError as error:
        raise NoV3FormError(f"the codec {step['id']!r} has no data type that is known: {error}") from error
    return entry, made


def _bytes_codec(step: Mapping[str, Any], itemsize: int) -> Codec:
    name = step["id"]
    configuration = {key: value for key, value in step.items() if key != "id" and value is not None}
    if name == "blosc":
        return _blosc(step, itemsize)
    if name == "zstd":
        level = int(step.get("level", 1))
        return {
            "name": "zstd",
            "configuration": {"level": level, "checksum": bool(step.get("checksum", False))},
        }
    if name == "gzip":
        return {"name": "gzip", "configuration": {"level": min(9, max(0, int(step.get("level", 1))))}}
    if name == "shuffle":
        return {
            "name": "numcodecs.shuffle",
            "configuration": {"elementsize": int(step.get("elementsize") or 4)},
        }
    if name in _BYTES_TO_BYTES:
        return {"name": f"numcodecs.{name}", "configuration": configuration}
    if name in _IMAGECODECS:
        return {"name": name, "configuration": configuration}
    raise NoV3FormError(
        f"the codec {name!r} has no form in Zarr v3 here; references made from the file itself may have one"
    )


def _blosc(step: Mapping[str, Any], itemsize: int) -> Codec:
    """Blosc; what decodes a chunk stands in the chunk, and this is what a writer would take."""
    shuffle = step.get("shuffle", 1)
    if shuffle == -1:
        shuffle = 2 if itemsize == 1 else 1
    return {
        "name": "blosc",
        "configuration": {
            "typesize": itemsize if 1 <= itemsize <= 255 else 1,
            "cname": step.get("cname", "lz4"),
            "clevel": int(step.get("clevel", 5)),
            "shuffle": _BLOSC_SHUFFLES.get(shuffle, "noshuffle"),
            "blocksize": int(step.get("blocksize", 0)),
        },
    }


def v2_filters(codecs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Bytes-to-bytes codecs of Zarr v3 as filters of Zarr v2.

    Raises
    ------
    NoV2FormError
        With the name of the first that has no form there.
    """
    return [_v2_filter(codec) for codec in codecs]


def _v2_filter(codec: Mapping[str, Any]) -> dict[str, Any]:
    name, configuration = str(codec["name"]), dict(codec.get("configuration") or {})
    if name == "blosc":
        configuration.pop("typesize", None)
        shuffle = _BLOSC_NUMBERS.get(configuration.get("shuffle", "noshuffle"), 0)
        return {"id": "blosc", **configuration, "shuffle": shuffle}
    if name in ("zstd", "gzip"):
        return {"id": name, "level": configuration.get("level", 1)}
    short = name.removeprefix("numcodecs.")
    if name.startswith("numcodecs.") and short in _BYTES_TO_BYTES | {"zstd", "gzip"}:
        return {"id": short, **configuration}
    raise NoV2FormError(f"the codec {name!r} has no form in Zarr v2")
