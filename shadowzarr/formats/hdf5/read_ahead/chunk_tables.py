"""The walk of a chunk index as one walk among others."""

from __future__ import annotations

from collections.abc import Mapping

from ..chunk_index import ChunkedStorage, ChunkIndexLayout, FieldSizes, walk_index
from ..chunk_table import ChunkTable
from . import messages as m
from .fields import Walk
from .graph import Graph
from .superblock import Superblock


def field_sizes(superblock: Superblock) -> FieldSizes:
    """What a superblock says, as walks of chunk indexes want it."""
    sizes = superblock.sizes
    return FieldSizes(sizes.address, sizes.length, superblock.base, superblock.chunk_internal)


def read_table(
    graph: Graph, place: int, storage: ChunkedStorage, bodies: Mapping[int, bytes], *, is_filtered: bool
) -> Walk[ChunkTable]:
    """The chunks of a dataset, kept in the graph by the address of its header."""
    shape, max_shape = m.parse_shape(bodies[m.DATASPACE], graph.sizes)
    sizes = field_sizes(graph.superblock)
    walk = walk_index(ChunkIndexLayout(storage, shape, max_shape, is_filtered, graph.file_size, sizes))
    try:
        groups = next(walk)
        while True:
            ranges = [group.ranges() for group in groups]
            buffers = yield [each for part in ranges for each in part]
            joined, at = [], 0
            for group, part in zip(groups, ranges, strict=True):
                joined.append(group.joined(buffers[at : at + len(part)]))
                at += len(part)
            buffers.clear()  # the driver holds the same list; an index may be 100 MB
            groups = walk.send(joined)
    except StopIteration as ended:
        table: ChunkTable = ended.value
    graph.tables[place] = table
    return table
