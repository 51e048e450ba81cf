"""What a document becomes in an ordinary store, worked out before anything is written."""

from __future__ import annotations

import json
import math
import operator
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

from ...access.range_reader import restricted
from ...errors import ShadowzarrError, UnsupportedError, UsageError
from ...refs.chunk_key import METADATA_NAME, metadata_key
from ...refs.document import Rfs
from ...refs.extension import NAME, extension_of
from ...refs.zarr_metadata import chunk_shape_of
from ...store.chunk_table import HELD, ChunkTable, ChunkTables
from ...store.locate import Locator
from ...store.rfs_store import RfsStore
from ...store.stored_nodes import stored_nodes
from ...store.xarray_spelling import spelled_for_xarray
from .layouts import Layout, checked, is_numeric, rows_of
from .merging import merge_gap_of
from .refused import Refused
from .sweep import BLOCK_BYTES, Cut, Shape

_CORE = frozenset(
    {
        "blosc",
        "bytes",
        "cast_value",
        "crc32c",
        "gzip",
        "scale_offset",
        "sharding_indexed",
        "transpose",
        "vlen-bytes",
        "vlen-utf8",
        "zstd",
    }
)
"""Codecs that zarr brings; those of numcodecs, which it needs, are ordinary too."""

_NO_NAMES = frozenset({"", ".", ".."})
_NOT_UNDERSTOOD = (TypeError, ValueError, AttributeError, KeyError, NotImplementedError)
"""What zarr raises on arguments that do not fit."""

_LONGEST_NAME = 255


@dataclass(frozen=True)
class ArrayPlan:
    """One array of the new store.

    Attributes
    ----------
    path : str
        Without leading slash.
    document : dict
        Its ``zarr.json``.
    table : ChunkTable
        The chunks that the references have.
    cut : Cut or None
        How it is cut on both sides; None when its chunks are copied as they are stored.
    source_chunk : tuple of int
        Chunk shape in the references.
    nbytes : int
        Bytes of all its values.
    is_held : bool
        Whether no chunk of it is in a file.
    """

    path: str
    document: dict[str, Any]
    table: ChunkTable
    cut: Cut | None
    source_chunk: Shape
    nbytes: int
    is_held: bool


@dataclass(frozen=True)
class Plan:
    """All that is to be written.

    Attributes
    ----------
    rfs : Rfs
        The document.
    store : RfsStore
        Reads values, as zarr has them.
    stored : RfsStore
        Reads metadata and chunks as they are stored.
    nodes : dict
        Metadata documents by path, parents first.
    arrays : list of ArrayPlan
        In the document's order.
    """

    rfs: Rfs
    store: RfsStore
    stored: RfsStore
    nodes: dict[str, dict[str, Any]]
    arrays: list[ArrayPlan]


def make_plan(rfs: Rfs, layout: Layout, options: Mapping[str, Any], *, cf_attributes: bool = True) -> Plan:
    """Work out what a document becomes.

    Parameters
    ----------
    rfs : Rfs
        A document from `load_rfs`.
    layout : callable
        How arrays whose chunks are in files are cut.
    options : mapping
        Of `RfsStore`.
    cf_attributes : bool, optional
        Whether attributes of CF are written as xarray reads them.

    Raises
    ------
    UnsupportedError
        When nodes cannot be in an ordinary store; the message names them.
    UsageError
        When the layout says what cannot be.
    InvalidReferencesError
        When the document does not fit together.
    """
    locator = Locator(rfs)
    nodes = dict(stored_nodes(rfs, locator))
    refused = Refused()
    for path in filter(None, nodes):
        refused.note(path, _no_name(path))
    refused.raise_if_any()
    files = restricted(
        options.get("reader"),
        allow_private=options.get("allow_private", True),
        local_roots=options.get("local_roots"),
    )
    tables = ChunkTables(rfs, locator, reader=files)
    found = {path: tables.table(path) for path, node in nodes.items() if node["node_type"] == "array"}
    options = {"merge_gap": merge_gap_of(list(found.values())), **options}
    store = RfsStore(rfs, **options)
    arrays = []
    for path, node in nodes.items():
        if path in found:
            with refused.noting(path):
                plan = _array_plan(path, node, found[path], store, layout)
                nodes[path] = spelled_for_xarray(plan.document) if cf_attributes else plan.document
                arrays.append(plan)
    refused.raise_if_any()
    extension = extension_of(rfs, lambda location: location)
    if extension is not None:
        nodes[""] = {**nodes[""], NAME: extension}
    return Plan(rfs, store, RfsStore(rfs, **{**options, "strict_json": True}), nodes, arrays)


def _no_name(path: str) -> str | None:
    """Why no folder has a path, it leads out of one, or zarr asks for it by another name; None when none."""
    parts = path.split("/")
    try:
        lengths = [len(part.encode("utf-8")) for part in parts]
    except UnicodeEncodeError:
        return f"{'/' + path!r} is no Unicode text, so no ordinary store has it"
    if not _NO_NAMES.isdisjoint(parts) or "\\" in path or "\0" in path or METADATA_NAME in parts:
        return f"no node of an ordinary store can be named {'/' + path!r}"
    if max(lengths) > _LONGEST_NAME:
        return (
            f"the name {parts[lengths.index(max(lengths))][:40]!r}… has {max(lengths)} bytes; files and "
            f"folders have names of at most {_LONGEST_NAME}"
        )
    return None


