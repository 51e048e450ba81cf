"""Datasets whose values are in other files: which files, and their values where HDF5 must not be asked.

Through a file object HDF5 opens the same file in place of each source of a virtual dataset, and raw files
by local path. So the values of such a dataset are put together here, from sources that are opened one by
one, by what the file says of its mappings.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import h5py
import numpy as np

from ...access.remfile import Remfile
from ...access.sources import describe
from .neighbours import NotToBeReadError

MOST_NAMES = 100_000
"""Files that a pattern may stand for, and elements along an axis of a mapping, times a hundred."""

Selection = tuple[slice, ...]


def is_elsewhere(dataset: h5py.Dataset) -> bool:
    """Whether a dataset is virtual, or in raw files."""
    return bool(dataset.is_virtual or dataset.id.get_create_plist().get_external_count())


def other_names(dataset: h5py.Dataset) -> list[str]:
    """Names of the other files that hold a dataset's values."""
    if dataset.is_virtual:
        return sorted({name for name, _ in source_names(dataset)} - {"."})
    properties = dataset.id.get_create_plist()
    names = (properties.get_external(number)[0] for number in range(properties.get_external_count()))
    return [name.decode("utf-8", "surrogateescape") for name in names]


def source_names(dataset: h5py.Dataset) -> Iterator[tuple[str, str]]:
    """File and path of each source of a virtual dataset; patterns are spelled out.

    Raises
    ------
    NotToBeReadError
        When they are too many.
    """
    for file, path in {(source.file_name, source.dset_name) for source in dataset.virtual_sources()}:
        if "%b" not in file + path:
            yield file.replace("%%", "%"), path.replace("%%", "%")
            continue
        longest = max(dataset.shape)
        if longest > MOST_NAMES:
            raise NotToBeReadError(f"a pattern of up to {longest:,} sources")
        for number in range(longest):
            yield _numbered(file, number), _numbered(path, number)


def _numbered(name: str, number: int) -> str:
    return "%".join(part.replace("%b", str(number)) for part in name.split("%%"))


