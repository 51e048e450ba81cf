"""RfsBuilder: groups, arrays and chunk locations → a reference file system.

Independent of the source format and without I/O: a generator says what there is, and the builder
writes it as the document wants it (templates, inline values, attribute conventions, version).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .attributes import encode_attributes
from .errors import UsageError
from .refs.chunk_key import chunk_key, metadata_key
from .refs.document import (
    FORMAT_VERSION,
    ConvertedEntry,
    GenEntry,
    IndexArray,
    IndexEntry,
    Reference,
    Rfs,
    SelectionEntry,
    SkippedEntry,
    SourceEntry,
)
from .refs.inline import encode_inline
from .refs.selection import Selection, columns_selection
from .refs.templates import make_templates, placeholder
from .refs.zarr_metadata import BYTES_CODEC, array_metadata, chunk_grid_shape, chunk_shape_of, group_metadata

__all__ = ["RfsBuilder", "columns_selection"]

COMPRESS_INLINE_FROM = 4096
"""Bytes of an inline chunk from which zstd makes the document smaller, its codec entry included."""

_ZSTD_CODEC = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}


class RfsBuilder:
    """Collects what a reference file system holds and builds the document.

    Groups that lie above something that was added exist by themselves. Paths have no leading slash;
    the root is ``""``.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, Any]] = {}
        self._chunks: dict[str, dict[str, list[Any]]] = {}
        self._inline: dict[str, dict[str, bytes]] = {}
        self._gen: list[GenEntry] = []
        self._generated: set[str] = set()
        self._indexes: dict[str, IndexEntry] = {}
        self._selections: dict[str, SelectionEntry] = {}
        self._sources: dict[str, SourceEntry] = {}
        self._skipped: list[SkippedEntry] = []
        self._converted: list[ConvertedEntry] = []
        self._urls: dict[str, None] = {}

    def add_group(self, path: str, attributes: Mapping[str, Any] | None = None) -> None:
        """Add a group, or replace the attributes of one.

        Parameters
        ----------
        path : str
            Path of the group.
        attributes : mapping, optional
            JSON values, and NaN, infinities and bytes besides; encoded when the document is built.
        """
        self._add_parents(path)
        if self._nodes.get(path, {}).get("node_type") == "array":
            raise UsageError(f"{path!r} is an array already")
        self._nodes[path] = group_metadata(attributes)

    def add_array(
        self,
        path: str,
        *,
        shape: Sequence[int],
        data_type: str | dict[str, Any],
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
            Chunk edges are at least 1.
        data_type : str or dict
            A Zarr v3 data type.
        codecs : sequence of dict, optional
            Zarr v3 codecs; little-endian ``bytes`` when left out.
        fill_value : optional
            In its JSON form; the data type's zero when left out.
        attributes : mapping, optional
            As for `add_group`.
        dimension_names : sequence of str or None, optional
            One per axis.
        """
        if path in self._nodes and self._nodes[path]["node_type"] == "group":
            raise UsageError(f"{path!r} is a group already")
        self._add_parents(path)
        self._nodes[path] = array_metadata(
            shape=shape,
            data_type=data_type,
            chunk_shape=chunk_shape,
            codecs=codecs if codecs is not None else [BYTES_CODEC],
            fill_value=_zero(data_type) if fill_value is None else fill_value,
            attributes=attributes,
            dimension_names=dimension_names,
        )

    def set_attributes(self, path: str, attributes: Mapping[str, Any]) -> None:
        """Replace the attributes of a node that was added."""
        self._nodes[path]["attributes"] = dict(attributes)

    def add_chunk(
        self,
        path: str,
        coordinates: Sequence[int],
        url: str,
        offset: int | None = None,
        length: int | None = None,
    ) -> None:
        """Say where one chunk is: a byte range of a file, or a whole file without offset and length."""
        self._array(path)
        self._urls[url] = None
        place = [url] if offset is None or length is None else [url, int(offset), int(length)]
        self._chunks.setdefault(path, {})[chunk_key(path, tuple(coordinates))] = place

    def add_inline_chunk(self, path: str, coordinates: Sequence[int], data: bytes) -> None:
        """Hold one chunk in the document.

        Parameters
        ----------
        path : str
            Path of the array.
        coordinates : sequence of int
            Chunk coordinates.
        data : bytes
            The chunk as the array's codecs encode it. When all chunks of an array are inline and
            one has 4 KiB or more, `build` adds the zstd codec to the array and compresses them.
        """
        self._array(path)
        self._inline.setdefault(path, {})[chunk_key(path, tuple(coordinates))] = data

    def add_index(self, path: str, url: str, index: IndexArray) -> None:
        """Say where all chunks of an array are, by a chunk index.

        Parameters
        ----------
        path : str
            Path of the array.
        url : str
            The file that all chunks are in.
        index : numpy.ndarray
            uint64, shaped like the chunk grid plus a last axis of 2 for (offset, nbytes); chunks
            that were never written hold 2**64 - 1.
        """
        node = self._array(path)
        grid = chunk_grid_shape(node["shape"], chunk_shape_of(node))
        if index.shape != (*grid, 2) or index.dtype != np.uint64:
            raise UsageError(
                f"the index of {path!r} has shape {index.shape} and type {index.dtype}; "
                f"its chunk grid {grid} asks for {(*grid, 2)} and uint64"
            )
        self._indexes[path] = {"url": url, "index": index}

    def add_strided_chunks(
        self,
        path: str,
        *,
        ndim: int,
        url: str,
        start: int,
        stride: int,
        length: int,
        count: int,
        axis: int = 0,
    ) -> None:
        """Say where evenly spaced chunks along one axis are, by one gen entry.

        Parameters
        ----------
        path : str
            Path of the array.
        ndim : int
            Its number of axes; along the others there is one chunk.
        url : str
            The file.
        start : int
            Offset of the first chunk, in bytes.
        stride : int
            Bytes from one chunk to the next.
        length : int
            Bytes of a chunk.
        count : int
            Number of chunks.
        axis : int, optional
            The axis along which they follow each other.
        """
        self._array(path)
        self._urls[url] = None
        coordinates = ["{{i}}" if number == axis else "0" for number in range(ndim)]
        self._generated.add(path)
        self._gen.append(
            {
                "key": "/".join([*([path] if path else []), "c", *coordinates]),
                "url": url,
                "offset": f"{{{{{start} + i * {stride}}}}}",
                "length": str(length),
                "dimensions": {"i": {"stop": count}},
            }
        )

    def add_contiguous_chunks(
        self,
        path: str,
        *,
        url: str,
        start: int,
        shape: Sequence[int],
        chunk_shape: Sequence[int],
        itemsize: int,
        row_bytes: int | None = None,
    ) -> None:
        """Say where the slabs of an array are that lies in the file in one piece, row after row.

        Parameters
        ----------
        path : str
            Path of the array.
        url : str
            The file.
        start : int
            Offset of the first row, in bytes.
        shape, chunk_shape : sequence of int
            Chunks may differ from the shape along the first axis only. When they do not divide it,
            the last slab is referenced at full length; readers drop what lies past the array.
        itemsize : int
            Bytes of an element.
        row_bytes : int, optional
            Bytes from one row to the next, when a selection leaves some out.
        """
        if not shape:
            self.add_chunk(path, (), url, start, itemsize)
            return
        if tuple(shape[1:]) != tuple(chunk_shape[1:]):
            raise UsageError(f"{path!r}: chunks {tuple(chunk_shape)} cut {tuple(shape)} along a later axis")
        if 0 in shape:
            return
        row = row_bytes if row_bytes is not None else math.prod(shape[1:]) * itemsize
        count = -(-shape[0] // chunk_shape[0])
        if count == 1:
            self.add_chunk(path, (0,) * len(shape), url, start, chunk_shape[0] * row)
            return
        slab = chunk_shape[0] * row
        self.add_strided_chunks(
            path, ndim=len(shape), url=url, start=start, stride=slab, length=slab, count=count
        )

    def add_selection(self, path: str, record_size: int, keep: Sequence[Sequence[int]]) -> None:
        """Say which bytes of each record of an array's references belong to it.

        Parameters
        ----------
        path : str
            Path of an array whose only codec is ``bytes``.
        record_size : int
            Bytes of a record.
        keep : sequence of (int, int)
            Half-open byte ranges of a record, joined in this order.
        """
        node = self._array(path)
        if [codec["name"] for codec in node["codecs"]] != ["bytes"]:
            raise UsageError(f"{path!r} is compressed or transposed; a selection applies to plain bytes only")
        entry: SelectionEntry = {"record_size": record_size, "keep": [list(part) for part in keep]}
        Selection.from_entry(entry)
        self._selections[path] = entry

    def add_source(
        self, url: str, size: int | None, etag: str | None = None, *, linked: bool = False
    ) -> None:
        """Record what a source file is now, so that a reader notices when it is replaced.

        Parameters
        ----------
        url : str
            The file, as references name it.
        size : int or None
            Its bytes; a file of unknown size is not recorded.
        etag : str, optional
            Its ETag, with the double quotes.
        linked : bool, optional
            Whether it is not described itself, but holds values of a file that is.
        """
        if size is None:
            return
        self._sources[url] = {"size": size, "etag": etag} if etag else {"size": size}
        if linked:
            self._sources[url]["linked"] = True

    def add_skipped(
        self, path: str, kind: Literal["dataset", "attribute", "link", "group"], reason: str
    ) -> None:
        """Record that an object of the source is left out, and why."""
        self._skipped.append({"path": path, "kind": kind, "reason": reason})

    def add_converted(self, path: str, what: str) -> None:
        """Record that an object's values are copied, or its type changed on the way."""
        self._converted.append({"path": path, "what": what})

    def build(self) -> Rfs:
        """Make the document.

        Returns
        -------
        Rfs
            With index arrays in memory; version 2 exactly when it uses gen, indexes or selections.
        """
        self._nodes.setdefault("", group_metadata())
        templates = make_templates(self._urls)
        names = {url: placeholder(name) for name, url in templates.items()}
        parts: dict[str, Any] = {
            "gen": [{**entry, "url": names[entry["url"]]} for entry in self._gen],
            "indexes": self._indexes,
            "selections": self._selections,
        }
        requires = [name for name in ("indexes", "gen", "selections") if parts[name]]
        rfs: Rfs = {"version": 2 if requires else 1, "format": FORMAT_VERSION, "refs": {}}
        if requires:
            rfs["requires"] = requires
        if templates:
            rfs["templates"] = templates
        rfs["refs"] = dict(self._references(names))
        facts = {"sources": self._sources, "skipped": self._skipped, "converted": self._converted}
        rfs.update({name: part for name, part in (parts | facts).items() if part})  # type: ignore[typeddict-item]
        return rfs

    def _references(self, names: Mapping[str, str]) -> Iterator[tuple[str, Reference]]:
        for path, node in self._nodes.items():
            inline = self._inline.get(path, {})
            if self._is_compressed(path, inline):
                node = {**node, "codecs": [*node["codecs"], _ZSTD_CODEC]}
                inline = _compress(inline)
            yield (
                metadata_key(path),
                _dump({**node, "attributes": encode_attributes(node["attributes"])}, path),
            )
            for key, (url, *place) in self._chunks.get(path, {}).items():
                yield key, [names[url], *place]
            for key, data in inline.items():
                yield key, encode_inline(data)

    def _is_compressed(self, path: str, inline: Mapping[str, bytes]) -> bool:
        """Whether all chunks of an array are inline and large enough to be worth a codec."""
        referenced = path in self._chunks or path in self._indexes or path in self._generated
        return not referenced and any(len(data) >= COMPRESS_INLINE_FROM for data in inline.values())

    def _array(self, path: str) -> dict[str, Any]:
        node = self._nodes.get(path)
        if node is None or node["node_type"] != "array":
            raise UsageError(f"{path!r} is no array yet; add it with add_array first")
        return node

    def _add_parents(self, path: str) -> None:
        if not path:
            return
        parent = ""
        for part in ["", *path.split("/")[:-1]]:
            parent = f"{parent}/{part}" if parent else part
            if self._nodes.setdefault(parent, group_metadata())["node_type"] == "array":
                raise UsageError(f"{path!r} lies inside the array {parent!r}")


def _compress(inline: Mapping[str, bytes]) -> dict[str, bytes]:
    from numcodecs import Zstd

    codec = Zstd(level=_ZSTD_CODEC["configuration"]["level"])  # type: ignore[index]
    return {key: bytes(codec.encode(data)) for key, data in inline.items()}


def _dump(metadata: Mapping[str, Any], path: str) -> str:
    """Strict JSON; `json` rather than orjson, which writes NaN as null without a word."""
    try:
        return json.dumps(metadata, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except ValueError as error:
        raise UsageError(f"{path!r}: its metadata is no strict JSON: {error}") from error


def _zero(data_type: str | dict[str, Any]) -> Any:
    if isinstance(data_type, str):
        if data_type == "bool":
            return False
        if data_type in ("string", "variable_length_bytes"):
            return ""
        return [0, 0] if data_type.startswith("complex") else 0
    raise UsageError(f"data type {data_type['name']!r} has no default fill value; give one")
