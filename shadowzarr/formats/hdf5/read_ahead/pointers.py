"""Pointers into global heaps in stored elements, and the collections that they lead to.

HDF5 File Format, IV.B "Disk Format: Level 2B - Data Object Data Storage": text and sequences of varying
length are a length, an address and a number, region references an address and a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .datatypes import Datatype, Pointer
from .fields import Sizes, Walk, number
from .global_heap import header_bytes, object_bytes, objects, read_collection
from .graph import Graph

_LENGTH = 4
_INDEX = 4
_FEW = 4  # elements up to which numpy is slower


@dataclass(slots=True)
class _Collection:
    """What is known of a collection from the pointers into it.

    Attributes
    ----------
    nbytes : int
        Bytes that the objects need that it is known to hold.
    nested : dict of int to Datatype
        Objects that hold pointers themselves, by number.
    """

    nbytes: int = 0
    nested: dict[int, Datatype] = field(default_factory=dict)


def follow(graph: Graph, raw: bytes, datatype: Datatype) -> None:
    """Have the collections read that elements point into.

    Parameters
    ----------
    graph : Graph
        The file.
    raw : bytes
        Elements as they are stored, without filters.
    datatype : Datatype
        Theirs.
    """
    if not datatype.pointers or not datatype.size:
        return
    count = len(raw) // datatype.size
    if count == 1 and _is_known(graph, raw, datatype):
        return
    found: dict[int, _Collection] = {}
    find = _find_few if count <= _FEW else _find
    for pointer in datatype.pointers:
        find(found, raw, datatype.size, pointer, graph.sizes)
    for place, collection in found.items():
        if graph.is_new(place) or collection.nested:
            graph.start(_walk_collection(graph, place, collection))


def _is_known(graph: Graph, raw: bytes, datatype: Datatype) -> bool:
    """Whether one element, as in most attributes, is text in a collection that was met before."""
    pointer = datatype.pointers[0]
    if len(datatype.pointers) > 1 or pointer.item is None or pointer.item.pointers:
        return False
    return graph.knows(number(raw, pointer.offset + _LENGTH, graph.sizes.address))


def _walk_collection(graph: Graph, place: int, collection: _Collection) -> Walk[None]:
    expected = header_bytes(graph.sizes) + collection.nbytes
    data = yield from read_collection(place, expected, graph.base, graph.sizes)
    if collection.nested:
        for index, raw in objects(data, graph.sizes):
            if index in collection.nested:
                follow(graph, raw, collection.nested[index])


def _find_few(found: dict[int, _Collection], raw: bytes, size: int, pointer: Pointer, sizes: Sizes) -> None:
    """As `_find`, one element after the other."""
    item = pointer.item
    for at in range(pointer.offset, len(raw) // size * size, size):
        length = 0 if item is None else number(raw, at, _LENGTH)
        start = at if item is None else at + _LENGTH
        place = number(raw, start, sizes.address)
        if not place:
            continue
        collection = found.setdefault(place, _Collection())
        collection.nbytes += object_bytes(0 if item is None else length * item.size, sizes)
        if item is not None and item.pointers:
            collection.nested[number(raw, start + sizes.address, _INDEX)] = item


def _find(found: dict[int, _Collection], raw: bytes, size: int, pointer: Pointer, sizes: Sizes) -> None:
    """Add what one pointer of all elements says."""
    lengths, places, indexes = _columns(raw, size, pointer, sizes)
    there = places != 0
    if pointer.item is None or not pointer.item.pointers:
        item = 0 if pointer.item is None else pointer.item.size
        distinct, inverse = np.unique(places[there], return_inverse=True)
        needed = np.bincount(inverse, _needed(lengths[there] * item, sizes), len(distinct))
        for place, nbytes in zip(distinct.tolist(), needed.tolist(), strict=True):
            found.setdefault(place, _Collection()).nbytes += int(nbytes)
        return
    rows = zip(places[there].tolist(), lengths[there].tolist(), indexes[there].tolist(), strict=True)
    for place, length, index in rows:
        collection = found.setdefault(place, _Collection())
        collection.nbytes += object_bytes(int(length) * pointer.item.size, sizes)
        collection.nested[index] = pointer.item


def _needed(lengths: npt.NDArray[np.float64], sizes: Sizes) -> npt.NDArray[np.float64]:
    return object_bytes(0, sizes) + np.ceil(lengths / 8) * 8


def _columns(
    raw: bytes, size: int, pointer: Pointer, sizes: Sizes
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Lengths, addresses and numbers; floats for lengths, which a damaged file may make huge."""
    count = len(raw) // size
    rows = np.frombuffer(raw, np.uint8, count * size).reshape(count, size)
    at = pointer.offset
    lengths = np.zeros(count)
    if pointer.item is not None:
        lengths = _numbers(rows, at, _LENGTH).astype(np.float64)
        at += _LENGTH
    places = _numbers(rows, at, sizes.address)
    return lengths, places, _numbers(rows, at + sizes.address, _INDEX)


def _numbers(rows: npt.NDArray[np.uint8], at: int, width: int) -> npt.NDArray[np.uint64]:
    if at + width > rows.shape[1]:
        raise ValueError("a pointer that reaches past its element")
    wide = np.zeros((len(rows), 8), np.uint8)
    wide[:, :width] = rows[:, at : at + width]
    return wide.view("<u8")[:, 0]
