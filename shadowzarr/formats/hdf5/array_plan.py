"""What one dataset becomes, before it is in the document.

`datasets` makes a plan without touching the builder, so that a dataset that fails half-way leaves
nothing behind; `add_plan` hands a finished plan to the builder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...access.sources import Source
from ...builder import RfsBuilder
from .chunk_table import ChunkTable
from .object_names import child_path

Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slabs:
    """A dataset that lies in the file in one piece, cut along one axis.

    Attributes
    ----------
    start : int
        Offset of the first slab.
    length : int
        Bytes of a slab.
    count : int
        Number of slabs.
    axis : int
        The axis they follow each other along.
    url : str, optional
        The file they are in, when it is not the one that the dataset is in.
    """

    start: int
    length: int
    count: int
    axis: int
    url: str | None = None


@dataclass(slots=True)
class ArrayPlan:
    """One array of the document.

    Attributes
    ----------
    shape, chunk_shape : tuple of int
        Chunk edges are at least 1.
    data_type : str or dict
        Zarr's.
    codecs : list of dict
        Zarr's, ``bytes`` (or another array-to-bytes codec) first.
    fill_value : JSON
        As `fill_values.json_fill` gives it.
    attributes : dict
        Those of the convention (``_DTYPE`` …); the dataset's own are added to them.
    chunks : ChunkTable, optional
        Chunks in the file, offsets absolute.
    slabs : Slabs, optional
        Or a dataset in one piece.
    elsewhere : list of (str, ChunkTable)
        Chunks in other files, by URL; each URL once.
    sources : list of Source
        The other files.
    inline : dict of tuple to bytes
        Chunks held in the document, encoded; they win over the others.
    converted : list of str
        What was changed on the way.
    dimension_names : tuple of (str or None)
        Names of the dataset's axes; empty when none has one.
    lost_fill : bytes, optional
        The fill value as a chunk holds it, when zarr does not read it back from ``fill_value``.
    """

    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    data_type: str | dict[str, Any]
    codecs: list[dict[str, Any]]
    fill_value: Any
    attributes: dict[str, Any] = field(default_factory=dict)
    chunks: ChunkTable | None = None
    slabs: Slabs | None = None
    elsewhere: list[tuple[str, ChunkTable]] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    inline: dict[Coordinates, bytes] = field(default_factory=dict)
    converted: list[str] = field(default_factory=list)
    dimension_names: tuple[str | None, ...] = ()
    lost_fill: bytes | None = None

    @property
    def count(self) -> int:
        """Number of chunks that are located or held."""
        located = sum(len(table) for table in self.tables())
        return located + len(self.inline) + (self.slabs.count if self.slabs else 0)

    @property
    def nbytes(self) -> int:
        """Bytes of the files that the plan refers to."""
        located = sum(int(table.nbytes.sum()) for table in self.tables())
        return located + (self.slabs.length * self.slabs.count if self.slabs else 0)

    def tables(self) -> list[ChunkTable]:
        """The chunks that are in files, but for those in one piece."""
        return [*([self.chunks] if self.chunks is not None else []), *(table for _, table in self.elsewhere)]


@dataclass(slots=True)
class GroupPlan:
    """A dataset that becomes a group of arrays.

    Attributes
    ----------
    arrays : dict of str to ArrayPlan or GroupPlan
        By name.
    attributes : dict
        Those of the convention.
    converted : list of str
        What was changed on the way.
    """

    arrays: dict[str, ArrayPlan | GroupPlan]
    attributes: dict[str, Any] = field(default_factory=dict)
    converted: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Number of chunks."""
        return sum(plan.count for plan in self.arrays.values())

    @property
    def nbytes(self) -> int:
        """Bytes of the file that the plan refers to."""
        return 0


Plan = ArrayPlan | GroupPlan


def add_plan(
    builder: RfsBuilder, path: str, plan: Plan, *, url: str, chunk_index_threshold: int | None
) -> None:
    """Add what a dataset becomes to the document, with all that is in it.

    Parameters
    ----------
    builder : RfsBuilder
        What collects the document.
    path : str
        The dataset's path.
    plan : ArrayPlan or GroupPlan
        What it becomes.
    url : str
        The source, as it goes into references.
    chunk_index_threshold : int or None
        Written chunks above which there is a chunk index in place of references; None for never.
    """
    if isinstance(plan, GroupPlan):
        builder.add_group(path, plan.attributes)
        for name, member in plan.arrays.items():
            inner = child_path(path, name)
            add_plan(builder, inner, member, url=url, chunk_index_threshold=chunk_index_threshold)
        return
    _add_array(builder, path, plan, url, chunk_index_threshold)


def sources_of(plan: Plan) -> list[Source]:
    """Files beside the dataset's own that a plan refers to."""
    return plan.sources if isinstance(plan, ArrayPlan) else []


def attributes_of(plan: Plan, own: Mapping[str, Any]) -> dict[str, Any]:
    """The dataset's own attributes and those of the convention."""
    return {**own, **plan.attributes}


def _add_array(
    builder: RfsBuilder, path: str, plan: ArrayPlan, url: str, chunk_index_threshold: int | None
) -> None:
    builder.add_array(
        path,
        shape=plan.shape,
        data_type=plan.data_type,
        chunk_shape=plan.chunk_shape,
        codecs=plan.codecs,
        fill_value=plan.fill_value,
        attributes=plan.attributes,
        dimension_names=_axis_names(plan),
    )
    if plan.chunks is not None:
        _add_chunks(builder, path, plan.chunks, url, chunk_index_threshold)
    one_file = len(plan.elsewhere) == 1  # an index names one
    for other, table in plan.elsewhere:
        _add_chunks(builder, path, table, other, chunk_index_threshold if one_file else None)
    if plan.slabs is not None:
        _add_slabs(builder, path, plan.slabs, len(plan.shape), plan.slabs.url or url)
    for coordinates, data in plan.inline.items():
        builder.add_inline_chunk(path, coordinates, data)


def _axis_names(plan: ArrayPlan) -> tuple[str | None, ...] | None:
    """The names with none for the axes of an array datatype."""
    added = len(plan.shape) - len(plan.dimension_names)
    return (*plan.dimension_names, *(None,) * added) if plan.dimension_names and added >= 0 else None


def _add_chunks(
    builder: RfsBuilder,
    path: str,
    chunks: ChunkTable,
    url: str,
    chunk_index_threshold: int | None,
) -> None:
    builder.add_chunks(
        path,
        url=url,
        coordinates=chunks.coordinates,
        offsets=chunks.offsets,
        nbytes=chunks.nbytes,
        chunk_index_threshold=chunk_index_threshold,
    )


def _add_slabs(builder: RfsBuilder, path: str, slabs: Slabs, ndim: int, url: str) -> None:
    if slabs.count == 1:
        builder.add_chunk(path, (0,) * ndim, url, slabs.start, slabs.length)
        return
    builder.add_strided_chunks(
        path,
        ndim=ndim,
        url=url,
        start=slabs.start,
        stride=slabs.length,
        length=slabs.length,
        count=slabs.count,
        axis=slabs.axis,
    )
