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
from ..refs.node_checks import check_node, codec_name
from ..refs.totals import METADATA
from ..refs.zarr_metadata import chunk_grid_shape
from ..store.locate import Locator
from .file_map import file_map, order_text, runs
from .left_out import shortened
from .places import Places, places_of

Metadata = dict[str, Any]

HOW = {
    "refs": "chunk by chunk",
    "gen": "by a rule",
    "index": "by a chunk index",
    "inline": "the chunks themselves",
    "nowhere": "no chunks are stored",
}
"""What is said for the part of a document that tells where the chunks of an array are."""


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
    """Metadata of all nodes, by path.

    Raises
    ------
    InvalidReferencesError
        When that of a node cannot be understood.
    """
    locator, nodes = Locator(rfs), {}
    for key in rfs["refs"]:
        path, _, name = key.rpartition("/")
        if name == METADATA:
            nodes[path] = locator.metadata(key)
            check_node(nodes[path], path)
    return nodes


def group_lines(rfs: Rfs, path: str) -> list[str]:
    """A group and everything in it, as a tree, with a line for each array."""
    nodes = all_nodes(rfs)
    lines = [f"/{path}" if path else "/"]
    _add_members(lines, nodes, where_chunks_are(rfs), path)
    return [*lines, "", *_summary(rfs)]


def _add_members(lines: list[str], nodes: dict[str, Metadata], where: dict[str, str], path: str) -> None:
    """The lines of what is in a group, each group's own members after it."""
    members = _members(nodes)
    waiting = [(path, name, "", last) for name, last in _from_last(nodes, members, path)]
    while waiting:
        parent, name, indent, last = waiting.pop()
        child = f"{parent}/{name}" if parent else name
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{_member_line(nodes, where, child, name)}")
        if nodes.get(child, {}).get("node_type") == "group":
            deeper = indent + ("   " if last else "│  ")
            waiting += [(child, each, deeper, end) for each, end in _from_last(nodes, members, child)]


def _from_last(
    nodes: dict[str, Metadata], members: dict[str, list[str]], path: str
) -> list[tuple[str, bool]]:
    """What is in a group, the last first, and whether it is the last."""
    names = members.get(path, []) + [f"{name} → {to}" for name, to in links_of(nodes[path])]
    return [(name, not number) for number, name in enumerate(reversed(names))]


def _members(nodes: dict[str, Metadata]) -> dict[str, list[str]]:
    """Names of the nodes directly in each group."""
    members: dict[str, list[str]] = {}
    for path in nodes:
        parent, _, name = path.rpartition("/")
        if path:
            members.setdefault(parent, []).append(name)
    return members


def links_of(node: Metadata) -> list[tuple[str, str]]:
    """Names and targets of a group's links; an attribute of another form is no list of links."""
    links = (node.get("attributes") or {}).get("_LINKS")
    return [
        (link["name"], link["path"])
        for link in (links if isinstance(links, list) else ())
        if isinstance(link, dict) and isinstance(link.get("name"), str) and isinstance(link.get("path"), str)
    ]


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
    converted = [f"converted  {entry['path']}: {entry['what']}" for entry in rfs.get("converted", [])]
    left_out = [f"left out  {entry['path']}: {entry['reason']}" for entry in rfs.get("skipped", [])]
    return (
        lines + shortened(converted, rest="--json shows all") + shortened(left_out, rest="--json shows all")
    )


def array_lines(rfs: Rfs, path: str) -> list[str]:
    """One array: its metadata, and a picture of how its chunks lie in the file."""
    node = node_at(rfs, path)
    lines = [
        f"/{path}",
        f"  shape       {shape_text(node['shape'])}",
        f"  data type   {type_text(node)}",
        f"  chunks      {chunks_text(node)}",
        f"  codecs      {codec_text(node) or 'none'}",
        f"  fill value  {json.dumps(node.get('fill_value'))}",
    ]
    return lines + _place_lines(rfs, places_of(rfs, path)) + _attribute_lines(node)


def _place_lines(rfs: Rfs, places: Places) -> list[str]:
    lines = [f"  described   {HOW[places.how]}"]
    if places.inline:
        lines.append(
            f"  inline      {format_count(places.inline, 'chunk')}, {format_bytes(places.inline_bytes)}"
        )
    if places.others:
        lines.append(f"  elsewhere   {format_count(places.others, 'chunk')}")
    if places.unlisted:
        lines.append(f"  by rules    {format_count(places.unlisted, 'chunk')}, too many to be shown")
    if not len(places.offsets):
        return lines
    stored = places.nbytes
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
    attributes = node.get("attributes") or {}
    shown = ((name, json.dumps(value, ensure_ascii=False)) for name, value in attributes.items())
    return [f"  @{name}  {text if len(text) <= 100 else text[:99] + '…'}" for name, text in shown]


def shape_text(shape: list[int]) -> str:
    """A shape as people write it: ``1000 × 16``, or ``scalar``."""
    return " \N{MULTIPLICATION SIGN} ".join(f"{extent:,}" for extent in shape) if shape else "scalar"


def chunk_shape(node: Metadata) -> list[int] | None:
    """Chunk shape in an array's metadata; None when its chunks have no one shape."""
    grid = node["chunk_grid"]
    return list(grid["configuration"]["chunk_shape"]) if grid["name"] == "regular" else None


def chunk_count(node: Metadata) -> int | None:
    """How many chunks an array is cut into, written or not; None when its chunks have no one shape."""
    edges = chunk_shape(node)
    return None if edges is None else math.prod(chunk_grid_shape(node["shape"], edges))


def chunks_text(node: Metadata) -> str:
    """Number and shape of an array's chunks: ``10 chunks of 400 × 10``."""
    edges, count = chunk_shape(node), chunk_count(node)
    if edges is None or count is None:
        return f"chunks of a grid {node['chunk_grid']['name']}"
    number = format_count(count, "chunk")
    return f"{number} of {shape_text(edges)}" if node["shape"] else number


def type_text(node: Metadata) -> str:
    """Data type of an array; a struct with its fields."""
    data_type = node["data_type"]
    if isinstance(data_type, str):
        configurations = [codec.get("configuration") for codec in node["codecs"] if isinstance(codec, dict)]
        big = any(each.get("endian") == "big" for each in configurations if each)
        return f"{data_type} big-endian" if big else data_type
    fields = (data_type.get("configuration") or {}).get("fields")
    if data_type["name"] != "struct" or not isinstance(fields, list):
        return str(data_type["name"])
    names = [str(field.get("name")) for field in fields if isinstance(field, dict)]
    return f"struct({', '.join(names)})"


def codec_text(node: Metadata) -> str:
    """Codecs of an array after the plain bytes: ``shuffle, zlib``."""
    names = [codec_name(codec).removeprefix("numcodecs.") for codec in node["codecs"]]
    return ", ".join(name for name in names if name not in ("bytes", "vlen-utf8"))
