"""What is wrong with a document although its nodes are right: keys and entries that belong to no array.

Whatever the original is; entries that lie about it are found by its own comparison.
"""

from __future__ import annotations

from collections import Counter

from ..refs.document import Rfs
from .references import Node, References
from .regions import grid_shape
from .report import Plain
from .tally import NOTHING, Tally


def check_document(references: References, tally: Tally) -> None:
    """Report chunks, indexes and selections that belong to no array."""
    strays: Counter[str] = Counter()
    for key in references.rfs["refs"]:
        owner = _stray_owner(references, key)
        if owner is not None:
            strays[owner] += 1
    for owner, number in strays.items():
        tally.differ(owner, "stray chunks", NOTHING, Plain(f"{number} keys that belong to no chunk"))
    for part in ("indexes", "selections"):
        for path in _paths(references.rfs, part):
            if path not in references.nodes or not references.nodes[path].is_array:
                tally.differ(path, "stray entry", NOTHING, Plain(f"an entry in {part!r} for no array"))


def _paths(rfs: Rfs, part: str) -> list[str]:
    entries = rfs.get(part, {})
    return list(entries) if isinstance(entries, dict) else []


def _stray_owner(references: References, key: str) -> str | None:
    """The path to blame for a key that is no metadata and no chunk of an array; None for a good key."""
    if key.rpartition("/")[2] == "zarr.json":
        return None
    parts = key.split("/")
    for number in range(len(parts), -1, -1):
        path = "/".join(parts[:number])
        node = references.nodes.get(path)
        if node is not None:
            good = node.is_array and _is_chunk(node, parts[number:])
            return None if good else path
    return key


def _is_chunk(node: Node, rest: list[str]) -> bool:
    shape = node.metadata.get("shape", [])
    encoding = node.metadata.get("chunk_key_encoding", {})
    if not isinstance(encoding, dict) or encoding.get("name") != "default":
        return True  # another encoding of keys, which the generators of this library do not write
    if not rest or rest[0] != "c" or len(rest) != 1 + len(shape):
        return False
    if not all(part.isdecimal() for part in rest[1:]):
        return False
    chunk_shape = node.metadata["chunk_grid"]["configuration"]["chunk_shape"]
    return all(
        int(part) < extent for part, extent in zip(rest[1:], grid_shape(shape, chunk_shape), strict=True)
    )
