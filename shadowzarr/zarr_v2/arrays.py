"""``.zarray`` → what ``zarr.json`` says: shape, chunks, data type, fill value and codecs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from ..refs.array_layout import ArrayLayout
from ..refs.chunk_key import chunk_key
from ..refs.data_types import DataType, DType, data_type_of
from ..refs.document import Reference
from ..refs.inline import inline_size
from ..refs.node_checks import is_count
from ..refs.zarr_metadata import array_metadata, chunk_grid_shape
from .codecs import v3_codecs, v3_object_codecs
from .data_types import dtype_of, is_object, v3_fill
from .reasons import NoV3FormError

Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class V3Array:
    """An array in the words of Zarr v3.

    Attributes
    ----------
    shape, chunk_shape : tuple of int
        Chunk edges are at least 1.
    data_type : str or dict
        Zarr's.
    codecs : list of dict
        Zarr's.
    fill_value : JSON
        As ``zarr.json`` has it; None for zero.
    dtype : numpy.dtype or None
        In the stored byte order; None for text and bytes of any length.
    """

    shape: Coordinates
    chunk_shape: Coordinates
    data_type: DataType
    codecs: list[dict[str, Any]]
    fill_value: Any
    dtype: DType | None

    @property
    def grid(self) -> Coordinates:
        """Number of chunks along each axis."""
        return chunk_grid_shape(self.shape, self.chunk_shape)

    def within(self, chunks: Mapping[Coordinates, Reference]) -> dict[Coordinates, Reference]:
        """Those of the chunks that lie in the grid; others are never read."""
        grid = self.grid
        return {
            at: value for at, value in chunks.items() if all(c < n for c, n in zip(at, grid, strict=True))
        }

    def check_lengths(self, chunks: Mapping[Coordinates, Reference], path: str) -> None:
        """Refuse chunks that are not compressed and cannot hold their values.

        Raises
        ------
        NoV3FormError
            With the first of them.
        """
        layout = ArrayLayout.from_metadata(self.metadata(), path)
        whole = layout.chunk_nbytes
        if whole is None:
            return
        for coordinates, length in _lengths(chunks):
            if length != whole and not layout.needed_nbytes(coordinates) <= length <= whole:
                raise NoV3FormError(
                    f"its chunk {chunk_key('', coordinates)} has {length} bytes; it takes {whole}"
                )

    def metadata(self) -> dict[str, Any]:
        """The array's ``zarr.json``, without attributes."""
        return array_metadata(
            shape=self.shape,
            data_type=self.data_type,
            chunk_shape=self.chunk_shape,
            codecs=self.codecs,
            fill_value=self.fill_value,
        )


def to_v3(zarray: Mapping[str, Any]) -> V3Array:
    """Translate ``.zarray``.

    Raises
    ------
    NoV3FormError
        When the array has no form in Zarr v3; the message is the reason.
    """
    shape, chunk_shape = check_shapes(zarray)
    try:
        return _translated(zarray, shape, chunk_shape)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise NoV3FormError(f"its .zarray is not understood: {error}") from error


def _translated(zarray: Mapping[str, Any], shape: Coordinates, chunk_shape: Coordinates) -> V3Array:
    if is_object(zarray.get("dtype")):
        data_type, codecs = v3_object_codecs(zarray)
        fill = zarray.get("fill_value")
        is_text = data_type == "string" and isinstance(fill, str)
        return V3Array(shape, chunk_shape, data_type, codecs, fill if is_text else "", None)
    dtype = dtype_of(zarray.get("dtype"))
    fill = v3_fill(dtype, zarray.get("fill_value"))
    return V3Array(shape, chunk_shape, data_type_of(dtype), v3_codecs(zarray, dtype), fill, dtype)


def check_shapes(zarray: Mapping[str, Any]) -> tuple[Coordinates, Coordinates]:
    """Shape and chunk shape of an array.

    Raises
    ------
    NoV3FormError
        When they are none.
    """
    if zarray.get("zarr_format", 2) != 2:
        raise NoV3FormError(f"its .zarray has zarr_format {zarray['zarr_format']!r}")
    if zarray.get("order", "C") not in ("C", "F"):
        raise NoV3FormError(f"its order is {zarray['order']!r}")
    shape, edges = zarray.get("shape"), zarray.get("chunks")
    if not _are_counts(shape) or not _are_counts(edges) or len(shape) != len(edges):
        raise NoV3FormError(f"its shape is {shape} and its chunks are {edges}")
    if any(edge == 0 < extent for extent, edge in zip(shape, edges, strict=True)):
        raise NoV3FormError(f"its chunks {edges} are empty and its shape {shape} is not")
    return tuple(shape), tuple(max(1, edge) for edge in edges)


def _are_counts(values: Any) -> TypeGuard[list[int]]:
    return isinstance(values, list | tuple) and all(map(is_count, values))


def _lengths(chunks: Mapping[Coordinates, Reference]) -> Iterable[tuple[Coordinates, int]]:
    for coordinates, reference in chunks.items():
        if isinstance(reference, str):
            yield coordinates, inline_size(reference)
        elif len(reference) == 3:
            yield coordinates, reference[2]
