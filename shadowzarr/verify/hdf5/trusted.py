"""Which values of the original h5py can be believed: ``whole_chunks`` of a dataset and of its sources.

Decides which chunks need a look. Those that the references lead to need none; those whose values the document
holds do, and those that it does not list, since nothing but h5py speaks for them.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator
from typing import Any

import h5py
import zarr
from h5py import h5s

from ..references import References
from ..regions import Coordinates, Region, chunk_region
from .elsewhere import source_names
from .original_file import MOST_DEPTH, READ_ERRORS, OriginalFile
from .whole_chunks import WholeChunks

Bounds = tuple[tuple[int, ...], tuple[int, ...]]


class Trusted:
    """What h5py shows of one dataset, as far as it can be believed.

    Parameters
    ----------
    original : OriginalFile
        The file, which finds the sources of a virtual dataset.
    references : References
        What the values are compared with.
    dataset : h5py.Dataset
        The dataset, or what stands for one (``elsewhere``).
    path : str
        Of the node.
    """

    def __init__(self, original: OriginalFile, references: References, dataset: Any, path: str) -> None:
        self._original = original
        self._references = references
        self._dataset = dataset
        self._path = path
        # references that lead to another copy say nothing of this file's chunks
        self._is_source = original.location in references.rfs.get("sources", {})
        self._seen: dict[tuple[str, str], set[Coordinates]] = {}

    def complaint(self, region: Region, node: zarr.Array[Any] | None) -> str:
        """Why h5py's values of a region cannot be believed; empty when they can.

        Parameters
        ----------
        region : tuple of slice
            Along the axes of the dataset, and those that an array datatype adds.
        node : zarr.Array or None
            The array that is compared; None when every chunk of the dataset needs a look.

        Raises
        ------
        NotToBeReadError
            When a source must not be read; h5py raises its own errors besides.
        """
        if not self._dataset.is_virtual and self._dataset.chunks is None:
            return ""
        rank = len(self._dataset.shape)
        if node is None or len(region) < rank:
            return self._complaint(self._dataset, region[:rank] if len(region) >= rank else None, MOST_DEPTH)
        for place in _chunks_of(region, node.chunks):
            if not (self._is_source and self._references.is_in_place(self._path, place)):
                part = chunk_region(place, node.chunks, node.shape)[:rank]
                found = self._complaint(self._dataset, part, MOST_DEPTH)
                if found:
                    return found
        return ""

    def _complaint(self, dataset: Any, region: Region | None, depth: int) -> str:
        if dataset.is_virtual:
            return self._of_sources(dataset, region, depth - 1) if depth else ""
        if dataset.chunks is None:
            return ""
        seen = self._seen.setdefault((self._original.location_of(dataset), dataset.name), set())
        return WholeChunks(dataset, seen).complaint(region)

    def _of_sources(self, dataset: Any, region: Region | None, depth: int) -> str:
        for file, path, part in _sources(dataset, region):
            with contextlib.ExitStack() as stack:
                source = self._original.source(dataset, file, path, stack)
                if not isinstance(source, h5py.Dataset):
                    continue
                inside = None if part is None else _within(part, source.shape)
                found = self._complaint(source, inside, depth)
                if found:
                    return f"{path} in {file}, of which it is made: {found}"
        return ""


def _chunks_of(region: Region, chunk_shape: tuple[int, ...]) -> Iterator[Coordinates]:
    parts = zip(region, chunk_shape, strict=True)
    return itertools.product(*(range(part.start // edge, -(-part.stop // edge)) for part, edge in parts))


def _within(region: Region, shape: tuple[int, ...]) -> Region:
    return tuple(slice(part.start, min(part.stop, n)) for part, n in zip(region, shape, strict=True))


def _sources(dataset: Any, region: Region | None) -> Iterator[tuple[str, str, Region | None]]:
    """File and path of each source that a region is made of, and which part of it; None for all."""
    for mapping in dataset.virtual_sources():
        if "%b" in mapping.file_name + mapping.dset_name:
            yield from ((file, path, None) for file, path in source_names(dataset))
            return
    for mapping in dataset.virtual_sources():
        ours, theirs = _bounds(mapping.vspace), _bounds(mapping.src_space)
        part = None if theirs is None else _region(*theirs)
        if region is not None and ours is not None:
            common = _common(region, ours)
            if common is None:
                continue
            if theirs is not None and _is_moved(mapping.vspace, mapping.src_space, ours, theirs):
                part = _moved(common, ours, theirs)
        yield mapping.file_name.replace("%%", "%"), mapping.dset_name.replace("%%", "%"), part


def _bounds(space: h5s.SpaceID) -> Bounds | None:
    """First and last element of a selection along each axis; None when it has no end or says none."""
    if space.get_select_type() in (h5s.SEL_ALL, h5s.SEL_NONE):
        return None
    try:
        first, last = space.get_select_bounds()
    except READ_ERRORS:
        return None
    return tuple(map(int, first)), tuple(map(int, last))


def _region(first: tuple[int, ...], last: tuple[int, ...]) -> Region:
    return tuple(slice(start, end + 1) for start, end in zip(first, last, strict=True))


def _common(region: Region, ours: Bounds) -> Region | None:
    """What a region and a mapping have in common."""
    common = tuple(
        slice(max(part.start, first), min(part.stop, last + 1))
        for part, first, last in zip(region, *ours, strict=True)
    )
    return common if all(part.start < part.stop for part in common) else None


def _is_moved(virtual: h5s.SpaceID, source: h5s.SpaceID, ours: Bounds, theirs: Bounds) -> bool:
    """Whether a mapping takes a solid box of the source as it is."""
    mine, other = (
        tuple(end - start + 1 for start, end in zip(first, last, strict=True))
        for first, last in (ours, theirs)
    )
    return mine == other and all(math.prod(mine) == space.get_select_npoints() for space in (virtual, source))


def _moved(common: Region, ours: Bounds, theirs: Bounds) -> Region:
    return tuple(
        slice(part.start - mine + other, part.stop - mine + other)
        for part, mine, other in zip(common, ours[0], theirs[0], strict=True)
    )
