"""Nodes of a manifest store: paths, metadata and attributes as zarr has them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from virtualizarr.manifests import ManifestArray, ManifestGroup
from zarr.core.buffer import default_buffer_prototype
from zarr.errors import UnstableSpecificationWarning

from ..attributes import decode_attributes
from ..refs.array_layout import ArrayLayout
from .reasons import NoReferencesError

Skip = Any
"""Called with the path, the kind and the reason of what is left out."""


def walk(group: ManifestGroup, path: str = "") -> Iterator[tuple[str, ManifestGroup | ManifestArray]]:
    """Every node with its path, parents first; a name with a slash stays one part of its path."""
    yield path, group
    for name, node in group.items():
        place = f"{path}/{name}" if path else name
        if isinstance(node, ManifestGroup):
            yield from walk(node, place)
        else:
            yield place, node


def array_metadata(array: ManifestArray, path: str) -> dict[str, Any]:
    """The ``zarr.json`` of an array, without attributes, as zarr writes it.

    Raises
    ------
    NoReferencesError
        When it has something that our references have no form for.
    """
    plain = replace(array.metadata, attributes={})
    with warnings.catch_warnings():  # of text of fixed width, which zarr-python alone has
        warnings.simplefilter("ignore", UnstableSpecificationWarning)
        text = plain.to_buffer_dict(default_buffer_prototype())["zarr.json"].to_bytes()
    document: dict[str, Any] = json.loads(text)
    if document.get("storage_transformers"):
        raise NoReferencesError("it has storage transformers")
    layout = ArrayLayout.from_metadata(document, path)
    if layout.chunk_shape is None:
        raise NoReferencesError("its chunk grid is not a regular one")
    return document


def attributes_of(node: ManifestGroup | ManifestArray, path: str, skip: Skip) -> dict[str, Any]:
    """The attributes of a node as JSON has them, NaN and bytes besides; others are left out by name."""
    attributes: Mapping[str, Any] = node.metadata.attributes or {}
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        plain = _plain(value)
        if not isinstance(plain, bytes):
            try:
                json.dumps(plain)
            except (TypeError, ValueError, RecursionError) as error:
                skip(f"/{path}@{name}", "attribute", f"its value is no JSON: {error}")
                continue
        found[str(name)] = plain
    if not isinstance(found.get("zarr_conventions", []), list):
        del found["zarr_conventions"]
        skip(f"/{path}@zarr_conventions", "attribute", "Zarr keeps that name for a list")
    return decode_attributes(found)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
