"""Is this the metadata of a Zarr v3 group or array? Checks that name the node and the cause. Pure.

What is checked is what code here counts with: extents, chunk edges, and the form of data types and codecs.
Whether a codec or data type is known is left to those who decode chunks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidReferencesError
from .chunk_key import METADATA_NAME

LARGEST = 2**63 - 1
"""Largest extent, offset and size: what files and arrays are addressed by."""

NODE_TYPES = ("group", "array")

MOST_SHOWN = 80
"""Characters of a wrong value that a message shows."""


def parse_node(text: str | bytes, key: str) -> dict[str, Any]:
    """Parse a ``zarr.json``; NaN may be a bare word in it.

    Parameters
    ----------
    text : str or bytes
        The document.
    key : str
        Its key, for messages.

    Raises
    ------
    InvalidReferencesError
        When it is no JSON object.
    """
    try:
        node = json.loads(text)
    except ValueError as error:
        raise InvalidReferencesError(f"refs[{key!r}] is not JSON: {error}") from error
    except RecursionError:
        raise InvalidReferencesError(f"refs[{key!r}] is nested too deeply to be read") from None
    if not isinstance(node, dict):
        raise InvalidReferencesError(f"refs[{key!r}] is not a JSON object")
    return node


def check_node(node: Mapping[str, Any], path: str) -> None:
    """Refuse what is neither a group's metadata nor an array's.

    Parameters
    ----------
    node : mapping
        A metadata document.
    path : str
        Path of the node, without leading slash.

    Raises
    ------
    InvalidReferencesError
        With the node, what was found and what was expected.
    """
    kind = node.get("node_type")
    if kind not in NODE_TYPES:
        raise _wrong(f"node {_shown_path(path)}", "node_type", kind, "group or array")
    attributes = node.get("attributes")
    if attributes is not None and not isinstance(attributes, Mapping):
        raise _wrong(f"{kind} {_shown_path(path)}", "attributes", attributes, "an object")
    if kind == "array":
        check_array(node, array_name(path))


def check_array(node: Mapping[str, Any], name: str) -> None:
    """Refuse what is not the metadata of an array.

    Parameters
    ----------
    node : mapping
        A metadata document.
    name : str
        What messages call it.

    Raises
    ------
    InvalidReferencesError
        With the array, what was found and what was expected.
    """
    shape = node.get("shape")
    if not _are_counts(shape):
        raise _wrong(name, "shape", shape, "a list of extents")
    grid = node.get("chunk_grid")
    if not isinstance(grid, Mapping) or not _is_named(grid):
        raise _wrong(name, "chunk_grid", grid, "an object with a name")
    if grid["name"] == "regular":
        _check_chunk_shape((grid.get("configuration") or {}).get("chunk_shape"), shape, name)
    if not isinstance(node.get("data_type"), str) and not _is_named(node.get("data_type")):
        raise _wrong(name, "data_type", node.get("data_type"), "a name, or an object with one")
    codecs = node.get("codecs")
    if not isinstance(codecs, list) or not codecs:
        raise _wrong(name, "codecs", codecs, "a list of codecs")
    for codec in codecs:
        if not isinstance(codec, str) and not _is_named(codec):
            raise _wrong(name, "codec", codec, "an object with a name")


def array_name(path: str) -> str:
    """What messages call an array, by its path; an index array has a location, which stays as it is."""
    return f"array {_shown_path(path)}"


def codec_name(codec: Any) -> str:
    """Name of a codec in checked metadata, which may stand by itself."""
    return codec if isinstance(codec, str) else str(codec["name"])


def is_count(value: Any) -> bool:
    """Whether a value is an integer from 0 to `LARGEST`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _check_chunk_shape(edges: Any, shape: Any, name: str) -> None:
    if not _are_counts(edges) or len(edges) != len(shape):
        raise _wrong(name, "chunk_shape", edges, f"{len(shape)} edges")
    if any(edge == 0 < extent for edge, extent in zip(edges, shape, strict=True)):
        raise _wrong(name, "chunk_shape", edges, "edges of at least 1")


def _are_counts(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(map(is_count, values))


def _is_named(value: Any) -> bool:
    """Whether it is an object with a name and, if at all, a configuration that is an object."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("configuration") or {}, Mapping)
    )


def _shown_path(path: str) -> str:
    """A node's path from the root; the location of an index array as it is."""
    return repr(path if path.startswith("/") or "://" in path else f"/{path}")


def _wrong(name: str, what: str, found: Any, expected: str) -> InvalidReferencesError:
    text = "no " + what if found is None else f"{what} {_shortened(found)}"
    return InvalidReferencesError(f"{name} has {text} in its {METADATA_NAME}; expected {expected}")


def _shortened(value: Any) -> str:
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return f"of type {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
