"""Keys of a Zarr v2 store → its groups and arrays, each with its chunks (Zarr v2 specification, "Storage").

``.zgroup``, ``.zarray`` and ``.zattrs`` make nodes; ``.zmetadata`` gives those that have no key of their
own. Keys that belong to no array are no part of the store, and are passed over as by other readers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidReferencesError
from ..refs.chunk_key import METADATA_NAME
from ..refs.document import Reference
from ..refs.inline import decode_inline
from ..refs.nesting import MOST_NESTED, is_too_deep

_METADATA = (".zgroup", ".zarray", ".zattrs")
_CONSOLIDATED = ".zmetadata"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)  # no grid has more digits


@dataclass(slots=True)
class V2Node:
    """A group or an array.

    Attributes
    ----------
    path : str
        Without a leading slash; ``""`` for the root.
    zarray : dict or None
        ``.zarray`` of an array; None for a group.
    attributes : dict
        ``.zattrs``.
    chunks : dict
        References by chunk coordinates; those outside of the array are passed over.
    """

    path: str
    zarray: dict[str, Any] | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    chunks: dict[tuple[int, ...], Reference] = field(default_factory=dict)

    @property
    def separator(self) -> str:
        """What is between the coordinates in a chunk's key."""
        return "/" if (self.zarray or {}).get("dimension_separator") == "/" else "."

    @property
    def rank(self) -> int:
        """Number of axes of an array."""
        shape = (self.zarray or {}).get("shape")
        return len(shape) if isinstance(shape, list) else 0


def nodes_of(refs: Mapping[str, Reference], name: str) -> dict[str, V2Node]:
    """Groups and arrays of a store, by path, parents before what is in them.

    Parameters
    ----------
    refs : mapping
        As `kerchunk_form.listed_references` gives them.
    name : str
        What messages call the document.

    Raises
    ------
    InvalidReferencesError
        When it holds no Zarr v2 metadata, or some that are not JSON objects.
    """
    documents = _metadata(refs, name)
    nodes: dict[str, V2Node] = {}
    for key in sorted(documents):
        path, _, kind = key.rpartition("/")
        if kind == ".zattrs":
            continue
        node = nodes.setdefault(path, V2Node(path))
        node.attributes = documents.get(f"{path}/.zattrs" if path else ".zattrs", {})
        if kind == ".zarray":
            node.zarray = documents[key]
    if not nodes:
        raise InvalidReferencesError(f"{name} {_not_v2(refs)}")
    nodes.setdefault("", V2Node("", attributes=documents.get(".zattrs", {})))
    _give_chunks(nodes, refs)
    return dict(sorted(nodes.items()))


def _not_v2(refs: Mapping[str, Reference]) -> str:
    """Why it is no Zarr v2 store."""
    if any(key.rpartition("/")[2] == METADATA_NAME for key in refs):
        return (
            f"has keys of Zarr v3 ({METADATA_NAME}); LINDI's files have keys of Zarr v2. References of "
            "kerchunk, and those made here, may have keys of v3"
        )
    return f"holds neither .zgroup nor .zarray, nor {METADATA_NAME}; expected references to a Zarr store"


def _metadata(refs: Mapping[str, Reference], name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    if _CONSOLIDATED in refs:
        consolidated = _parsed(refs[_CONSOLIDATED], _CONSOLIDATED, name).get("metadata")
        if isinstance(consolidated, Mapping):
            found = {key.strip("/"): value for key, value in consolidated.items() if isinstance(value, dict)}
    for key, value in refs.items():
        if key.rpartition("/")[2] in _METADATA:
            found[key.lstrip("/")] = _parsed(value, key, name)
    return found


def _parsed(value: Reference, key: str, name: str) -> dict[str, Any]:
    if not isinstance(value, str):
        raise InvalidReferencesError(
            f"{name}: {key!r} is in a file of its own ({value[0]}); expected metadata in the document"
        )
    try:
        document = json.loads(decode_inline(value))  # bare NaN, as Zarr v2 wrote it, is understood
    except (ValueError, RecursionError) as error:
        raise InvalidReferencesError(f"{name}: {key!r} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise InvalidReferencesError(f"{name}: {key!r} is {str(document)[:40]}; expected a JSON object")
    if is_too_deep(document):
        raise InvalidReferencesError(f"{name}: {key!r} is nested more than {MOST_NESTED} deep")
    return document


def _give_chunks(nodes: Mapping[str, V2Node], refs: Mapping[str, Reference]) -> None:
    arrays = {path: node for path, node in nodes.items() if node.zarray is not None}
    for key, value in refs.items():
        key = key.lstrip("/")
        head, _, tail = key.rpartition("/")
        node = arrays.get(head)
        if node is None or (node.separator == "/" and node.rank > 1):
            node, tail = _owner(arrays, key)
        if node is None or tail in _METADATA:
            continue
        coordinates = _coordinates(tail, node)
        if coordinates is not None:
            node.chunks[coordinates] = value


def _owner(arrays: Mapping[str, V2Node], key: str) -> tuple[V2Node | None, str]:
    """The array, of those whose coordinates are parts of the key, that a key may belong to."""
    parts = key.split("/")
    for number in range(len(parts) - 1, -1, -1):
        node = arrays.get("/".join(parts[:number]))
        if node is not None:
            return node, "/".join(parts[number:])
    return None, ""


def _coordinates(tail: str, node: V2Node) -> tuple[int, ...] | None:
    if node.rank == 0:
        return () if tail == "0" else None
    parts = tail.split(node.separator)
    if len(parts) != node.rank or not all(map(_NUMBER.fullmatch, parts)):
        return None
    return tuple(map(int, parts))
