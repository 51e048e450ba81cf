"""What ``shadowzarr info --json`` prints: the same as the tree and the picture, as data.

Pure: a loaded document in, plain data out. Paths are absolute, sizes are in bytes.
"""

from __future__ import annotations

from typing import Any

from ..refs.document import Rfs
from .file_map import runs
from .places import places_of
from .tree import (
    Metadata,
    all_nodes,
    chunk_count,
    chunk_shape,
    codec_text,
    links_of,
    node_at,
    where_chunks_are,
)

Record = dict[str, Any]


def group_record(rfs: Rfs, path: str) -> Record:
    """A group and all below it, with what the document says of its sources.

    Returns
    -------
    dict
        ``path``, ``node_type``, ``nodes`` (in the document's order), ``sources``, ``converted`` and
        ``skipped``.
    """
    where = where_chunks_are(rfs)
    prefix = f"{path}/" if path else ""
    nodes = {at: node for at, node in all_nodes(rfs).items() if at == path or at.startswith(prefix)}
    return {
        "path": f"/{path}",
        "node_type": "group",
        "nodes": [_node_record(at, node, where.get(at, "no chunks")) for at, node in nodes.items()],
        "sources": rfs.get("sources", {}),
        "converted": rfs.get("converted", []),
        "skipped": rfs.get("skipped", []),
    }


def array_record(rfs: Rfs, path: str) -> Record:
    """One array, with where its chunks lie; reads the whole index of an array that has one.

    Returns
    -------
    dict
        As in ``nodes`` of a group; also ``fill_value``, ``attributes`` and ``places``: where the chunks
        are that are stored.
    """
    node = node_at(rfs, path)
    places = places_of(rfs, path)
    record = _node_record(path, node, places.how)
    record |= {"fill_value": node.get("fill_value"), "attributes": node.get("attributes") or {}}
    record["places"] = {
        "file": places.url or None,
        "stored_chunks": len(places.offsets),
        "stored_bytes": places.nbytes,
        "pieces": runs(places.offsets, places.lengths),
        "first_byte": int(places.offsets.min()) if len(places.offsets) else None,
        "end": int((places.offsets + places.lengths).max()) if len(places.offsets) else None,
        "inline_chunks": places.inline,
        "inline_bytes": places.inline_bytes,
        "other_chunks": places.others,
        "unlisted_chunks": places.unlisted,
    }
    return record


def _node_record(path: str, node: Metadata, where: str) -> Record:
    record: Record = {"path": f"/{path}", "node_type": node["node_type"]}
    if node["node_type"] == "group":
        return record | {"links": dict(links_of(node))}
    return record | {
        "shape": node["shape"],
        "data_type": node["data_type"],
        "chunk_shape": chunk_shape(node),
        "chunk_count": chunk_count(node),
        "codecs": [name for name in codec_text(node).split(", ") if name],
        "where": where,
    }
