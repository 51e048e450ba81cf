"""What ``zarr.json`` says about an array's chunks: how their keys are spelled, and their size.

Pure. Zarr v3 core specification, "Regular grids", "Chunk key encoding", and the ``transpose`` and
``bytes`` codecs. An uncompressed chunk always has full size in Zarr, also where it hangs over the
edge of the array; which of its bytes lie within the array is worked out here, so that no byte past
the array is ever needed from a file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidReferencesError
from .chunk_key import METADATA_NAME
from .data_types import item_nbytes
from .node_checks import LARGEST, array_name, check_array

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)  # no grid has more digits
_NOT_UNDERSTOOD = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What zarr's data types raise on descriptions that are not theirs."""
_DEFAULT_SEPARATOR = {"default": "/", "v2": "."}


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """How an array is cut into chunks and how their keys are spelled.

    Attributes
    ----------
    shape : tuple of int
        Shape of the array.
    chunk_shape : tuple of int or None
        None for a grid that is not regular.
    encoding : str
        ``"default"`` or ``"v2"``: with or without a leading ``c``.
    separator : str
        Between coordinates.
    itemsize : int or None
        Bytes of an element when chunks are stored as they are; None when they are compressed or of
        variable length.
    axes : tuple of int
        The array's axes in the order in which a chunk stores them.
    """

    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...] | None
    encoding: str
    separator: str
    itemsize: int | None
    axes: tuple[int, ...]

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any], path: str) -> ArrayLayout:
        """Read an array's metadata document.

        Raises
        ------
        InvalidReferencesError
            When it is not the metadata of an array, or its chunk keys are spelled in a way that is
            not known here.
        """
        check_array(metadata, array_name(path))
        try:
            shape = tuple(metadata["shape"])
            encoding, separator = _key_encoding(metadata)
            axes = _stored_axes(metadata["codecs"], len(shape))
            itemsize = None if axes is None else item_nbytes(metadata["data_type"])
            chunk_shape = _chunk_shape(metadata)
            if itemsize is not None and math.prod((itemsize, *(chunk_shape or ()))) > LARGEST:
                raise ValueError(f"a chunk of shape {list(chunk_shape or ())} is larger than any file")
        except _NOT_UNDERSTOOD as error:
            raise InvalidReferencesError(
                f"{METADATA_NAME} of {path!r} cannot be understood: {error!r}"
            ) from error
        return cls(shape, chunk_shape, encoding, separator, itemsize, axes or tuple(range(len(shape))))

    @property
    def chunk_nbytes(self) -> int | None:
        """Bytes of every chunk, or None when they differ."""
        if self.itemsize is None or self.chunk_shape is None:
            return None
        return math.prod(self.chunk_shape) * self.itemsize

    def needed_nbytes(self, coordinates: Sequence[int]) -> int:
        """Bytes of a chunk up to the last one that lies within the array.

        All that follow hang over the edge of the array, and no reader looks at them.
        """
        if self.itemsize is None or self.chunk_shape is None:
            raise ValueError("chunks of this array have no fixed size")
        last, stride = 0, 1
        for axis in reversed(self.axes):
            edge = self.chunk_shape[axis]
            inside = min(edge, self.shape[axis] - coordinates[axis] * edge)
            if inside < 1:  # wholly outside of the array, where a reader has no business
                return math.prod(self.chunk_shape) * self.itemsize
            last += (inside - 1) * stride
            stride *= edge
        return (last + 1) * self.itemsize

    def coordinates(self, tail: str) -> tuple[int, ...] | None:
        """Chunk coordinates of the part of a key after the array's path; None for another key."""
        if not self.shape:
            return () if tail == self.tail(()) else None
        parts = tail.split(self.separator)
        if self.encoding == "default" and parts.pop(0) != "c":
            return None
        if len(parts) != len(self.shape) or not all(_NUMBER.fullmatch(part) for part in parts):
            return None
        return tuple(map(int, parts))

    def tail(self, coordinates: Sequence[int]) -> str:
        """The part of a chunk's key after the array's path."""
        numbers = [str(number) for number in coordinates]
        if self.encoding == "default":
            return self.separator.join(["c", *numbers])
        return self.separator.join(numbers) or "0"


def _key_encoding(metadata: Mapping[str, Any]) -> tuple[str, str]:
    entry = metadata["chunk_key_encoding"]
    name = entry if isinstance(entry, str) else entry["name"]
    if name not in _DEFAULT_SEPARATOR:
        raise ValueError(f"chunk key encoding {name!r}")
    configuration = {} if isinstance(entry, str) else entry.get("configuration") or {}
    separator = configuration.get("separator", _DEFAULT_SEPARATOR[name])
    if separator not in ("/", "."):
        raise ValueError(f"chunk key separator {separator!r}")
    return name, separator


def _chunk_shape(metadata: Mapping[str, Any]) -> tuple[int, ...] | None:
    grid = metadata["chunk_grid"]
    return tuple(grid["configuration"]["chunk_shape"]) if grid["name"] == "regular" else None


def _stored_axes(codecs: Sequence[Any], ndim: int) -> tuple[int, ...] | None:
    """Order of the axes in a stored chunk; None unless the codecs only transpose and lay out bytes."""
    axes = list(range(ndim))
    for codec in codecs[:-1]:
        if not isinstance(codec, Mapping) or codec["name"] != "transpose":
            return None
        axes = [axes[axis] for axis in _transpose_order(codec["configuration"]["order"], ndim)]
    last = codecs[-1]
    return tuple(axes) if (last if isinstance(last, str) else last["name"]) == "bytes" else None


def _transpose_order(order: Any, ndim: int) -> Sequence[int]:
    if order in ("C", "F"):  # early drafts of Zarr v3 wrote these
        return range(ndim) if order == "C" else range(ndim)[::-1]
    if sorted(order) != list(range(ndim)):
        raise ValueError(f"a transposition by {order!r} of {ndim} axes")
    return [int(axis) for axis in order]
