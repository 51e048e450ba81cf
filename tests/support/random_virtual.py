"""Random virtual arrays beside the arrays of numpy that they stand for, and random operations on both.

What numpy holds is read from the files by code of its own, an element at a time where it matters. What may be
refused is worked out from the documented rules (``docs/virtual-arrays.md``), not from the code.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from shadowzarr import RfsBuilder
from shadowzarr.errors import NeedsDataError
from shadowzarr.refs.data_types import data_type_of
from shadowzarr.virtual import VirtualArray, concatenate, stack

DTYPES = ["u1", "<i2", ">i2", ">u4", "<f8", "V3", "S2", "<M8[s]", [("a", ">i2"), ("b", "u1")]]
ENDS = (0, 3)
"""Bytes that a file has after the last one that is needed."""


@dataclass
class Case:
    """A virtual array and what it stands for.

    Attributes
    ----------
    array : VirtualArray
        Under test.
    values : numpy.ndarray
        What it should read as.
    kinds : set of str
        Of what it is made: ``free`` (no chunk shape asked), ``edges`` (one asked), ``chunks``.
    """

    array: VirtualArray
    values: np.ndarray
    kinds: frozenset[str]


class Files:
    """Writes the files of an example; no name occurs twice, since readers keep files open."""

    numbers = itertools.count()

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, data: bytes) -> str:
        """A new file."""
        path = self.folder / f"{next(self.numbers)}.bin"
        path.write_bytes(data)
        return str(path)


shapes = st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple)
dtypes = st.sampled_from(DTYPES).map(np.dtype)


def noise(draw: Callable, nbytes: int) -> bytes:
    """Bytes that differ from place to place."""
    return np.random.default_rng(draw(st.integers(0, 2**32))).integers(0, 256, nbytes, np.uint8).tobytes()


def edges_of(draw: Callable, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A chunk shape."""
    return tuple(draw(st.integers(1, extent)) for extent in shape)


def place(values: np.ndarray, size: int, at: Callable[[tuple[int, ...]], int], draw: Callable) -> bytes:
    """A file of noise in which each element lies at its place."""
    data = bytearray(noise(draw, size))
    items = values.view(f"V{values.dtype.itemsize}")  # a number by itself has the byte order of the machine
    for index in np.ndindex(values.shape):
        item = items[index].tobytes()
        begin = at(index)
        data[begin : begin + len(item)] = item
    return bytes(data)


