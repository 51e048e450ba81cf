"""Groups and arrays: the part of the builder that makes nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from ..refs.data_types import DataType
from ..refs.fill_values import checked_fill
from ..refs.zarr_metadata import BYTES_CODEC, array_metadata, group_metadata
from . import checks
from .parts import ArrayPart, Parts


class NodeBuilder:
    """Collects groups and arrays."""

    def __init__(self) -> None:
        self._parts = Parts()

    def add_group(self, path: str, attributes: Mapping[str, Any] | None = None) -> None:
        """Add a group, or replace the attributes of one.

        Parameters
        ----------
        path : str
            Path of the group.
        attributes : mapping, optional
            JSON values, and NaN, infinities and bytes besides; encoded when the document is built.
        """
        checks.check_path(path)
        self._add_parents(path)
        if isinstance(self._parts.nodes.get(path), ArrayPart):
            raise UsageError(f"{path!r} is an array already")
        self._parts.nodes[path] = group_metadata(checks.checked_attributes(attributes, path))

    def add_array(
        self,
        path: str,
        *,
        shape: Sequence[int],
        data_type: DataType,
        chunk_shape: Sequence[int],
        codecs: Sequence[Mapping[str, Any]] | None = None,
        fill_value: Any = None,
        attributes: Mapping[str, Any] | None = None,
        dimension_names: Sequence[str | None] | None = None,
    ) -> None:
        """Add an array; its chunks are fill value until they are added.

        Parameters
        ----------
        path : str
            Path of the array.
        shape, chunk_shape : sequence of int
            One number for each axis; chunk edges are at least 1.
        data_type : str or dict
            A Zarr v3 data type, any that zarr knows.
        codecs : sequence of dict, optional
            Zarr v3 codecs; little-endian ``bytes`` when left out.
        fill_value : optional
            In its JSON form, or a number; the data type's zero when left out.
        attributes : mapping, optional
            As for `add_group`.
        dimension_names : sequence of str or None, optional
            One per axis.
        """
        checks.check_path(path)
        if path in self._parts.nodes:
            kind = "an array" if isinstance(self._parts.nodes[path], ArrayPart) else "a group"
            raise UsageError(f"{path!r} is {kind} already")
        shape = checks.numbers(shape, "shape", path)
        chunk_shape = checks.numbers(chunk_shape, "chunk_shape", path, least=1)
        checks.check_rank(chunk_shape, "chunk_shape", len(shape), path)
        checks.check_data_type(data_type, path)
        attributes = checks.checked_attributes(attributes, path)
        if codecs is not None:
            checks.check_codecs(codecs, path)
        if dimension_names is not None:
            checks.check_names(dimension_names, len(shape), path)
        try:
            fill_value = checked_fill(data_type, fill_value)
        except ValueError as error:
            raise UsageError(f"array {path!r}: {error}") from error
        self._add_parents(path)
        self._parts.nodes[path] = ArrayPart(
            array_metadata(
                shape=shape,
                data_type=data_type,
                chunk_shape=chunk_shape,
                codecs=codecs if codecs is not None else [BYTES_CODEC],
                fill_value=fill_value,
                attributes=attributes,
                dimension_names=dimension_names,
            )
        )

    def set_attributes(self, path: str, attributes: Mapping[str, Any]) -> None:
        """Replace the attributes of a node that was added.

        Parameters
        ----------
        path : str
            Path of a group or an array.
        attributes : mapping
            All that it has from now on.

        Raises
        ------
        UsageError
            When there is no such node yet, or JSON cannot hold an attribute.
        """
        checks.check_path(path)
        node = self._parts.nodes.get(path)
        if node is None:
            raise UsageError(f"there is no {path!r} yet; add it with add_group or add_array first")
        metadata = node.metadata if isinstance(node, ArrayPart) else node
        metadata["attributes"] = dict(checks.checked_attributes(attributes, path))

    def _array(self, path: Any) -> ArrayPart:
        if not isinstance(path, str):
            checks.check_path(path)
        node = self._parts.nodes.get(path)
        if not isinstance(node, ArrayPart):
            raise UsageError(f"{path!r} is no array yet; add it with add_array first")
        return node

    def _add_parents(self, path: str) -> None:
        if not path:
            return
        parent = ""
        for part in ["", *path.split("/")[:-1]]:
            parent = f"{parent}/{part}" if parent else part
            if isinstance(self._parts.nodes.setdefault(parent, group_metadata()), ArrayPart):
                raise UsageError(f"{path!r} lies inside the array {parent!r}")
