"""Virtual datasets by references to the chunks of their sources.

Possible when every mapping puts whole chunks of a source, or pieces of one that lies in its file in one
piece, at whole chunks of one grid, and all have the virtual dataset's type and the same codecs. Where no
source is, HDF5 shows the fill value, which is what a chunk without a reference is.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from typing import Any

import h5py
import numpy as np
from h5py import h5d

from ...access.sources import Source
from .array_plan import ArrayPlan
from .chunk_codecs import encode
from .chunk_grid import (
    Grid,
    Indices,
    check_disjoint,
    is_one_piece,
    joined,
    largest_divisor,
    missing,
    no_chunks,
    product,
)
from .chunk_table import ChunkTable
from .dataset_context import DatasetContext
from .dtypes import DType, NotInPlaceError, stored_dtype
from .fill_values import stored_fill
from .h5_filters_to_codecs import CodecChain, NoCodecError
from .hyperslabs import NotRegularError, Segment, paired_axes, segments
from .in_place import InPlace
from .linked_files import HDF5File, Place
from .object_names import absolute
from .opened_object import OpenedDataset
from .other_files import MissingFileError
from .reasons import CannotRepresentError, reading
from .userblock import offset_shift
from .virtual_sources import SAME_FILE, VirtualSource, virtual_sources

MOST_CHUNKS = 4_000_000
"""Chunks of the virtual dataset that are looked at."""

MOST_FILLED = 10_000
"""Chunks that are held because their source shows another fill value than the virtual dataset."""

LEAST_CHUNK_BYTES = 512
FEW_CHUNKS = 1000
"""More chunks than this, and smaller ones than that, are not worth a request each."""

_ANY_SIZE = 2**63


@dataclass(frozen=True, slots=True)
class Found:
    """A source that is there.

    Attributes
    ----------
    plan : ArrayPlan
        What it is in its own file.
    file : Source
        That file.
    shape : tuple of int
        Of the source.
    start : int or None
        Where it begins, when it lies there in one piece.
    fill : bytes
        What it shows where nothing was written.
    """

    plan: ArrayPlan
    file: Source
    shape: tuple[int, ...]
    start: int | None
    fill: bytes

    @property
    def is_written(self) -> bool:
        """Whether there is any chunk."""
        return self.start is not None or self.plan.chunks is not None


@dataclass(frozen=True, slots=True)
class Mapped:
    """One mapping whose source is there.

    Attributes
    ----------
    found : Found
        The source.
    segments : dict of int to list of Segment
        By axis of the virtual dataset.
    pairs : dict of int to int
        Axis of the source, by axis of the virtual dataset.
    fixed : dict of int to int
        The one element along each other axis of the virtual dataset.
    fixed_source : dict of int to int
        The same of the source.
    """

    found: Found
    segments: dict[int, list[Segment]]
    pairs: dict[int, int]
    fixed: dict[int, int]
    fixed_source: dict[int, int]


def plan_virtual(dataset: h5py.Dataset, context: DatasetContext) -> ArrayPlan:
    """References to the chunks of the sources.

    Raises
    ------
    NotInPlaceError, NoCodecError
        When there are none; the values may be copied.
    CannotRepresentError
        When a source must not be read.
    """
    return _Virtual(dataset, context).plan()


class _Virtual:
    def __init__(self, dataset: h5py.Dataset, context: DatasetContext) -> None:
        self._dataset = dataset
        self._context = context
        self._dtype: DType = stored_dtype(dataset.id.get_type())
        self._own = InPlace(OpenedDataset(dataset.id), self._dtype, context)
        self._base, self._axes = self._dtype.subdtype or (self._dtype, ())
        self._shape: tuple[int, ...] = tuple(dataset.shape)
        self._fill = stored_fill(dataset.id.get_create_plist(), self._dtype)
        self._sources: dict[tuple[str, str], Found | None] = {}

    def plan(self) -> ArrayPlan:
        if not self._context.file.is_judged and None in self._dataset.maxshape:
            raise CannotRepresentError(
                "a virtual dataset without an end, whose extent h5py tells of a local file only"
            )
        nbytes = math.prod(self._shape) * self._dtype.itemsize
        if not self._shape or nbytes == 0:
            raise NotInPlaceError("a virtual dataset without elements, or of one")
        mapped = [item for item in map(self._mapped, virtual_sources(self._dataset)) if item is not None]
        written = [item for item in mapped if item.found.is_written]
        if len({str(_without_levels(item.found.plan.codecs)) for item in written}) > 1:
            raise NotInPlaceError("a virtual dataset whose sources have different codecs")
        if not written and all(item.found.fill == self._fill.tobytes() for item in mapped):
            return self._own.empty(self._shape)
        edges = self._edges(written)
        count = math.prod(-(-extent // edge) for extent, edge in zip(self._shape, edges, strict=True))
        if count > FEW_CHUNKS and math.prod(edges) * self._dtype.itemsize < LEAST_CHUNK_BYTES:
            raise NotInPlaceError("a virtual dataset of pieces that are too small to refer to")
        plan = self._own.empty(edges)
        plan.codecs = list(written[0].found.plan.codecs)
        self._add_chunks(plan, mapped, edges)
        return plan

    def _mapped(self, mapping: VirtualSource) -> Mapped | None:
        """A mapping with its source; None when HDF5 shows the fill value in its place."""
        name = (mapping.file, mapping.dataset)
        if name not in self._sources:
            self._sources[name] = self._found(mapping)
        found = self._sources[name]
        return None if found is None else self._paired(mapping, found)

    def _found(self, mapping: VirtualSource) -> Found | None:
        context, file = self._context, self._context.file
        with contextlib.ExitStack() as stack:
            try:
                if mapping.file != SAME_FILE:
                    file = stack.enter_context(context.files.borrowed(mapping.file, context.file))
                start = Place(file, file.inventory.root)
                place = context.files.resolve(start, absolute(mapping.dataset.lstrip("/")))
            except MissingFileError:
                return None
            if place is None or place.found.kind != "dataset":
                return None
            return self._read(place.file.dataset(place.found), place.file)

    def _read(self, source: h5py.Dataset, file: HDF5File) -> Found:
        with reading("its sources"):
            tid, properties, shape = source.id.get_type(), source.id.get_create_plist(), source.shape
        if properties.get_layout() not in (h5d.CONTIGUOUS, h5d.CHUNKED) or properties.get_external_count():
            raise NotInPlaceError("a virtual dataset whose source has its values elsewhere, or in its header")
        if stored_dtype(tid) != self._dtype or not shape:
            raise NotInPlaceError("a virtual dataset whose source has another type")
        opened, is_own = file.opened, file is self._context.file
        context = replace(
            self._context,
            size=opened.source.size,
            shift=self._context.shift
            if is_own
            else offset_shift(opened.file.userblock_size, [source], opened.read_bytes),
            file=file,
            contiguous_chunk_bytes=_ANY_SIZE,
            is_source=True,
        )
        plan = InPlace(OpenedDataset(source.id), self._dtype, context).plan()
        fill = stored_fill(properties, self._dtype).tobytes()
        return Found(plan, opened.source, shape, plan.slabs.start if plan.slabs is not None else None, fill)

    def _paired(self, mapping: VirtualSource, found: Found) -> Mapped:
        """A mapping, axis by axis."""
        ours, theirs = mapping.virtual, mapping.source
        if ours is None or theirs is None:
            raise NotInPlaceError("a virtual dataset of selections that are no regular hyperslabs")
        ours, theirs = ours.within(self._shape), theirs.within(found.shape)
        if len(theirs.axes) != len(found.shape) or len(ours.axes) != len(self._shape):
            raise NotInPlaceError("a virtual dataset whose source has another number of axes than it says")
        try:
            pairs = dict(paired_axes(ours, theirs))
            along = {
                one: segments(ours.axes[one], theirs.axes[other], (self._shape[one], found.shape[other]))
                for one, other in pairs.items()
            }
        except NotRegularError as error:
            raise NotInPlaceError(f"a virtual dataset of {error}") from error
        if any(end > extent for end, extent in zip(theirs.ends(), found.shape, strict=True)):
            raise NotInPlaceError("a virtual dataset whose source is smaller than what is taken of it")
        fixed = {n: axis[0] for n, axis in enumerate(ours.axes) if n not in pairs}
        fixed_source = {n: axis[0] for n, axis in enumerate(theirs.axes) if n not in pairs.values()}
        return Mapped(found, along, pairs, fixed, fixed_source)

    def _edges(self, written: list[Mapped]) -> tuple[int, ...]:
        """The chunk shape that all mappings share.

        Raises
        ------
        NotInPlaceError
            When there is none.
        """
        chunked = [item for item in written if item.found.start is None]
        if chunked:
            edges = {self._source_edges(item) for item in chunked}
        elif written:
            wanted = [self._piece(item) for item in written]
            edges = {tuple(math.gcd(*column) for column in zip(*wanted, strict=True))}
        else:
            raise NotInPlaceError("a virtual dataset whose sources were never written")
        if len(edges) > 1:
            raise NotInPlaceError("a virtual dataset whose sources have different chunks")
        (found,) = edges
        return found if chunked else self._cut(found)

    def _source_edges(self, item: Mapped) -> tuple[int, ...]:
        """Chunk shape of a source, by axis of the virtual dataset."""
        chunk = item.found.plan.chunk_shape
        return tuple(chunk[item.pairs[n]] if n in item.pairs else 1 for n in range(len(self._shape)))

    def _piece(self, item: Mapped) -> tuple[int, ...]:
        """The largest chunk shape in which a source in one piece can be cut."""
        edges = [1] * len(self._shape)
        ours = {other: one for one, other in item.pairs.items()}
        for other in reversed(range(len(item.found.shape))):
            extent = item.found.shape[other]
            if other not in ours:
                if extent == 1:
                    continue
                break
            one = ours[other]
            parts = item.segments[one]
            is_whole = all(part.source == 0 and part.length == extent for part in parts)
            if is_whole and all(part.virtual % extent == 0 for part in parts):
                edges[one] = extent
                continue
            ends = [part.length for part in parts if part.end != self._shape[one]]
            edges[one] = math.gcd(*(part.virtual for part in parts), *ends) or max(
                (part.length for part in parts), default=1
            )
            break
        return tuple(edges)

    def _cut(self, edges: tuple[int, ...]) -> tuple[int, ...]:
        """A chunk shape of about the wanted size, cut along its first long axis."""
        axis = next((n for n, edge in enumerate(edges) if edge > 1), None)
        if axis is None:
            return edges
        row = math.prod(edges[axis + 1 :]) * self._dtype.itemsize
        most = max(1, self._context.contiguous_chunk_bytes // max(1, row))
        return (*edges[:axis], largest_divisor(edges[axis], most), *edges[axis + 1 :])

    def _add_chunks(self, plan: ArrayPlan, mapped: list[Mapped], edges: tuple[int, ...]) -> None:
        tables: dict[str, list[ChunkTable]] = {}
        taken: list[Indices] = []
        filled: dict[bytes, list[Indices]] = {}
        for item in mapped:
            found, grid = item.found, self._grid(item, edges)
            taken.append(grid.ours)
            if sum(map(len, taken)) > MOST_CHUNKS:
                raise NotInPlaceError(f"a virtual dataset of more than {MOST_CHUNKS:,} chunks")
            table, held = self._chunks(item, grid, edges)
            plan.inline.update(held)
            if len(table):
                tables.setdefault(found.file.url, []).append(table)
            if len(table) or held:
                plan.sources += [found.file] if found.file not in plan.sources else []
            if found.fill != self._fill.tobytes():
                filled.setdefault(found.fill, []).append(missing(grid.ours, table, held))
        check_disjoint(taken)
        self._add_filled(plan, {fill: np.concatenate(rows) for fill, rows in filled.items()})
        plan.elsewhere = [(url, joined(parts)) for url, parts in tables.items()]

    def _add_filled(self, plan: ArrayPlan, filled: dict[bytes, Indices]) -> None:
        """Chunks that the sources lack and that show the sources' fill value, not the virtual dataset's."""
        added: list[bytes] = []
        for fill, rows in filled.items():
            if len(rows) > MOST_FILLED:
                raise NotInPlaceError("a virtual dataset whose sources show fill values of their own")
            chunk = np.empty(plan.chunk_shape, self._base)
            chunk[...] = np.frombuffer(fill, self._base)[0]
            data = encode(CodecChain(tuple(plan.codecs[1:])), chunk.tobytes())
            if data is None:
                raise NoCodecError("a chunk that no source has cannot be encoded")
            added += [data] * len(rows)
            plan.inline.update({(*row, *(0,) * len(self._axes)): data for row in rows.tolist()})
        self._context.budget.charge(added)

    def _grid(self, item: Mapped, edges: tuple[int, ...]) -> Grid:
        """The chunks that a mapping covers, and the element of the source at which each begins."""
        ours: list[Indices] = []
        theirs: dict[int, Indices] = {}
        for axis, edge in enumerate(edges):
            if axis not in item.pairs:
                ours.append(np.array([item.fixed[axis]], np.int64))
                continue
            parts = [self._pieces(axis, edge, part) for part in item.segments[axis]]
            empty = np.zeros(0, np.int64)
            ours.append(np.concatenate([empty, *(one for one, _ in parts)]))
            theirs[item.pairs[axis]] = np.concatenate([empty, *(other for _, other in parts)])
            if math.prod(len(part) for part in ours) > MOST_CHUNKS:
                raise NotInPlaceError(f"a virtual dataset of more than {MOST_CHUNKS:,} chunks")
        every = [
            theirs[item.pairs[axis]] if axis in item.pairs else part * 0 for axis, part in enumerate(ours)
        ]
        return Grid(product(ours), product(every))

    def _pieces(self, axis: int, edge: int, part: Segment) -> tuple[Indices, Indices]:
        if part.virtual % edge or (part.length % edge and part.end != self._shape[axis]):
            raise NotInPlaceError("a virtual dataset of parts that are no whole chunks")
        if part.length > MOST_CHUNKS * edge:
            raise NotInPlaceError(f"a virtual dataset of more than {MOST_CHUNKS:,} chunks")
        numbers = np.arange(-(-part.length // edge), dtype=np.int64)
        return part.virtual // edge + numbers, part.source + edge * numbers

    def _chunks(
        self, item: Mapped, grid: Grid, edges: tuple[int, ...]
    ) -> tuple[ChunkTable, dict[tuple[int, ...], bytes]]:
        """Where the chunks of a mapping are, and those that the source's plan holds."""
        starts = np.zeros((len(grid.ours), len(item.found.shape)), np.int64)
        for one, other in item.pairs.items():
            starts[:, other] = grid.theirs[:, one]
        for other, place in item.fixed_source.items():
            starts[:, other] = place
        if item.found.start is not None:
            return self._pieces_of(item, grid, starts, edges), {}
        if not item.found.is_written:
            return no_chunks(len(self._shape) + len(self._axes)), {}
        return self._chunks_of(item, grid, starts)

    def _pieces_of(self, item: Mapped, grid: Grid, starts: Indices, edges: tuple[int, ...]) -> ChunkTable:
        shape = item.found.shape
        by_source = {other: edges[one] for one, other in item.pairs.items()}
        chunk = [by_source.get(axis, 1) for axis in range(len(shape))]
        if not is_one_piece(chunk, shape, starts):
            raise NotInPlaceError("a virtual dataset of parts that do not lie in one piece")
        steps = np.array([math.prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64)
        itemsize = self._dtype.itemsize
        offsets = item.found.start + itemsize * (starts @ steps)  # type: ignore[operator]
        nbytes = np.full(len(starts), math.prod(chunk) * itemsize, np.uint64)
        masks = np.zeros(len(starts), np.uint32)
        return ChunkTable(self._wide(grid.ours), offsets.astype(np.uint64), nbytes, masks)

    def _chunks_of(
        self, item: Mapped, grid: Grid, starts: Indices
    ) -> tuple[ChunkTable, dict[tuple[int, ...], bytes]]:
        plan, rank = item.found.plan, len(item.found.shape)
        chunk = np.array(plan.chunk_shape[:rank], np.int64)
        if any(plan.chunk_shape[axis] != 1 for axis in item.fixed_source) or (starts % chunk).any():
            raise NotInPlaceError("a virtual dataset of parts that are no whole chunks")
        wanted = dict(zip(map(tuple, (starts // chunk).tolist()), grid.ours.tolist(), strict=True))
        table = plan.chunks
        assert table is not None  # noqa: S101 - the caller looked
        places = [wanted.get(tuple(row)) for row in table.coordinates[:, :rank].tolist()]
        rows = np.array([n for n, place in enumerate(places) if place is not None], np.int64)
        ours = np.array([place for place in places if place is not None], np.int64)
        picked = table[rows]
        zeros = (0,) * len(self._axes)
        held = {
            (*wanted[key[:rank]], *zeros): data for key, data in plan.inline.items() if key[:rank] in wanted
        }
        return replace(picked, coordinates=self._wide(ours.reshape(-1, len(self._shape)))), held

    def _wide(self, coordinates: Indices) -> Indices:
        """Coordinates with one for each axis of an array datatype."""
        zeros = np.zeros((len(coordinates), len(self._axes)), np.int64)
        return np.hstack([coordinates, zeros])


def _without_levels(codecs: list[dict[str, Any]]) -> list[Any]:
    """Codecs without what only matters when something is encoded."""
    return [
        (codec["name"], {k: v for k, v in codec["configuration"].items() if k not in ("level", "clevel")})
        for codec in codecs
    ]
