"""Whether h5py can be the judge: whether the chunks that it reads are stored whole.

HDF5 2.0 raises nothing when a chunk decodes to fewer bytes than a chunk has, and shows what was in memory
instead. So chunks whose values the references hold, or leave out, go through the filters by themselves
before h5py's values are believed. Where the references lead to the stored bytes, reading them is that look:
what decodes them refuses another size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cached_property

import h5py
from h5py import h5d, h5f, h5i, h5p, h5s

from ...errors import DamagedSourceError, InvalidReferencesError
from ...hdf5_filters.availability import missing_filter
from ...hdf5_filters.names import Filters
from ...hdf5_filters.pipeline import MARK, decode_chunk
from ...hdf5_types.hdf5_library import leaves_edges_unfiltered
from ..regions import Coordinates, Region
from .original_file import READ_ERRORS

ALL_SKIPPED = 2**32 - 1
"""The mask of a chunk that went through no filter."""

_numbers = itertools.count()  # two files in memory of one name are one to HDF5


class WholeChunks:
    """The stored chunks of one chunked dataset; each is looked at once.

    Parameters
    ----------
    dataset : h5py.Dataset
        The dataset.
    seen : set of tuple of int
        Chunks that were looked at before; more are added.
    """

    def __init__(self, dataset: h5py.Dataset, seen: set[Coordinates]) -> None:
        self._dataset = dataset
        self._edges: tuple[int, ...] = dataset.chunks
        self._seen = seen

    def complaint(self, region: Region | None) -> str:
        """What is wrong with the first chunk in a region that is not whole; empty when all are.

        Parameters
        ----------
        region : tuple of slice or None
            Along the axes of the dataset; None for all of it.
        """
        for place in self._places(region):
            if place in self._seen:
                continue
            self._seen.add(place)
            found = self._complaint_of(place)
            if found:
                return f"its chunk {place}: {found}"
        return ""

    def _places(self, region: Region | None) -> Iterator[Coordinates]:
        whole = tuple(slice(0, extent) for extent in self._dataset.shape)
        parts = zip(whole if region is None else region, self._edges, strict=True)
        return itertools.product(*(range(part.start // edge, -(-part.stop // edge)) for part, edge in parts))

    def _complaint_of(self, place: Coordinates) -> str:
        start = tuple(at * edge for at, edge in zip(place, self._edges, strict=True))
        try:
            mask, stored = self._dataset.id.read_direct_chunk(start)
        except READ_ERRORS:
            return ""  # never written; else h5py raises when it reads the values
        if self._has_plain_edges and self._reaches_past(start):
            mask = ALL_SKIPPED
        used = tuple(entry for number, entry in enumerate(self._filters) if not mask >> number & 1)
        if not used:
            same = len(stored) == self._nbytes
            return "" if same else f"{len(stored):,} bytes are stored, and a whole chunk has {self._nbytes:,}"
        if missing_filter(used) is not None:
            return ""  # h5py raises too
        if bytes(stored[: len(MARK)]) == MARK:
            return "it begins as chunks do that skip filters here, and means something else to HDF5"
        try:
            decode_chunk(used, stored, self._nbytes)
        except (DamagedSourceError, InvalidReferencesError) as error:
            return str(error)
        return ""

    def _reaches_past(self, start: tuple[int, ...]) -> bool:
        ends = zip(start, self._edges, self._dataset.shape, strict=True)
        return any(at + edge > extent for at, edge, extent in ends)

    @cached_property
    def _has_plain_edges(self) -> bool:
        return leaves_edges_unfiltered(self._dataset.id.get_create_plist())

    @cached_property
    def _filters(self) -> Filters:
        """The filters by their place in masks; one that does nothing (n-bit at times) is no different."""
        properties = self._dataset.id.get_create_plist()
        entries = [properties.get_filter(number) for number in range(properties.get_nfilters())]
        return tuple((int(number), tuple(map(int, values))) for number, _, values, _ in entries)

    @cached_property
    def _nbytes(self) -> int:
        return math.prod(self._edges) * stored_itemsize(self._dataset)


def stored_itemsize(dataset: h5py.Dataset) -> int:
    """Bytes of an element in the file, as HDF5 itself makes room for one.

    In memory, text and sequences have another size, and a file decides how long its addresses are.
    """
    creation = h5p.create(h5p.FILE_CREATE)
    creation.set_sizes(*h5i.get_file_id(dataset.id).get_create_plist().get_sizes())
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fapl_core(64 * 1024, False)
    early = h5p.create(h5p.DATASET_CREATE)
    early.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    file = h5f.create(b"shadowzarr-itemsize-%d" % next(_numbers), h5f.ACC_TRUNC, fcpl=creation, fapl=access)
    try:
        made = h5d.create(file, b"one", dataset.id.get_type().copy(), h5s.create_simple((1,)), early)
        return int(made.get_storage_size())
    finally:
        file.close()
