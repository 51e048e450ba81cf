"""The mappings of a virtual dataset, as the file says them (HDF5 File Format, "Virtual Dataset").

Names by a pattern are spelled out here. Nothing is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import h5py
from h5py import h5s

from .hyperslabs import EVERYTHING, Box, box_of
from .reasons import CannotRepresentError, reading

SAME_FILE = "."
"""Name by which a virtual dataset names its own file."""

MOST_SOURCES = 100_000
"""Mappings that are looked at; a pattern may stand for any number."""

_PATTERN = re.compile(r"%(?P<what>[b%])")


@dataclass(frozen=True, slots=True)
class VirtualSource:
    """One mapping.

    Attributes
    ----------
    file : str
        Name of the file, `SAME_FILE` for the dataset's own.
    dataset : str
        Path of the source there.
    virtual, source : Box or None
        What is taken of the source and where it is put; None for a selection that is no regular
        hyperslab.
    """

    file: str
    dataset: str
    virtual: Box | None
    source: Box | None


def virtual_sources(dataset: h5py.Dataset) -> list[VirtualSource]:
    """The mappings of a virtual dataset.

    Raises
    ------
    CannotRepresentError
        When they cannot be read, or are more than `MOST_SOURCES`.
    """
    found = []
    for source in _mappings(dataset):
        found.append(source)
        if len(found) > MOST_SOURCES:
            raise CannotRepresentError(f"a virtual dataset of more than {MOST_SOURCES:,} sources")
    return found


def _mappings(dataset: h5py.Dataset) -> Iterator[VirtualSource]:
    properties = dataset.id.get_create_plist()
    for number in range(properties.get_virtual_count()):
        with reading("its sources"):
            file, name = properties.get_virtual_filename(number), properties.get_virtual_dsetname(number)
            virtual, source = properties.get_virtual_vspace(number), properties.get_virtual_srcspace(number)
        mapping = VirtualSource(file, name, _box(virtual), _box(source))
        if _has_pattern(file) or _has_pattern(name):
            yield from _spelled_out(mapping, dataset.shape)
        else:
            yield replace(mapping, file=_block_name(file, 0), dataset=_block_name(name, 0))


def _box(space: h5s.SpaceID) -> Box | None:
    with reading("its sources"):
        kind = space.get_select_type()
        if kind == h5s.SEL_ALL:
            return EVERYTHING  # such a dataspace is stored without its shape
        if kind == h5s.SEL_NONE:
            return Box(tuple((0, 1, 0, 1) for _ in space.shape))
        return box_of(space)


def _has_pattern(name: str) -> bool:
    return any(match["what"] == "b" for match in _PATTERN.finditer(name))


def _block_name(name: str, number: int) -> str:
    return _PATTERN.sub(lambda match: str(number) if match["what"] == "b" else "%", name)


def _spelled_out(mapping: VirtualSource, shape: tuple[int, ...]) -> Iterator[VirtualSource]:
    """One mapping for each block of the virtual dataset, as far as it reaches now."""
    if mapping.virtual is None:
        raise CannotRepresentError("a pattern of sources whose selection is no regular hyperslab")
    axis = mapping.virtual.unlimited
    if axis is None:
        raise CannotRepresentError("a pattern of sources for a selection that has an end")
    start, stride, _, block = mapping.virtual.axes[axis]
    for number, at in enumerate(range(start, shape[axis], max(1, stride))):
        yield VirtualSource(
            _block_name(mapping.file, number),
            _block_name(mapping.dataset, number),
            mapping.virtual.with_axis(axis, (at, 1, 1, block)),
            mapping.source,
        )
