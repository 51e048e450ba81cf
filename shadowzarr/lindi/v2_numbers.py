"""Arrays of numbers and of bytes of fixed width → ``.zarray`` and chunk references, where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ..access.locations import is_remote
from ..refs.document import Reference
from ..zarr_v2.codecs import v2_filters
from ..zarr_v2.reasons import NoV2FormError
from .listed_chunks import ListedChunks
from .marks import EXTERNAL, SCALAR

_PADDED_WRONGLY = frozenset({"zstd", "lz4", "fletcher32", "crc32", "crc32c", "adler32", "jenkins_lookup3"})
"""Codecs that fail on the zeros which LINDI's reader puts at the end of a chunk shorter than its values."""

Made = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
"""``.zarray``, marks for ``.zattrs``, and chunk references by the end of their keys."""


def plain_array(node: Mapping[str, Any], path: str, chunks: ListedChunks) -> Made:
    """What an array of numbers becomes.

    Parameters
    ----------
    node : mapping
        Its ``zarr.json``.
    path : str
        Its path.
    chunks : ListedChunks
        Where chunks are.

    Raises
    ------
    NoV2FormError
        When LINDI cannot read it.
    """
    dtype, order, codecs = _stored(node)
    zarray = {
        "chunks": list(node["chunk_grid"]["configuration"]["chunk_shape"]) or [1],
        "compressor": None,
        "dtype": dtype,
        "fill_value": _fill(node),
        "filters": None,
        "order": order,
        "shape": list(node["shape"]) or [1],
        "zarr_format": 2,
    }
    marks: dict[str, Any] = {} if node["shape"] else {SCALAR: True}
    if chunks.has_selection(path):
        raise NoV2FormError("an array stored together with other bytes, which LINDI cannot read")
    try:
        filters = _filters(codecs)
    except NoV2FormError:
        file = chunks.hdf5_file()
        if file is None or not node["shape"]:
            raise
        return zarray, {EXTERNAL: {"link_type": "hdf5_dataset", "url": file, "name": path}}, {}
    zarray["filters"] = filters or None
    located = {".".join(map(str, at)) or "0": _checked(value) for at, value in chunks.of(path).items()}
    return zarray, marks, located


def _filters(codecs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    filters = v2_filters(codecs)
    unread = next((each["id"] for each in filters if each["id"] in _PADDED_WRONGLY), None)
    if unread is not None:
        raise NoV2FormError(f"chunks encoded by {unread!r}, which LINDI pads before it decodes them")
    return filters


def _stored(node: Mapping[str, Any]) -> tuple[str, str, list[dict[str, Any]]]:
    """Data type with its byte order, order of the axes, and the codecs that follow."""
    if node["chunk_grid"]["name"] != "regular":
        raise NoV2FormError("a chunk grid that is not a regular one")
    codecs = [codec if isinstance(codec, dict) else {"name": codec} for codec in node["codecs"]]
    order, rank = "C", len(node["shape"])
    if codecs[0]["name"] == "transpose":
        if list(codecs[0]["configuration"]["order"]) != list(range(rank))[::-1]:
            raise NoV2FormError("axes that are stored in another order than C's or Fortran's")
        order, codecs = "F", codecs[1:]
    if codecs[0]["name"] != "bytes":
        raise NoV2FormError(f"the codec {codecs[0]['name']!r}, which LINDI cannot run")
    endian = (codecs[0].get("configuration") or {}).get("endian", "little")
    return _dtype(node["data_type"], ">" if endian == "big" else "<"), order, codecs[1:]


def _dtype(data_type: Any, order: Literal["<", ">"]) -> str:
    name: str = data_type
    configuration: Mapping[str, Any] = {}
    if isinstance(data_type, Mapping):
        name, configuration = data_type["name"], data_type.get("configuration") or {}
    if name.rstrip("0123456789") in ("bool", "int", "uint", "float"):
        return str(np.dtype(name).newbyteorder(order).str)
    length = configuration.get("length_bytes", 0)
    kinds = {
        "null_terminated_bytes": f"|S{length}",
        "raw_bytes": f"|V{length}",
        "fixed_length_utf32": f"{order}U{length // 4}",
    }
    if name in kinds:
        return kinds[name]
    raise NoV2FormError(f"the data type {name!r}, which LINDI cannot hold")


def _fill(node: Mapping[str, Any]) -> Any:
    fill = node.get("fill_value")
    is_float = isinstance(node["data_type"], str) and node["data_type"].startswith("float")
    return "NaN" if is_float and isinstance(fill, str) and fill.startswith("0x") else fill


def _checked(value: Reference) -> Reference:
    """A reference that LINDI's reader takes."""
    if isinstance(value, str):
        return value
    if len(value) != 3:
        raise NoV2FormError("chunks that are whole files of unknown size; LINDI asks for it")
    if is_remote(value[0]) and value[0].startswith("s3:"):
        raise NoV2FormError("chunks at s3:// URLs; LINDI reads http(s) URLs and local paths")
    return value
