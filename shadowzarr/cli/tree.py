"""The lines that ``shadowzarr info`` prints: a tree of nodes, or one array in detail."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

from ..errors import UsageError
from ..formatting import format_bytes, format_count
from ..refs import gen
from ..refs.document import Rfs
from ..refs.inline import decode_inline
from .file_map import file_map, order_text, runs
from .left_out import shortened
from .places import Places, places_of
from .totals import METADATA

Metadata = dict[str, Any]


def node_at(rfs: Rfs, path: str) -> Metadata:
    """Metadata of a node.

    Raises
    ------
    UsageError
        When there is no such node; the message names the nearest.
    """
    nodes = all_nodes(rfs)
    if path in nodes:
        return nodes[path]
    import difflib

    near = difflib.get_close_matches(path, nodes, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UsageError(f"there is no group or array {path!r} in these references{hint}")


def all_nodes(rfs: Rfs) -> dict[str, Metadata]:
    """Metadata of all nodes, by path."""
    nodes = {}
    for key, value in rfs["refs"].items():
        path, _, name = key.rpartition("/")
        if name == METADATA and isinstance(value, str):
            nodes[path] = json.loads(decode_inline(value))
    return nodes


def group_lines(rfs: Rfs, path: str) -> list[str]:
    """A group and everything in it, as a tree, with a line for each array."""
    nodes = all_nodes(rfs)
    where = where_chunks_are(rfs)
    lines = [f"/{path}" if path else "/"]
    _add_members(lines, nodes, where, path, "")
    return [*lines, "", *_summary(rfs)]


def _add_members(
    lines: list[str], nodes: dict[str, Metadata], where: dict[str, str], path: str, indent: str
) -> None:
    members = _members(nodes, path) + [f"{name} → {to}" for name, to in links_of(nodes[path])]
    for number, member in enumerate(members):
        last = number == len(members) - 1
        child = f"{path}/{member}" if path else member
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{_member_line(nodes, where, child, member)}")
        if nodes.get(child, {}).get("node_type") == "group":
            _add_members(lines, nodes, where, child, indent + ("   " if last else "│  "))


def _members(nodes: dict[str, Metadata], path: str) -> list[str]:
    prefix = f"{path}/" if path else ""
    return [p[len(prefix) :] for p in nodes if p and p.startswith(prefix) and "/" not in p[len(prefix) :]]


def links_of(node: Metadata) -> list[tuple[str, str]]:
    """Names and targets of a group's links."""
    return [(link["name"], link["path"]) for link in node.get("attributes", {}).get("_LINKS", [])]


def _member_line(nodes: dict[str, Metadata], where: dict[str, str], path: str, name: str) -> str:
    node = nodes.get(path)
    if node is None:
        return name
    if node["node_type"] == "group":
        return f"{name}/"
    codecs = codec_text(node)
    return "  ".join(
        part
        for part in (
            name,
            f"{shape_text(node['shape'])} {type_text(node)}",
            chunks_text(node) if node["shape"] else "",
            codecs,
            where.get(path, "no chunks"),
        )
        if part
    )


def where_chunks_are(rfs: Rfs) -> dict[str, str]:
    """Where the chunks of each array are, in a word or two; reads no index."""
    counts: Counter[tuple[str, str]] = Counter()
    for key, value in rfs["refs"].items():
        head, name = key.rpartition("/")[0], key.rpartition("/")[2]
        if name != METADATA:
            path = _array_of(f"{head}/{name}" if head else name)
            counts[path, "inline" if isinstance(value, str) else "listed"] += 1
    where: dict[str, str] = {}
    for (path, what), number in counts.items():
        text = "inline" if what == "inline" and number == 1 else f"{number:,} {what}"
        where[path] = f"{where[path]}, {text}" if path in where else text
    where |= {gen.array_path(entry): "evenly spaced" for entry in rfs.get("gen", [])}
    return where | dict.fromkeys(rfs.get("indexes", {}), "chunk index")


def _array_of(key: str) -> str:
    parts = key.split("/")
    place = max(number for number, part in enumerate(parts) if part == "c") if "c" in parts else len(parts)
    return "/".join(parts[:place])


