"""``zarr.json`` of groups and arrays (Zarr v3 core specification, "Metadata").

Plain dictionaries, so that making the metadata of a thousand nodes needs no zarr objects. Attributes
are taken as they are; encoding them for JSON is the subject of ``attributes``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

BYTES_CODEC: dict[str, Any] = {"name": "bytes", "configuration": {"endian": "little"}}
"""The array-to-bytes codec of plain little-endian values."""


def group_metadata(attributes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Metadata document of a group."""
    return {"zarr_format": 3, "node_type": "group", "attributes": dict(attributes or {})}


def array_metadata(
    *,
    shape: Sequence[int],
    data_type: str | dict[str, Any],
    chunk_shape: Sequence[int],
    codecs: Sequence[Mapping[str, Any]],
    fill_value: Any,
    attributes: Mapping[str, Any] | None = None,
    dimension_names: Sequence[str | None] | None = None,
) -> dict[str, Any]:
    """Metadata document of an array.

    Parameters
    ----------
    shape, chunk_shape : sequence of int
        Of equal length; a chunk's edge is at least 1, also along an axis of length 0.
    data_type : str or dict
        A Zarr v3 data type.
    codecs : sequence of dict
        Each with ``name`` and ``configuration``; exactly one is array to bytes.
    fill_value
        In the form the data type has in JSON (``"NaN"``, ``[re, im]``, a dict for a struct).
    attributes : mapping, optional
        Ready for JSON.
    dimension_names : sequence of str or None, optional
        One per axis.

    Raises
    ------
    ValueError
        When lengths disagree or a chunk edge is below 1.
    """
    shape, chunk_shape = tuple(map(int, shape)), tuple(map(int, chunk_shape))
    if len(shape) != len(chunk_shape):
        raise ValueError(f"shape {shape} and chunk shape {chunk_shape} differ in length")
    if any(edge < 1 for edge in chunk_shape):
        raise ValueError(f"chunk shape {chunk_shape}: every edge must be at least 1")
    if any(extent < 0 for extent in shape):
        raise ValueError(f"shape {shape}: an extent is negative")
    metadata: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk_shape)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill_value,
        "codecs": [dict(codec) for codec in codecs],
        "attributes": dict(attributes or {}),
    }
    if dimension_names is not None:
        if len(dimension_names) != len(shape):
            raise ValueError(f"{len(dimension_names)} dimension names for {len(shape)} axes")
        metadata["dimension_names"] = list(dimension_names)
    return metadata


def chunk_shape_of(metadata: Mapping[str, Any]) -> tuple[int, ...]:
    """Chunk shape in an array's metadata document."""
    return tuple(metadata["chunk_grid"]["configuration"]["chunk_shape"])


def chunk_grid_shape(shape: Sequence[int], chunk_shape: Sequence[int]) -> tuple[int, ...]:
    """Number of chunks along each axis."""
    edges = zip(shape, chunk_shape, strict=True)
    return tuple(-(-extent // edge) if extent else 0 for extent, edge in edges)  # other writers cut 0 by 0
