"""Version 1 B-trees of chunks.

HDF5 File Format, III.A.1 "Disk Format: Level 1A1 - Version 1 B-trees", node type 1 (raw data chunks). Nodes
have no checksum. What makes them sound is their order: HDF5 finds a chunk by comparing it with the keys on
the way down, so a chunk that lies outside the bounds of its ancestors is in the tree and is never found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .entries import Entries
from .layout import ChunkIndexLayout
from .nodes import AddressSpace, Bytes2D, Walk
from .numbers import fields_at, precedes, unsigned
from .refusal import sound, understood

_SIGNATURE = np.frombuffer(b"TREE", np.uint8)
_OF_CHUNKS = 1

Vectors = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Form:
    """Where things are in a node.

    Attributes
    ----------
    edges : tuple of int
        Chunk shape and the element size: the units of the offsets in a key.
    most : int
        Most children of a node.
    header, key, entry : int
        Bytes before the first key, of a key, and of a key with its child.
    """

    edges: tuple[int, ...]
    most: int
    header: int
    key: int
    entry: np.dtype[np.void]

    @property
    def node(self) -> int:
        """Bytes of a node: there is one key more than children."""
        return self.header + self.most * self.entry.itemsize + self.key


@dataclass(frozen=True, slots=True)
class _Level:
    """The entries of all nodes of a level, in order.

    Attributes
    ----------
    children, nbytes : numpy.ndarray
        uint64: addresses, and the stored sizes of chunks.
    masks : numpy.ndarray
        uint32: filters that were skipped.
    scaled : numpy.ndarray
        Shape (entries, axes + 1): the keys, in chunks.
    ends : numpy.ndarray
        Shape (entries, axes + 1): the keys before which what is below them lies. Empty for the lowest level,
        which may have millions of entries.
    """

    children: npt.NDArray[np.uint64]
    nbytes: npt.NDArray[np.uint64]
    masks: npt.NDArray[np.uint32]
    scaled: Vectors
    ends: Vectors


def walk_v1_btree(layout: ChunkIndexLayout, space: AddressSpace) -> Walk[Entries]:
    """Walk a version 1 B-tree, a level at a time."""
    form = _form_of(layout)
    (rows,) = yield [space.group(layout.storage.address or 0, form.node)]
    depth = int(rows[0, 5])
    level = _decode(rows, form, depth, None)
    for height in reversed(range(depth)):
        if not len(level.children):
            break
        (rows,) = yield [space.group(level.children, form.node)]
        level = _decode(rows, form, height, level)
    return _chunks(level, layout)


def _form_of(layout: ChunkIndexLayout) -> _Form:
    storage, sizes = layout.storage, layout.sizes
    edges = (*storage.edges, storage.element_size)
    entry = np.dtype(
        [
            ("nbytes", "<u4"),
            ("mask", "<u4"),
            ("offsets", "<u8", (len(edges),)),
            ("child", f"<u{sizes.offset_size}"),
        ]
    )
    key = 8 + 8 * len(edges)
    return _Form(edges, 2 * sizes.chunk_btree_k, 8 + 2 * sizes.offset_size, key, entry)


def _decode(rows: Bytes2D, form: _Form, height: int, above: _Level | None) -> _Level:
    sound((rows[:, :4] == _SIGNATURE).all(), "a B-tree node without its signature")
    sound((rows[:, 4] == _OF_CHUNKS).all(), "a B-tree node of another type")
    sound((rows[:, 5] == height).all(), "a B-tree node of another level")
    used = unsigned(rows[:, 6:8]).astype(np.int64)
    understood((used <= form.most).all(), "a B-tree node with more children than are expected")
    sound(above is None or (used > 0).all(), "an empty B-tree node")
    entries = rows[:, form.header : form.header + form.most * form.entry.itemsize].view(form.entry)
    is_used = np.arange(form.most) < used[:, None]
    scaled = _scaled(entries["offsets"], is_used, form)
    ends = scaled[:0]
    if len(scaled):
        bounds = _bounds(rows, used, form, scaled, above)
        _check_order(scaled, np.cumsum(used), bounds)
        ends = _ends(scaled, np.cumsum(used), bounds) if height else ends
    fields = [entries[name][is_used] for name in ("child", "nbytes", "mask")]
    children, nbytes = (field.astype(np.uint64, copy=False) for field in fields[:2])
    return _Level(children, nbytes, fields[2].astype(np.uint32, copy=False), scaled, ends)


def _bounds(
    rows: Bytes2D, used: npt.NDArray[np.int64], form: _Form, scaled: Vectors, above: _Level | None
) -> Vectors:
    """The keys before which the entries of each node lie: its last key, or what its ancestors say."""
    last_keys = fields_at(rows, form.header + used * form.entry.itemsize, form.key)
    bounds = _scaled(last_keys.view("<u8")[:, None, 1:], np.ones((len(rows), 1), np.bool_), form)
    if above is None:
        return bounds
    firsts = scaled[np.cumsum(used) - used]
    sound(not precedes(firsts, above.scaled).any(), "a B-tree node before its parent's key")
    return np.where(precedes(above.ends, bounds)[:, None], above.ends, bounds)


def _check_order(scaled: Vectors, stops: npt.NDArray[np.int64], bounds: Vectors) -> None:
    """Each key before the next of its node, and the last one before the node's bound."""
    is_ordered = precedes(scaled[:-1], scaled[1:])
    is_ordered[stops[:-1] - 1] = True
    is_bounded = precedes(scaled[stops - 1], bounds)
    sound(is_ordered.all() and is_bounded.all(), "a B-tree node whose keys are not in order")


def _ends(scaled: Vectors, stops: npt.NDArray[np.int64], bounds: Vectors) -> Vectors:
    ends = np.empty_like(scaled)
    ends[:-1] = scaled[1:]
    ends[stops - 1] = bounds
    return ends


def _scaled(offsets: npt.NDArray[np.uint64], is_used: npt.NDArray[np.bool_], form: _Form) -> Vectors:
    """Offsets of the keys that are used, which count elements, in chunks."""
    scaled = np.empty((int(is_used.sum()), len(form.edges)), np.int64)
    for axis, edge in enumerate(form.edges):  # by one divisor at a time, which is several times faster
        starts = offsets[..., axis][is_used].astype(np.int64)
        sound(not len(starts) or starts.min() >= 0, "a B-tree key past the largest dataset")
        scaled[:, axis] = chunks = starts // edge
        sound((chunks * edge == starts).all(), "a B-tree key that is not the start of a chunk")
    return scaled


def _chunks(level: _Level, layout: ChunkIndexLayout) -> Entries:
    sound(not level.scaled[:, -1].any(), "a B-tree key inside an element")
    sound(not (level.children == layout.sizes.undefined).any(), "a B-tree entry without a chunk")
    coordinates = level.scaled[:, :-1].copy()  # a view would keep the last axis of millions of keys
    return Entries(level.children, level.nbytes, level.masks, coordinates)
