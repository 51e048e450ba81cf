"""One object after the other: what its messages lead to, members of groups and attributes included."""

from __future__ import annotations

import contextlib

from ....refs.byte_range import FileRange
from . import messages as m
from .btree_v2 import read_records
from .datasets import is_contiguous, read_few, walk_dataset
from .datatypes import parse_datatype
from .fields import NOT_UNDERSTOOD, NotUnderstoodError, Walk, address, expect, number
from .fractal_heap import FractalHeap, read_heap, read_object
from .graph import Graph, together
from .groups import read_local_heap, read_members
from .object_header import Message, read_header
from .pointers import follow
from .superblock import with_node_sizes

_BODIES = frozenset({m.DATASPACE, m.DATATYPE, m.OLD_FILL, m.FILL, m.FILTERS, m.LAYOUT, m.EXTERNAL})
_IN_ONE_PIECE = frozenset({m.DATASPACE, m.DATATYPE, m.LAYOUT})
"""What is enough to find the values of a dataset that lies in one piece."""
_BY_NAME, _BY_ORDER = 5, 6
_LINK_IDS = {_BY_NAME: 4, _BY_ORDER: 8}
"""Where the ID of a link is in a record, by type of the records; attributes have it first."""
_LINK_ID_BYTES = 7
_ATTRIBUTE_ID_BYTES = 8
_SHARED = 2
_MAX_SHARED = 8
_SHARED_BITS = {
    m.DATASPACE: m.DATASPACE,
    m.DATATYPE: m.DATATYPE,
    m.OLD_FILL: m.FILL,
    m.FILL: m.FILL,
    m.FILTERS: m.FILTERS,
    m.ATTRIBUTE: m.ATTRIBUTE,
}
"""The bit that says of an index that messages of a type are in it; HDF5 numbers bits as it does types."""


def walk_file(graph: Graph) -> Walk[None]:
    """Everything that can be reached from a superblock."""
    superblock = graph.superblock
    if superblock.extension is not None:
        yield from _read_extension(graph, superblock.extension)
    if superblock.driver is not None:
        yield [FileRange(graph.base + superblock.driver, 512)]
    visit(graph, superblock.root, superblock.table)


def visit(graph: Graph, place: int, table: tuple[int, int] | None = None) -> None:
    """Start walking an object, unless that was done.

    Parameters
    ----------
    graph : Graph
        The file.
    place : int
        Address of its header.
    table : tuple of int, optional
        Addresses of a group's B-tree and local heap, where the link to it says them.
    """
    if not graph.is_new(place):
        return
    graph.start(_walk_object(graph, place))
    if table is not None:
        _start_group(graph, table)


def _read_extension(graph: Graph, place: int) -> Walk[None]:
    for message in (yield from read_header(place, graph.base, graph.sizes)):
        if message.kind == m.NODE_SIZES:
            graph.superblock = with_node_sizes(graph.superblock, message.data)
        elif message.kind == m.SHARED_TABLE:
            yield from _read_shared_table(graph, message.data)
        elif message.kind == m.FILE_SPACE:
            graph.page = m.parse_page(message.data, graph.sizes)
        elif message.kind == m.CACHE_IMAGE:
            image = address(message.data, 1, graph.sizes)
            length = number(message.data, 1 + graph.sizes.address, graph.sizes.length)
            if image is not None:
                yield [FileRange(graph.base + image, length)]


def _read_shared_table(graph: Graph, body: bytes) -> Walk[None]:
    """The table of shared messages: where the heap of each type of message is."""
    place, count = address(body, 1, graph.sizes), number(body, 1 + graph.sizes.address, 1)
    if place is None:
        return
    step = 14 + 2 * graph.sizes.address
    (data,) = yield [FileRange(graph.base + place, 8 + count * step)]
    expect(data, b"SMTB")
    for k in range(count):
        flags = number(data, 6 + k * step, 2)
        heap = address(data, 4 + (k + 1) * step - graph.sizes.address, graph.sizes)
        if heap is not None:
            graph.shared_heaps |= {kind: heap for kind, bit in _SHARED_BITS.items() if flags >> bit & 1}


def _walk_object(graph: Graph, place: int) -> Walk[None]:
    bodies: dict[int, bytes] = {}
    begun: set[int] = set()

    def hear(messages: list[Message]) -> None:
        """Follow what does not have to wait for the rest of the header."""
        for message in messages:
            if message.kind in _BODIES:
                if not message.is_shared:
                    bodies.setdefault(message.kind, message.data)
                continue
            try:
                _follow_message(graph, message)
            except NOT_UNDERSTOOD:
                continue  # the message alone is left to HDF5
        if begun or m.LAYOUT not in bodies:
            return
        if bodies.keys() >= _IN_ONE_PIECE:
            if is_contiguous(graph, bodies[m.LAYOUT]):
                begun.update(bodies)
                graph.start(walk_dataset(graph, place, dict(bodies)))
        else:
            graph.start(read_few(graph, bodies[m.LAYOUT]))

    for message in (yield from read_header(place, graph.base, graph.sizes, hear=hear)):
        if message.kind in _BODIES and message.is_shared:
            with contextlib.suppress(*NOT_UNDERSTOOD):  # the message alone is left to HDF5
                bodies.setdefault(message.kind, (yield from _body(graph, message)))
    if m.LAYOUT in bodies and begun != set(bodies):
        graph.start(walk_dataset(graph, place, bodies))


