"""References → one row for each group and array, and what the file as a whole says of its session.

Reads the document and its index arrays; no byte of the source is asked for.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any, Final

from ...attributes import decode_attributes
from ...errors import InvalidReferencesError
from ...refs.chunk_key import METADATA_NAME, metadata_key
from ...refs.document import Rfs
from ...refs.inline import decode_inline
from ...refs.node_checks import check_node, codec_name, parse_node
from .columns import Row
from .node_facts import array_facts
from .stored_chunks import StoredChunks, stored_chunks

Node = dict[str, Any]

NWB_FILE: Final = "NWBFile"
_CHANNELS_LAST: Final = {"ElectricalSeries": 1, "SpikeEventSeries": 1}
"""Types whose data have channels, and the axis that they are along."""

_TEXTS: Final = {
    "identifier": "identifier",
    "session_id": "general/session_id",
    "session_description": "session_description",
    "session_start_time": "session_start_time",
    "subject_id": "general/subject/subject_id",
    "species": "general/subject/species",
    "sex": "general/subject/sex",
    "age": "general/subject/age",
    "genotype": "general/subject/genotype",
    "institution": "general/institution",
    "lab": "general/lab",
}
_LISTS: Final = {"experimenters": "general/experimenter", "keywords": "general/keywords"}
"""Where NWB files hold what columns of the assets are called after."""


def object_rows(rfs: Rfs) -> list[Row]:
    """A row for each group and array, without the columns that name the asset.

    Parameters
    ----------
    rfs : Rfs
        A document that was loaded.

    Raises
    ------
    InvalidReferencesError
        When it cannot be understood.
    DamagedSourceError, ReadError
        When an index array cannot be read.
    """
    nodes, chunks = _nodes(rfs), stored_chunks(rfs)
    return [_row(path, nodes, chunks.get(path, StoredChunks())) for path in sorted(nodes)]


def session_facts(rfs: Rfs) -> Row:
    """Columns of the asset that an NWB file tells; none for any other file."""
    root = _node(rfs, "")
    if root is None or _text(_attributes(root), "neurodata_type") != NWB_FILE:
        return {}
    facts: Row = {"nwb_version": _text(_attributes(root), "nwb_version")}
    for column, path in _TEXTS.items():
        values = _inline_texts(rfs, path)
        facts[column] = values[0] if values else None
    return facts | {column: _inline_texts(rfs, path) for column, path in _LISTS.items()}


def _row(path: str, nodes: Mapping[str, Node], chunks: StoredChunks) -> Row:
    node = nodes[path]
    attributes = _attributes(node)
    row: Row = {
        "path": path,
        "kind": node["node_type"],
        "neurodata_type": _text(attributes, "neurodata_type"),
        "namespace": _text(attributes, "namespace"),
        "parent_type": _parent_type(path, nodes),
        "unit": _text(attributes, "unit"),
        "conversion": _number(attributes, "conversion"),
        "description": _text(attributes, "description"),
    }
    if node["node_type"] == "group":
        return row | _series_facts(path, row, nodes)
    return row | array_facts(node) | _chunk_facts(chunks)


def _chunk_facts(chunks: StoredChunks) -> Row:
    return {
        "chunks_in": "+".join(sorted(chunks.places)) or None,
        "chunk_count": chunks.count,
        "inline_count": chunks.inline,
        "stored_bytes": chunks.nbytes,
    }


def _series_facts(path: str, row: Row, nodes: Mapping[str, Node]) -> Row:
    """What a series' members tell of it; most groups are no series and have none of them."""
    data, start = nodes.get(_member(path, "data")), nodes.get(_member(path, "starting_time"))
    if row["neurodata_type"] is None or data is None or data["node_type"] != "array":
        return {}
    attributes, shape = _attributes(data), data["shape"]
    samples = shape[0] if shape else None
    rate = None if start is None else _number(_attributes(start), "rate")
    axis = _CHANNELS_LAST.get(row["neurodata_type"])
    channels = None if axis is None or not shape else shape[axis] if len(shape) > axis else 1
    return {
        "unit": row["unit"] or _text(attributes, "unit"),
        "conversion": _number(attributes, "conversion") if row["conversion"] is None else row["conversion"],
        "rate": rate,
        "channels": channels,
        "samples": samples,
        "seconds": samples / rate if samples is not None and rate else None,
    }


def _nodes(rfs: Rfs) -> dict[str, Node]:
    nodes = {}
    for key in rfs["refs"]:
        path, _, name = key.rpartition("/")
        if name == METADATA_NAME:
            node = _node(rfs, path)
            if node is not None:
                check_node(node, path)
                nodes[path] = node
    return nodes


def _node(rfs: Rfs, path: str) -> Node | None:
    text = rfs["refs"].get(metadata_key(path))
    return parse_node(decode_inline(text), metadata_key(path)) if isinstance(text, str) else None


def _attributes(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return decode_attributes(node.get("attributes") or {})


def _parent_type(path: str, nodes: Mapping[str, Node]) -> str | None:
    while path:
        path = path.rpartition("/")[0]
        found = _text(_attributes(nodes[path]), "neurodata_type") if path in nodes else None
        if found is not None:
            return found
    return None


def _member(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _text(attributes: Mapping[str, Any], name: str) -> str | None:
    value = attributes.get(name)
    return value if isinstance(value, str) else None


def _number(attributes: Mapping[str, Any], name: str) -> float | None:
    """A finite number; NaN stands in attributes as text, and says nothing here."""
    value = attributes.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _inline_texts(rfs: Rfs, path: str) -> list[str] | None:
    """The values of a small text array that the document holds whole; None for any other."""
    node = _node(rfs, path)
    if node is None or node.get("node_type") != "array" or node.get("data_type") != "string":
        return None
    if [codec_name(codec) for codec in node["codecs"]] != ["vlen-utf8"]:
        return None
    key = "/".join([path, "c", *["0"] * len(node["shape"])])
    value = rfs["refs"].get(key)
    if not isinstance(value, str):
        return None
    texts = _decode_texts(decode_inline(value), path)
    return texts if len(texts) == math.prod(node["shape"]) else None


def _decode_texts(data: bytes, path: str) -> list[str]:
    """Take a chunk of the codec ``vlen-utf8`` apart: a count, then length and bytes of each item."""
    try:
        (count,), position, texts = struct.unpack_from("<I", data), 4, []
        for _ in range(count):
            (length,) = struct.unpack_from("<I", data, position)
            position += 4 + length
            texts.append(data[position - length : position].decode())
    except (struct.error, UnicodeDecodeError) as error:
        raise InvalidReferencesError(f"the text of {path!r} cannot be read: {error}") from error
    return texts