def _summary(rfs: Rfs) -> list[str]:
    lines = [
        f"source  {url}  {format_bytes(entry['size'])}"
        + (f"  ETag {entry['etag']}" if "etag" in entry else "")
        for url, entry in rfs.get("sources", {}).items()
    ]
    copied = [f"copied  {entry['path']}: {entry['what']}" for entry in rfs.get("converted", [])]
    left_out = [f"left out  {entry['path']}: {entry['reason']}" for entry in rfs.get("skipped", [])]
    return lines + shortened(copied, rest="--json shows all") + shortened(left_out, rest="--json shows all")


def array_lines(rfs: Rfs, path: str) -> list[str]:
    """One array: its metadata, and a picture of how its chunks lie in the file."""
    node = node_at(rfs, path)
    lines = [
        f"/{path}",
        f"  shape       {shape_text(node['shape'])}",
        f"  data type   {type_text(node)}",
        f"  chunks      {chunks_text(node)}",
        f"  codecs      {codec_text(node) or 'none'}",
        f"  fill value  {json.dumps(node['fill_value'])}",
    ]
    return lines + _place_lines(rfs, places_of(rfs, path)) + _attribute_lines(node)


def _place_lines(rfs: Rfs, places: Places) -> list[str]:
    lines = [f"  described   {places.how}"]
    if places.inline:
        lines.append(
            f"  inline      {format_count(places.inline, 'chunk')}, {format_bytes(places.inline_bytes)}"
        )
    if places.others:
        lines.append(f"  elsewhere   {format_count(places.others, 'chunk')}")
    if not len(places.offsets):
        return lines
    stored = int(places.lengths.sum())
    end = int((places.offsets + places.lengths).max())
    source = rfs.get("sources", {}).get(places.url)
    size = source["size"] if source is not None else end
    pieces = runs(places.offsets, places.lengths)
    return [
        *lines,
        f"  file        {places.url}",
        f"  stored      {format_bytes(stored)} in {format_count(len(places.offsets), 'chunk')}, "
        f"{format_count(pieces, 'piece')}, {order_text(places.offsets)}",
        f"  bytes       {int(places.offsets.min()):,} to {end:,} of {size:,}",
        f"  ▕{file_map(places.offsets, places.lengths, max(size, end))}▏",
    ]


def _attribute_lines(node: Metadata) -> list[str]:
    attributes = node.get("attributes", {})
    shown = ((name, json.dumps(value, ensure_ascii=False)) for name, value in attributes.items())
    return [f"  @{name}  {text if len(text) <= 100 else text[:99] + '…'}" for name, text in shown]


def shape_text(shape: list[int]) -> str:
    """A shape as people write it: ``1000 × 16``, or ``scalar``."""
    return " \N{MULTIPLICATION SIGN} ".join(f"{extent:,}" for extent in shape) if shape else "scalar"


def chunk_shape(node: Metadata) -> list[int]:
    """Chunk shape in an array's metadata."""
    shape: list[int] = node["chunk_grid"]["configuration"]["chunk_shape"]
    return shape


def chunk_count(node: Metadata) -> int:
    """How many chunks an array is cut into, written or not."""
    edges = zip(node["shape"], chunk_shape(node), strict=True)
    return math.prod(-(-extent // edge) if extent else 0 for extent, edge in edges)


def chunks_text(node: Metadata) -> str:
    """Number and shape of an array's chunks: ``10 chunks of 400 × 10``."""
    number = format_count(chunk_count(node), "chunk")
    return f"{number} of {shape_text(chunk_shape(node))}" if node["shape"] else number


def type_text(node: Metadata) -> str:
    """Data type of an array; a struct with its fields."""
    data_type = node["data_type"]
    if isinstance(data_type, str):
        big = any(codec.get("configuration", {}).get("endian") == "big" for codec in node["codecs"])
        return f"{data_type} big-endian" if big else data_type
    fields = data_type.get("configuration", {}).get("fields")
    if data_type["name"] != "struct" or not fields:
        return str(data_type["name"])
    return f"struct({', '.join(field['name'] for field in fields)})"


def codec_text(node: Metadata) -> str:
    """Codecs of an array after the plain bytes: ``shuffle, zlib``."""
    names = [codec["name"].removeprefix("numcodecs.") for codec in node["codecs"]]
    return ", ".join(name for name in names if name not in ("bytes", "vlen-utf8"))