def _follow_message(graph: Graph, message: Message) -> None:
    """Start what a message of a group, or an attribute, leads to."""
    match message.kind:
        case m.ATTRIBUTE if message.is_shared:
            graph.start(_walk_shared_attribute(graph, message))
        case m.ATTRIBUTE:
            _follow_attribute(graph, message.data)
        case m.SYMBOL_TABLE:
            table = m.parse_symbol_table(message.data, graph.sizes)
            if table is not None:
                _start_group(graph, table)
        case m.LINK:
            _follow_link(graph, message.data)
        case m.LINK_INFO:
            links = m.parse_link_info(message.data, graph.sizes)
            if links is not None:
                graph.start(_walk_links(graph, links))
        case m.ATTRIBUTE_INFO:
            attributes = m.parse_attribute_info(message.data, graph.sizes)
            if attributes is not None:
                graph.start(_walk_attributes(graph, attributes))


def _start_group(graph: Graph, table: tuple[int, int]) -> None:
    tree, heap = table
    if graph.is_new(tree):
        graph.start(_walk_members(graph, tree))
        graph.start(read_local_heap(heap, graph.superblock))


def _walk_members(graph: Graph, tree: int) -> Walk[None]:
    for header, table in (yield from read_members(tree, graph.superblock)):
        visit(graph, header, table)


def _follow_link(graph: Graph, body: bytes) -> None:
    target = m.parse_link(body, graph.sizes)
    if target is not None:
        visit(graph, target)


def _walk_links(graph: Graph, links: m.Dense) -> Walk[None]:
    heap, indexes = yield from _read_dense(graph, links)
    ids = {
        record[_LINK_IDS[kind] : _LINK_IDS[kind] + _LINK_ID_BYTES]
        for kind, records in indexes
        if kind in _LINK_IDS
        for record in records
    }
    for body in (yield from _read_objects(graph, heap, ids)):
        _follow_link(graph, body)


def _walk_attributes(graph: Graph, attributes: m.Dense) -> Walk[None]:
    heap, indexes = yield from _read_dense(graph, attributes)
    records = {record for _, records in indexes for record in records}
    ids = {bool(record[_ATTRIBUTE_ID_BYTES] & _SHARED): set[bytes]() for record in records}
    for record in records:
        ids[bool(record[_ATTRIBUTE_ID_BYTES] & _SHARED)].add(record[:_ATTRIBUTE_ID_BYTES])
    bodies = yield from _read_objects(graph, heap, ids.get(False, set()))
    if True in ids:
        shared = yield from _shared_heap(graph, m.ATTRIBUTE)
        bodies += yield from _read_objects(graph, shared, ids[True])
    for body in bodies:
        _follow_attribute(graph, body)


def _read_dense(graph: Graph, dense: m.Dense) -> Walk[tuple[FractalHeap, list[tuple[int, list[bytes]]]]]:
    base, sizes = graph.base, graph.sizes
    trees = [read_records(tree, base, sizes) for tree in dense.trees]
    heap, *indexes = yield from together([read_heap(dense.heap, base, sizes), *trees])
    return heap, indexes


def _read_objects(graph: Graph, heap: FractalHeap, ids: set[bytes]) -> Walk[list[bytes]]:
    """Objects of a heap in one batch."""
    found: list[bytes] = yield from together([read_object(heap, each, graph.base) for each in sorted(ids)])
    return found


def _follow_attribute(graph: Graph, body: bytes) -> None:
    attribute = m.parse_attribute(body)
    if attribute.datatype.is_shared or attribute.dataspace.is_shared:
        graph.start(_walk_attribute(graph, attribute))
    else:
        follow(graph, attribute.value, parse_datatype(attribute.datatype.data, graph.sizes))


def _walk_attribute(graph: Graph, attribute: m.Attribute) -> Walk[None]:
    """An attribute whose datatype or dataspace is elsewhere; HDF5 reads both."""
    parts = (
        _body(graph, Message(m.DATATYPE, attribute.datatype.data, attribute.datatype.is_shared)),
        _body(graph, Message(m.DATASPACE, attribute.dataspace.data, attribute.dataspace.is_shared)),
    )
    datatype, _ = yield from together(parts)
    follow(graph, attribute.value, parse_datatype(datatype, graph.sizes))


def _walk_shared_attribute(graph: Graph, message: Message) -> Walk[None]:
    _follow_attribute(graph, (yield from _body(graph, message)))


def _body(graph: Graph, message: Message, depth: int = 0) -> Walk[bytes]:
    """The body of a message, wherever it is."""
    if not message.is_shared:
        return message.data
    shared = m.parse_shared(message.data, graph.sizes)
    if shared.header is None:
        heap = yield from _shared_heap(graph, message.kind)
        return (yield from read_object(heap, shared.heap_id, graph.base))
    for found in (yield from read_header(shared.header, graph.base, graph.sizes)):
        if found.kind == message.kind and depth < _MAX_SHARED:
            return (yield from _body(graph, found, depth + 1))
    raise NotUnderstoodError("a shared message that is not where it should be")


def _shared_heap(graph: Graph, kind: int) -> Walk[FractalHeap]:
    place = graph.shared_heaps.get(kind)
    if place is None:
        raise NotUnderstoodError("a shared message of a type that has no heap")
    if place not in graph.heaps:
        graph.heaps[place] = yield from read_heap(place, graph.base, graph.sizes)
    return graph.heaps[place]
