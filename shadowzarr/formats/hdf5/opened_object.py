"""One object of a file while it is open: what several modules want to know of it, asked once.

HDF5 makes a new handle for each answer, which takes longer than most of what is done with it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import h5py
from h5py import h5a, h5d, h5f, h5o, h5p, h5s, h5t

from .known_types import KnownType, known_type
from .object_names import absolute, encode_name
from .reasons import reading
from .stored_attributes import ObjectID, StoredAttributes, read_attributes


class OpenedObject:
    """An object that is open; what h5py raises comes out of what is asked for.

    Parameters
    ----------
    item : h5py.h5g.GroupID, h5py.h5d.DatasetID or h5py.h5t.TypeID
        The object.
    """

    def __init__(self, item: ObjectID) -> None:
        self.id: Any = item

    @cached_property
    def attributes(self) -> StoredAttributes:
        """Its attributes."""
        return read_attributes(self.id)

    @cached_property
    def properties(self) -> Any:
        """Its creation properties; a committed datatype has none."""
        return self.id.get_create_plist()

    def has_attribute(self, name: bytes) -> bool:
        """Whether it has an attribute of this name."""
        if self.attributes.rest:
            return bool(h5a.exists(self.id, name))
        return any(attribute.name == name for attribute in self.attributes.found)


class OpenedDataset(OpenedObject):
    """A dataset that is open.

    Parameters
    ----------
    item : h5py.h5d.DatasetID
        The dataset.
    """

    id: h5d.DatasetID
    properties: h5p.PropDCID

    @cached_property
    def tid(self) -> h5t.TypeID:
        """Its datatype."""
        return self.id.get_type()

    @cached_property
    def type(self) -> KnownType:
        """What follows from its datatype."""
        return known_type(self.tid)

    @cached_property
    def layout(self) -> int:
        """How its values are stored, one of ``h5py.h5d``'s constants."""
        return int(self.properties.get_layout())

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """Shape of a chunk, when it is chunked."""
        return tuple(self.properties.get_chunk())

    @cached_property
    def is_foreign(self) -> bool:
        """Whether its values are in other files, or in other datasets."""
        return self.layout == h5d.VIRTUAL or bool(self.properties.get_external_count())

    @cached_property
    def space(self) -> h5s.SpaceID:
        """Its dataspace, in which nothing is selected."""
        return self.id.get_space()

    @cached_property
    def shape(self) -> tuple[int, ...] | None:
        """Its extent; None for a null dataspace."""
        if self.space.get_simple_extent_type() == h5s.NULL:
            return None
        return tuple(self.space.get_simple_extent_dims())

    @cached_property
    def shown(self) -> h5py.Dataset:
        """The dataset as h5py shows it."""
        return h5py.Dataset(self.id)


def opened(item: ObjectID) -> OpenedObject:
    """What asks an open object."""
    return OpenedDataset(item) if isinstance(item, h5d.DatasetID) else OpenedObject(item)


def open_object(file: h5f.FileID, path: str) -> OpenedObject:
    """Open an object of a file, of whatever kind, by its path without leading slash.

    Raises
    ------
    CannotRepresentError
        When h5py cannot.
    """
    with reading():
        return opened(h5o.open(file, encode_name(absolute(path))))


def open_dataset(file: h5f.FileID, path: str) -> OpenedDataset:
    """Open a dataset of a file; as `open_object`."""
    with reading():
        return OpenedDataset(h5d.open(file, encode_name(absolute(path))))
