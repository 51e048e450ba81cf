"""What the catalogue tells of one array's metadata: chunks, codecs, what compresses it and how much."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from ...refs.data_types import item_nbytes
from ...refs.node_checks import codec_name
from .columns import Row

_NO_COMPRESSORS: Final = frozenset(
    {
        *("bytes", "vlen-utf8", "vlen-bytes", "transpose", "crc32c", "sharding_indexed", "shadowzarr.bytes"),
        *("shuffle", "bitround", "delta", "fixedscaleoffset", "quantize", "packbits", "astype"),
        *("fletcher32", "adler32", "crc32", "jenkins_lookup3", "byteswap"),
    }
)
"""Codecs that lay out, rearrange or check values, by their names without the prefix of their library."""

_LEVELS: Final = ("level", "clevel", "compression_level")
_NOT_UNDERSTOOD: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def array_facts(node: Mapping[str, Any]) -> Row:
    """The columns of an array that its metadata tells; ``node`` is checked."""
    codecs = [_plain(codec_name(codec)) for codec in node["codecs"]]
    compression, level = _compression(node["codecs"])
    grid = node["chunk_grid"]
    return {
        "shape": list(node["shape"]),
        "dtype": type_name(node["data_type"]),
        "chunk_shape": list(grid["configuration"]["chunk_shape"]) if grid["name"] == "regular" else None,
        "codecs": codecs,
        "compression": compression,
        "compression_level": level,
        "array_bytes": _array_bytes(node),
    }


def type_name(data_type: Any) -> str:
    """Name of a data type; a struct with its fields."""
    if isinstance(data_type, str):
        return data_type
    fields = (data_type.get("configuration") or {}).get("fields")
    if data_type["name"] != "struct" or not isinstance(fields, list):
        return str(data_type["name"])
    parts = [
        f"{field.get('name')}: {type_name(field['data_type'])}"
        for field in fields
        if isinstance(field, Mapping) and "data_type" in field
    ]
    return f"struct({', '.join(parts)})"


def _compression(codecs: list[Any]) -> tuple[str | None, int | None]:
    for codec in codecs:
        name = _plain(codec_name(codec))
        if name in _NO_COMPRESSORS:
            continue
        configuration = {} if isinstance(codec, str) else codec.get("configuration") or {}
        levels = [configuration[key] for key in _LEVELS if isinstance(configuration.get(key), int)]
        return name, levels[0] if levels else None
    return None, None


def _plain(name: str) -> str:
    return name.removeprefix("numcodecs.")


def _array_bytes(node: Mapping[str, Any]) -> int | None:
    try:
        nbytes = item_nbytes(node["data_type"])
    except _NOT_UNDERSTOOD:  # a type of another package, which is not installed here
        return None
    return None if nbytes is None else math.prod(node["shape"]) * nbytes
