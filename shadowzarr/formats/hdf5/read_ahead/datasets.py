"""What HDF5 will read of a dataset: its chunk index, and its values when the document will hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....refs.byte_range import FileRange
from ..chunk_index import IndexRefusedError, LayoutMessage, parse_layout
from ..chunk_table import ChunkTable
from . import messages as m
from .chunk_tables import field_sizes, read_table
from .compared_chunks import compared_chunks
from .datatypes import Datatype, parse_datatype
from .fields import NotUnderstoodError, Walk
from .global_heap import read_collection
from .graph import Graph
from .groups import read_local_heap
from .pointers import follow
from .raw_chunks import decoded

INLINE_BELOW = 1024
"""Bytes below which plain values are held in the document, as `in_place` decides."""

MAX_HELD = 64 * 2**20
"""Stored bytes of the values of a dataset; those of a larger one are left to HDF5."""

Bodies = Mapping[int, bytes]
"""Bodies of the messages of an object, by type."""


@dataclass(frozen=True, slots=True)
class _Dataset:
    """What its messages say of a dataset.

    Attributes
    ----------
    datatype : Datatype
        Of an element.
    elements : int
        How many there are.
    layout : LayoutMessage
        How they are stored.
    filters : tuple
        What chunks went through.
    """

    datatype: Datatype
    elements: int
    layout: LayoutMessage
    filters: m.Filters

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.elements * self.datatype.size

    @property
    def is_held(self) -> bool:
        """Whether the document will hold the values."""
        return self.nbytes < INLINE_BELOW if self.datatype.is_plain else self.nbytes <= MAX_HELD


def walk_dataset(graph: Graph, place: int, bodies: Bodies) -> Walk[None]:
    """Read what HDF5 will read of a dataset beside its header.

    Parameters
    ----------
    graph : Graph
        The file.
    place : int
        Address of the dataset's header.
    bodies : mapping
        Its messages.
    """
    if m.EXTERNAL in bodies:
        heap = m.parse_external(bodies[m.EXTERNAL], graph.sizes)
        if heap is not None:
            graph.start(read_local_heap(heap, graph.superblock))
        return
    dataset = _parsed(graph, bodies)
    _follow_fill(graph, bodies, dataset.datatype)
    layout = dataset.layout
    if layout.layout_class == "compact":
        follow(graph, _compact(bodies[m.LAYOUT]), dataset.datatype)
    elif layout.layout_class == "virtual" and layout.address is not None:
        yield from read_collection(layout.address, 0, graph.base, graph.sizes)
    elif layout.layout_class == "contiguous" and layout.address is not None and dataset.is_held:
        if dataset.nbytes:
            (raw,) = yield [FileRange(graph.base + layout.address, dataset.nbytes)]
            follow(graph, raw, dataset.datatype)
    elif layout.chunked is not None and dataset.elements:
        table = yield from read_table(graph, place, layout.chunked, bodies, is_filtered=bool(dataset.filters))
        yield from _follow_chunks(graph, dataset, bodies, table)


def is_contiguous(graph: Graph, layout: bytes) -> bool:
    """Whether a layout message says that the values are in one piece somewhere in the file."""
    try:
        return parse_layout(layout, field_sizes(graph.superblock)).layout_class == "contiguous"
    except IndexRefusedError:
        return False


def read_few(graph: Graph, layout: bytes) -> Walk[None]:
    """Read values in one piece that are so few that they are held, whatever they are.

    Their type may be in a later block of the header.
    """
    found = parse_layout(layout, field_sizes(graph.superblock))
    is_contiguous = found.layout_class == "contiguous"
    if is_contiguous and found.address is not None and 0 < found.size < INLINE_BELOW:
        yield [FileRange(graph.base + found.address, found.size)]


def _follow_fill(graph: Graph, bodies: Bodies, datatype: Datatype) -> None:
    """Have the collections read that a fill value points into."""
    for kind in (m.OLD_FILL, m.FILL):
        if datatype.pointers and kind in bodies:
            follow(graph, m.parse_fill(bodies[kind], kind), datatype)


def _parsed(graph: Graph, bodies: Bodies) -> _Dataset:
    return _Dataset(
        parse_datatype(bodies[m.DATATYPE], graph.sizes),
        m.parse_elements(bodies[m.DATASPACE], graph.sizes),
        parse_layout(bodies[m.LAYOUT], field_sizes(graph.superblock)),
        m.parse_filters(bodies[m.FILTERS]) if m.FILTERS in bodies else (),
    )


def _compact(body: bytes) -> bytes:
    """The values in a layout message of version 3 or later; none of an earlier one."""
    return body[4 : 4 + int.from_bytes(body[2:4], "little")] if body[0] >= 3 else b""


def _follow_chunks(graph: Graph, dataset: _Dataset, bodies: Bodies, table: ChunkTable) -> Walk[None]:
    """Read the chunks that HDF5 will be asked for, and what those of a dataset that is held point to."""
    storage = dataset.layout.chunked
    assert storage is not None  # noqa: S101 - the caller looked
    if not len(table):
        return
    nbytes = storage.chunk_bytes
    if not dataset.is_held and not dataset.datatype.is_plain:
        return
    if not dataset.is_held:
        shape, _ = m.parse_shape(bodies[m.DATASPACE], graph.sizes)
        rows = compared_chunks(table, storage.edges, shape, dataset.filters)
        yield [FileRange(int(table.offsets[row]), int(table.nbytes[row])) for row in rows]
        return
    if len(table) * nbytes > MAX_HELD or float(table.nbytes.sum(dtype=float)) > MAX_HELD:
        raise NotUnderstoodError("chunks of more bytes than are looked at")
    offsets, lengths = table.offsets.tolist(), table.nbytes.tolist()
    chunks = yield [FileRange(offset, length) for offset, length in zip(offsets, lengths, strict=True)]
    if dataset.datatype.pointers:
        for data, mask in zip(chunks, table.filter_masks.tolist(), strict=True):
            follow(graph, decoded(data, dataset.filters, mask, nbytes), dataset.datatype)