class Elsewhere:
    """A dataset whose values are put together from other files; else it is the dataset itself.

    Parameters
    ----------
    dataset : h5py.Dataset
        The dataset, of a file that is read through a file object.
    source : callable
        ``source(file name, path)`` gives a source's dataset; None when there is none.
    raw_file : callable
        ``raw_file(dataset, name)`` gives the URL of a raw file.

    Raises
    ------
    NotToBeReadError
        When the values cannot be put together, or a file must not be read.
    """

    def __init__(
        self,
        dataset: h5py.Dataset,
        source: Callable[[str, str], Any],
        raw_file: Callable[[h5py.Dataset, str], str],
    ) -> None:
        if dataset.dtype.hasobject or not dataset.shape:
            raise NotToBeReadError("h5py reads such values in other files only beside a local file")
        if None in dataset.maxshape and dataset.is_virtual:
            raise NotToBeReadError("h5py knows the extent of a virtual dataset only beside a local file")
        self._dataset = dataset
        self._parts = list(self._mappings(source)) if dataset.is_virtual else []
        self._raw = None if dataset.is_virtual else self._raw_values(raw_file)

    def __getattr__(self, name: str) -> Any:
        """What is not about values is the dataset's own."""
        return getattr(self._dataset, name)

    def __getitem__(self, selection: Selection) -> Any:
        """Values of a region."""
        if self._raw is not None:
            return self._raw[selection]
        bounds = [part.indices(extent) for part, extent in zip(selection, self._dataset.shape, strict=True)]
        base, axes = self._dataset.dtype.subdtype or (self._dataset.dtype, ())
        values = np.empty((*(stop - start for start, stop, _ in bounds), *axes), base)
        values[...] = self._dataset.fillvalue
        for dataset, ours, theirs in self._parts:
            self._put(values, bounds, dataset, ours, theirs)
        return values

    def _mappings(self, source: Callable[[str, str], Any]) -> Iterator[tuple[Any, list[Any], list[Any]]]:
        """Each source, and the indices that are paired along each axis of both sides."""
        for mapping in self._dataset.virtual_sources():
            found = source(mapping.file_name, mapping.dset_name)
            if not isinstance(found, h5py.Dataset):
                continue
            if is_elsewhere(found):
                raise NotToBeReadError("a source of the virtual dataset has its own values elsewhere")
            ours = _indices(mapping.vspace, self._dataset.shape)
            theirs = _indices(mapping.src_space, found.shape)
            long = [[n for n, at in enumerate(side) if len(at) != 1] for side in (ours, theirs)]
            if [len(ours[n]) for n in long[0]] != [len(theirs[n]) for n in long[1]]:
                raise NotToBeReadError("a mapping of the virtual dataset that does not go axis by axis")
            if any((at >= extent).any() for at, extent in zip(theirs, found.shape, strict=True)):
                raise NotToBeReadError("a source of the virtual dataset is smaller than what is taken of it")
            yield found, ours, theirs

    def _put(self, values: Any, bounds: Any, dataset: Any, ours: list[Any], theirs: list[Any]) -> None:
        pairs = iter([n for n, at in enumerate(theirs) if len(at) != 1])
        ours, theirs = list(ours), list(theirs)
        wide = [n for n, at in enumerate(ours) if len(at) != 1]
        partner = dict(zip(wide, pairs, strict=False))
        for axis, (start, stop, _) in enumerate(bounds):
            inside = (ours[axis] >= start) & (ours[axis] < stop)
            if axis in partner:
                theirs[partner[axis]] = theirs[partner[axis]][inside]
            ours[axis] = ours[axis][inside] - start
        if not all(len(at) for at in (*ours, *theirs)):
            return
        block = dataset[tuple(slice(int(at.min()), int(at.max()) + 1) for at in theirs)]
        block = block[np.ix_(*(at - at.min() for at in theirs))]
        values[np.ix_(*ours)] = block.reshape((*map(len, ours), *values.shape[len(ours) :]))

    def _raw_values(self, raw_file: Callable[[h5py.Dataset, str], str]) -> Any:
        """All values of a dataset in raw files."""
        properties = self._dataset.id.get_create_plist()
        base, axes = self._dataset.dtype.subdtype or (self._dataset.dtype, ())
        left = math.prod((*self._dataset.shape, *axes)) * base.itemsize
        data = b""
        for number in range(properties.get_external_count()):
            name, offset, size = properties.get_external(number)
            url = raw_file(self._dataset, name.decode("utf-8", "surrogateescape"))
            with contextlib.closing(Remfile(describe(url))) as stream:
                stream.seek(offset)
                data += stream.read(min(size, left - len(data))) or b""
        if len(data) < left:
            raise NotToBeReadError("its raw files are shorter than the dataset")
        return np.frombuffer(data, base).reshape((*self._dataset.shape, *axes))


def _indices(space: h5py.h5s.SpaceID, shape: tuple[int, ...]) -> list[Any]:
    """The elements that a selection takes along each axis."""
    kind = space.get_select_type()
    if kind == h5py.h5s.SEL_ALL:
        return [np.arange(extent) for extent in shape]
    if kind != h5py.h5s.SEL_HYPERSLABS or not space.is_regular_hyperslab():
        raise NotToBeReadError("a mapping of the virtual dataset that is no regular hyperslab")
    if any(
        count * block > 100 * MOST_NAMES
        for *_, count, block in zip(*space.get_regular_hyperslab(), strict=True)
    ):
        raise NotToBeReadError("a mapping of the virtual dataset that is too long")
    return [
        (start + stride * np.arange(count)[:, None] + np.arange(block)).reshape(-1)
        for start, stride, count, block in zip(*space.get_regular_hyperslab(), strict=True)
    ]