def values_of(draw: Callable, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of noise; text without zeros, since numpy drops them at an item's end."""
    data = np.frombuffer(noise(draw, math.prod(shape) * dtype.itemsize), np.uint8)
    if dtype.kind == "S":
        data = data | 1
    return data.view(dtype).reshape(shape)


def contiguous(draw: Callable, files: Files) -> Case:
    """In one piece, with and without a chunk shape."""
    shape, dtype, offset = draw(shapes), draw(dtypes), draw(st.integers(0, 9))
    values = values_of(draw, shape, dtype)
    data = noise(draw, offset) + values.tobytes() + noise(draw, draw(st.sampled_from(ENDS)))
    edges = draw(st.none() | st.just(shape) | st.builds(lambda: edges_of(draw, shape)))
    array = VirtualArray.contiguous(
        files.write(data), shape=shape, dtype=dtype, offset=offset, chunk_shape=edges
    )
    return Case(array, values, frozenset({"free" if edges is None else "edges"}))


def records(draw: Callable, files: Files) -> Case:
    """A row in each record; the file ends with the last row."""
    shape, dtype = draw(shapes), draw(dtypes)
    values = values_of(draw, shape, dtype)
    row = math.prod(shape[1:]) * dtype.itemsize
    skip, tail, offset = (draw(st.integers(0, 4)) for _ in range(3))
    size = offset + (shape[0] - 1) * (skip + row + tail) + skip + row
    data = bytearray(noise(draw, size))
    for number in range(shape[0]):
        begin = offset + number * (skip + row + tail) + skip
        data[begin : begin + row] = values[number : number + 1].tobytes()
    array = VirtualArray.records(
        files.write(bytes(data)),
        shape=shape,
        dtype=dtype,
        record_size=skip + row + tail,
        skip=skip,
        offset=offset,
    )
    return Case(array, values, frozenset({"free"}))


def memory_map(draw: Callable, files: Files) -> Case:
    """A view of a memory map: a field, a slice, other orders of axes."""
    shape, dtype = draw(shapes), draw(dtypes)
    order, field = draw(st.sampled_from("CF")), draw(st.booleans())
    stored = np.dtype([("head", "V3"), ("x", dtype), ("tail", "u1")]) if field else dtype
    offset = draw(st.integers(0, 9))
    path = files.write(noise(draw, offset + math.prod(shape) * stored.itemsize))
    if dtype.kind == "S":
        data = np.fromfile(path, np.uint8) | 1
        data.tofile(path)
    view = np.memmap(path, stored, "r", offset, shape, order)
    view = view["x"] if field else view
    index = tuple(draw(slices(extent, (1, 2, -1))) for extent in shape)
    view = view[index].transpose(draw(st.permutations(range(len(shape)))))
    return Case(VirtualArray.from_memmap(view), np.array(view), frozenset({"free"}))


def blocks(draw: Callable, files: Files) -> Case:
    """A chunk in each record; the last may be cut after what lies in the array."""
    shape, dtype = draw(shapes), draw(dtypes)
    axis = draw(st.integers(0, len(shape) - 1))
    edges = (*shape[:axis], draw(st.integers(1, shape[axis])), *shape[axis + 1 :])
    values = values_of(draw, shape, dtype)
    skip, tail, offset = (draw(st.integers(0, 4)) for _ in range(3))
    nbytes = math.prod(edges) * dtype.itemsize
    record, count = skip + nbytes + tail, -(-shape[axis] // edges[axis])

    def at(index: tuple[int, ...]) -> int:
        block, inside = divmod(index[axis], edges[axis])
        within = np.ravel_multi_index((*index[:axis], inside, *index[axis + 1 :]), edges)
        return int(offset + block * record + skip + within * dtype.itemsize)

    size = max(at(index) for index in np.ndindex(shape)) + dtype.itemsize
    size = draw(st.sampled_from([size, offset + count * record]))
    array = VirtualArray.blocks(
        files.write(place(values, size, at, draw)),
        shape=shape,
        chunk_shape=edges,
        dtype=dtype,
        record_size=record,
        skip=skip,
        offset=offset,
        axis=axis,
    )
    return Case(array, values, frozenset({"chunks"}))


def padded(values: np.ndarray, at: tuple[int, ...], edges: tuple[int, ...]) -> np.ndarray:
    """One chunk of an array, zeros where it reaches past it."""
    chunk = np.zeros(edges, values.dtype)
    part = values[tuple(slice(c * edge, (c + 1) * edge) for c, edge in zip(at, edges, strict=True))]
    chunk[tuple(map(slice, part.shape))] = part
    return chunk


def needed(values: np.ndarray, at: tuple[int, ...], edges: tuple[int, ...]) -> int:
    """Bytes of a chunk up to its last element in the array."""
    inside = np.zeros(edges, bool)
    inside[tuple(slice(0, e - c * n) for e, c, n in zip(values.shape, at, edges, strict=True))] = True
    return int(np.flatnonzero(inside.ravel())[-1] + 1) * values.dtype.itemsize


def chunk_by_chunk(draw: Callable, files: Files) -> Case:
    """Chunks here and there, some missing, those at the end short or not."""
    shape, dtype = draw(shapes), draw(dtypes)
    edges = edges_of(draw, shape)
    values = values_of(draw, shape, dtype).copy()
    grid = tuple(-(-extent // edge) for extent, edge in zip(shape, edges, strict=True))
    chunks: dict[tuple[int, ...], tuple] = {}
    data, shared = b"", draw(st.booleans())
    for at in np.ndindex(*grid):
        if draw(st.integers(0, 9)) == 0:
            values[tuple(slice(c * e, (c + 1) * e) for c, e in zip(at, edges, strict=True))] = np.zeros(
                (), dtype
            )
            continue
        stored = padded(values, at, edges).tobytes()
        if draw(st.booleans()):
            stored = stored[: needed(values, at, edges)]
        if shared:
            chunks[at] = (len(data), len(stored))
            data += stored
        else:
            chunks[at] = (files.write(stored),)
    if shared:
        path = files.write(data)
        chunks = {at: (path, *place) for at, place in chunks.items()}
    given: Any = chunks if len(chunks) < math.prod(grid) or draw(st.booleans()) else list(chunks.values())
    array = VirtualArray.from_chunks(given, shape=shape, dtype=dtype, chunk_shape=edges)
    return Case(array, values, frozenset({"chunks"}))


def document(draw: Callable, files: Files) -> Case:
    """An array of a document: compressed, turned, with an index, held, or another case built."""
    if draw(st.booleans()):
        inner = draw(st.sampled_from([contiguous, records, memory_map, blocks, chunk_by_chunk]))(draw, files)
        builder = RfsBuilder()
        inner.array.add_to(builder, "g/a")
        found = VirtualArray.from_rfs(builder.build(), "g/a")
        return Case(found, inner.values, frozenset({"edges", "chunks"}))
    shape, dtype = draw(shapes), draw(dtypes)
    edges, values = edges_of(draw, shape), values_of(draw, shape, dtype)
    grid = tuple(-(-extent // edge) for extent, edge in zip(shape, edges, strict=True))
    order = draw(st.permutations(range(len(shape))))
    endian = "big" if ">" in str(dtype) else "little"
    codecs = [
        {"name": "transpose", "configuration": {"order": list(order)}},
        {"name": "bytes", "configuration": {"endian": endian}},
        {"name": "numcodecs.zlib", "configuration": {"level": 1}},
    ]
    builder = RfsBuilder()
    builder.add_array("a", shape=shape, data_type=data_type_of(dtype), chunk_shape=edges, codecs=codecs)
    stored = {
        at: zlib.compress(padded(values, at, edges).transpose(order).tobytes()) for at in np.ndindex(*grid)
    }
    path = files.write(b"".join(stored.values()))
    index, begin = np.full((*grid, 2), 2**64 - 1, np.uint64), 0
    how = draw(st.sampled_from(["listed", "index", "held", "mixed"]))
    for at, chunk in stored.items():
        one = how if how != "mixed" else draw(st.sampled_from(["listed", "index", "held"]))
        if one == "held":
            builder.add_inline_chunk("a", at, chunk)
        elif one == "listed":
            builder.add_chunk("a", at, path, begin, len(chunk))
        else:
            index[at] = begin, len(chunk)
        begin += len(chunk)
    if how in ("index", "mixed"):
        builder.add_index("a", path, index)
    return Case(VirtualArray.from_rfs(builder.build(), "a"), values, frozenset({"chunks"}))


LEAVES = [contiguous, records, memory_map, blocks, chunk_by_chunk, document]


def slices(extent: int, steps: tuple[int, ...] = (1, 1, 1, 2, 3, -1, -2)) -> st.SearchStrategy[slice]:
    """Slices of an axis, those with ends left out and past the axis among them."""
    ends = st.none() | st.integers(-extent - 1, extent + 1)
    return st.builds(slice, ends, ends, st.sampled_from(steps))


def part_of(draw: Callable, extent: int) -> Any:
    """What stands for one axis in an index."""
    kinds = ["all", "slice", "slice", "slice"] + (["integer", "list", "mask"] if extent else [])
    match draw(st.sampled_from(kinds)):
        case "all":
            return slice(None)
        case "slice":
            return draw(slices(extent))
        case "integer":
            return draw(st.integers(-extent, extent - 1))
        case "list":
            return draw(st.lists(st.integers(-extent, extent - 1), max_size=5))
        case _:
            return np.array(draw(st.lists(st.booleans(), min_size=extent, max_size=extent)))


def index_of(draw: Callable, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index with one list at most, and none beside an integer."""
    parts = [part_of(draw, extent) for extent in shape[: draw(st.integers(0, len(shape)))]]
    listed = [number for number, part in enumerate(parts) if isinstance(part, list | np.ndarray)]
    for number in listed[1:]:
        parts[number] = slice(None)
    if listed:
        parts = [slice(None) if isinstance(part, int) else part for part in parts]
    return tuple(parts)


def may_refuse_index(case: Case, index: tuple[Any, ...]) -> bool:
    """Whether the rules allow an index to be refused: by the chunks along some axis."""
    for number, part in enumerate(index):
        edge, extent = case.array.chunk_shape[number], case.array.shape[number]
        numbers = np.arange(extent)[part]
        if isinstance(part, int):
            if edge > 1 and "chunks" in case.kinds:
                return True
            continue
        is_run = len(numbers) == 0 or bool((np.diff(numbers) == 1).all())
        if (
            edge > 1
            and "chunks" in case.kinds
            and not (is_run and (not len(numbers) or numbers[0] % edge == 0))
        ):
            return True
        is_forward = len(numbers) < 2 or (np.diff(numbers) > 0).all()
        is_even = len(numbers) < 2 or len(set(np.diff(numbers).tolist())) == 1
        if "edges" in case.kinds and edge > 1 and not (is_forward and is_even):
            return True
    return False


def checked(case: Case, operate: Callable[[], VirtualArray], *, may_refuse: bool) -> VirtualArray | None:
    """The result of an operation; None when it was refused as the rules allow."""
    try:
        return operate()
    except NeedsDataError:
        assert may_refuse, f"refused against the rules: {case.array!r} of {sorted(case.kinds)}"
        return None


def indexed(draw: Callable, case: Case) -> Case:
    """A part."""
    index = index_of(draw, case.array.shape)
    may = may_refuse_index(case, index) or _is_cut(case)
    array = checked(case, lambda: case.array[index], may_refuse=may)
    return case if array is None else Case(array, case.values[(*index, ...)], case.kinds)


def turned(draw: Callable, case: Case) -> Case:
    """Another order of axes."""
    order = draw(st.permutations(range(case.array.ndim)))
    may = _is_cut(case) or "chunks" in case.kinds
    array = checked(case, lambda: case.array.transpose(order), may_refuse=may)
    return case if array is None else Case(array, case.values.transpose(order), case.kinds)


def _is_cut(case: Case) -> bool:
    """Whether strided elements have chunks that are not all of them, whose forms may be none."""
    return "free" not in case.kinds or case.array.chunk_shape != tuple(max(1, n) for n in case.array.shape)


def stacked(draw: Callable, case: Case) -> Case:
    """Several as one with one more axis."""
    if case.array.ndim > 4:
        return case
    others = []
    for _ in range(draw(st.integers(0, 2))):
        index = tuple(slice(None, None, draw(st.sampled_from((1, 1, -1)))) for _ in case.array.shape)
        if not may_refuse_index(case, index) and not _is_cut(case):
            others.append((case.array[index], case.values[(*index, ...)]))
    parts = [(case.array, case.values), *others]
    axis = draw(st.integers(-case.array.ndim - 1, case.array.ndim))
    array = checked(case, lambda: stack([part for part, _ in parts], axis), may_refuse=len(parts) > 1)
    return case if array is None else Case(array, np.stack([part for _, part in parts], axis), case.kinds)


def joined(draw: Callable, case: Case) -> Case:
    """Several end to end."""
    if not case.array.ndim or max(case.array.shape) > 40:
        return case
    axis = draw(st.integers(-case.array.ndim, case.array.ndim - 1))
    edge, extent = case.array.chunk_shape[axis], case.array.shape[axis]
    cut = draw(st.integers(0, extent)) // edge * edge if draw(st.booleans()) else extent
    index = [slice(None)] * case.array.ndim
    index[axis] = slice(cut, None)
    parts = [(case.array, case.values)] * draw(st.integers(1, 2))
    last = checked(case, lambda: case.array[tuple(index)], may_refuse=_is_cut(case))
    if last is not None:
        parts = [*parts, (last, case.values[tuple(index)])]
    array = checked(case, lambda: concatenate([part for part, _ in parts], axis), may_refuse=len(parts) > 1)
    return (
        case if array is None else Case(array, np.concatenate([part for _, part in parts], axis), case.kinds)
    )


OPERATIONS = [indexed, indexed, indexed, turned, stacked, joined]


def chain(draw: Callable, files: Files) -> Case:
    """A random array after some random operations."""
    leaf = draw(st.sampled_from(LEAVES))
    try:
        case: Case = leaf(draw, files)
    except NeedsDataError:
        assert leaf is contiguous  # with a chunk shape whose chunks do not lie in the file so
        case = records(draw, files)
    for _ in range(draw(st.integers(0, 5))):
        case = draw(st.sampled_from(OPERATIONS))(draw, case)
        if case.values.size > 4000:
            break
    return case