def _array_plan(
    path: str, node: dict[str, Any], table: ChunkTable, store: RfsStore, layout: Layout
) -> ArrayPlan:
    is_held = bool((table.files == HELD).all())
    if is_held and _is_ordinary(node["codecs"]):
        return _as_stored(path, node, table, is_held=True)
    array = zarr.open_array(store, path=path, mode="r", zarr_format=3)
    answer = None if is_held else checked(layout(path, array), path)
    if answer is None:
        if _is_ordinary(node["codecs"]):
            return _as_stored(path, node, table, is_held=False)
        answer = {"chunks": _chunks_of(node, path)}
    document = _laid_out(path, node, array, answer)
    if _is_same(document, node):
        return _as_stored(path, node, table, is_held=False)
    unit = chunk_shape_of(document)
    itemsize = max(1, int(array.dtype.itemsize))
    cut = Cut(tuple(array.shape), _pieces(node, itemsize), unit, itemsize)
    return ArrayPlan(path, document, table, cut, _chunks_of(node, path), _nbytes(node, itemsize), is_held)


def _as_stored(path: str, node: dict[str, Any], table: ChunkTable, *, is_held: bool) -> ArrayPlan:
    grid = node["chunk_grid"]
    chunks = tuple(grid["configuration"]["chunk_shape"]) if grid["name"] == "regular" else ()
    return ArrayPlan(path, node, table, None, chunks, 0, is_held)


def _is_ordinary(codecs: Sequence[Any]) -> bool:
    """Whether zarr by itself has all these codecs."""
    for codec in codecs:
        name = codec.get("name") if isinstance(codec, Mapping) else codec
        if name not in _CORE and not str(name).startswith("numcodecs."):
            return False
        configuration = codec.get("configuration") if isinstance(codec, Mapping) else None
        if isinstance(configuration, Mapping):
            inner = [*configuration.get("codecs", ()), *configuration.get("index_codecs", ())]
            if not _is_ordinary(inner):
                return False
    return True


def _chunks_of(node: Mapping[str, Any], path: str) -> Shape:
    if node["chunk_grid"]["name"] != "regular":
        raise UnsupportedError(
            f"the chunks of array {'/' + path!r} differ in shape; such an array can only be copied as it is "
            "stored (a layout that gives None)"
        )
    return chunk_shape_of(node)


def _laid_out(path: str, node: dict[str, Any], array: Any, answer: dict[str, Any]) -> dict[str, Any]:
    """``zarr.json`` of the new array: what zarr makes of the arguments, and the attributes as stored."""
    if "chunks" not in answer:
        shape, itemsize = array.shape, array.dtype.itemsize
        answer["chunks"] = rows_of(shape, itemsize) if is_numeric(array.dtype) else _chunks_of(node, path)
    if answer.get("shards") is None:
        answer["chunks"] = _clipped(answer["chunks"], array.shape)
    answer.setdefault("dimension_names", node.get("dimension_names"))
    try:
        with warnings.catch_warnings(action="ignore"):  # types without a specification: the source has them
            made = zarr.create_array(
                MemoryStore(),
                shape=array.shape,
                dtype=array.metadata.data_type,
                fill_value=array.fill_value,
                zarr_format=3,
                **answer,
            )
            stored = made.metadata.to_buffer_dict(default_buffer_prototype())[METADATA_NAME]
    except ShadowzarrError:
        raise
    except _NOT_UNDERSTOOD as error:
        raise UsageError(f"the layout of array {'/' + path!r} is none for zarr: {error}") from error
    document: dict[str, Any] = json.loads(stored.to_bytes())
    for part in ("data_type", "fill_value", "attributes"):
        if part in node:
            document[part] = node[part]
    return document


def _clipped(chunks: Any, shape: Shape) -> Any:
    """Chunk edges that are no longer than the array, when they are whole numbers above 0."""
    try:
        edges = [operator.index(edge) for edge in chunks]
    except TypeError:
        return chunks  # zarr says what is wrong with it
    if len(edges) != len(shape) or any(edge < 1 for edge in edges):
        return chunks
    return tuple(min(edge, max(1, extent)) for edge, extent in zip(edges, shape, strict=True))


def _is_same(document: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether stored chunks can stay as they are: the same cut, names and codecs."""
    return all(document[part] == node.get(part) for part in ("chunk_grid", "chunk_key_encoding", "codecs"))


def _pieces(node: Mapping[str, Any], itemsize: int) -> Shape:
    """What has to be read at a time: a chunk, or rows of one that is plain and large.

    The store reads rows of plain chunks by themselves.
    """
    chunk = chunk_shape_of(node)
    is_plain = len(node["codecs"]) == 1 and node["codecs"][0].get("name") == "bytes"
    nbytes = math.prod(chunk) * itemsize
    if not is_plain or nbytes <= BLOCK_BYTES or not chunk:
        return chunk
    return (max(1, BLOCK_BYTES // (nbytes // chunk[0])), *chunk[1:])


def _nbytes(node: Mapping[str, Any], itemsize: int) -> int:
    return math.prod(map(int, node["shape"])) * itemsize


def consolidated(nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The root's metadata with those of all other nodes, so that a store opens with one read."""
    below = {path: {k: v for k, v in node.items() if k != NAME} for path, node in nodes.items() if path}
    return {
        **nodes[""],
        "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": below},
    }


def keys_of(nodes: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Paths of nodes and the keys of their metadata, the root last and each before those above it."""
    for path in sorted(nodes, key=lambda path: (-len(path.split("/")) if path else 1, path)):
        yield path, metadata_key(path)
