"""The bytes of an HDF5 file that h5py has open, read beside it: where its chunk indexes are.

A file that h5py opened by path is read through the descriptor that HDF5 itself has. Of one that it reads
through a file object, that object has to be registered while the file is open. Files that are open for
writing are left to HDF5, which may hold what is not written yet.
"""

from __future__ import annotations

import contextlib
import os
from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt
from h5py import h5d, h5f, h5fd, h5g, h5i, h5s

from ...access.remfile import Remfile
from ...refs.byte_range import FileRange
from .chunk_index import (
    ChunkIndexLayout,
    IndexRefusedError,
    NodeGroup,
    drive,
    parse_layout,
    walk_index,
)
from .chunk_table import ChunkTable
from .local_nodes import read_nodes, read_range
from .read_ahead.chunk_tables import field_sizes
from .read_ahead.fields import NOT_UNDERSTOOD, Walk
from .read_ahead.messages import DATASPACE, FILTERS, LAYOUT, NODE_SIZES, parse_shape
from .read_ahead.object_header import read_header
from .read_ahead.superblock import LENGTH, Superblock, parse_superblock, with_node_sizes

_MOST_FILES = 64

Bytes2D = npt.NDArray[np.uint8]


class NodeSource(Protocol):
    """Where the bytes of a file come from."""

    size: int

    def read_nodes(self, groups: list[NodeGroup]) -> list[Bytes2D]:
        """Bytes of groups of nodes."""
        ...

    def read_range(self, wanted: FileRange) -> bytes:
        """Bytes of a range; fewer at the end of the file."""
        ...


class StoredFile:
    """A file whose chunk indexes are read here.

    Parameters
    ----------
    source : NodeSource
        Its bytes.
    userblock : int
        Bytes of the user block, after which the superblock is.
    tables : mapping of int to ChunkTable, optional
        Chunks that are known already, by the address of the dataset's object header.

    Raises
    ------
    IndexRefusedError
        When the superblock is not understood.
    """

    def __init__(
        self, source: NodeSource, userblock: int, tables: Mapping[int, ChunkTable] | None = None
    ) -> None:
        self._source = source
        self._tables = tables or {}
        with _refusing():
            self._superblock = self._whole_superblock(userblock)
        self._sizes = field_sizes(self._superblock)

    def chunk_table(self, dataset: h5d.DatasetID, address: int) -> ChunkTable:
        """The chunks of a chunked dataset.

        Parameters
        ----------
        dataset : h5py.h5d.DatasetID
            The dataset.
        address : int
            Of its object header.

        Raises
        ------
        IndexRefusedError
            When the index is not understood, or damaged.
        """
        known = self._tables.get(address)
        if known is not None:
            return known
        return drive(walk_index(self._layout(dataset, address)), self._source.read_nodes)

    def _layout(self, dataset: h5d.DatasetID, address: int) -> ChunkIndexLayout:
        """What the object header says; asking h5py for the same takes longer than a small index."""
        superblock = self._superblock
        with _refusing():
            found = self._walked(read_header(address, superblock.base, superblock.sizes))
            messages = {each.kind: each for each in found}
            storage = parse_layout(messages[LAYOUT].data, self._sizes).chunked
            space, filters = messages[DATASPACE], messages.get(FILTERS)
            if space.is_shared:
                shape, max_shape = _shapes(dataset)
            else:
                shape, max_shape = parse_shape(space.data, superblock.sizes)
            if filters is not None and filters.is_shared:
                is_filtered = dataset.get_create_plist().get_nfilters() > 0
            else:
                is_filtered = filters is not None and filters.data[1] > 0
        if storage is None:
            raise IndexRefusedError("an object header that is not that of a chunked dataset")
        return ChunkIndexLayout(storage, shape, max_shape, is_filtered, self._source.size, self._sizes)

    def _walked[Found](self, walk: Walk[Found]) -> Found:
        """Drive a walk that asks for ranges."""
        try:
            wanted = next(walk)
            while True:
                wanted = walk.send([self._source.read_range(each) for each in wanted])
        except StopIteration as ended:
            found: Found = ended.value
            return found

    def _whole_superblock(self, userblock: int) -> Superblock:
        """The superblock with what its extension says of B-tree nodes."""
        superblock = parse_superblock(self._source.read_range(FileRange(userblock, LENGTH)), userblock)
        if superblock.extension is None:
            return superblock
        header = read_header(superblock.extension, superblock.base, superblock.sizes)
        for message in self._walked(header):
            if message.kind == NODE_SIZES:
                superblock = with_node_sizes(superblock, message.data)
        return superblock


class _LocalSource:
    """A file that HDF5 reads by path."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.size = os.fstat(fd).st_size

    def read_nodes(self, groups: list[NodeGroup]) -> list[Bytes2D]:
        return read_nodes(self._fd, groups)

    def read_range(self, wanted: FileRange) -> bytes:
        return read_range(self._fd, wanted)


class _StreamSource:
    """A file that HDF5 reads through a file object."""

    def __init__(self, stream: Remfile) -> None:
        self._stream = stream
        self.size = stream.source.size or 0

    def read_nodes(self, groups: list[NodeGroup]) -> list[Bytes2D]:
        """Bytes of groups of nodes, fetched in one parallel round."""
        self._stream.prefetch([wanted for group in groups for wanted in group.ranges()])
        return [group.joined([self.read_range(each) for each in group.ranges()]) for group in groups]

    def read_range(self, wanted: FileRange) -> bytes:
        place = self._stream.tell()
        try:
            self._stream.seek(wanted.offset)
            return self._stream.read(wanted.length) or b""
        finally:
            self._stream.seek(place)


_files: OrderedDict[tuple[int, ...], StoredFile | None] = OrderedDict()
"""By HDF5's serial number of the open file, which no other file of the process ever has."""


@contextlib.contextmanager
def registered(
    file: h5f.FileID, stream: Remfile, tables: Mapping[int, ChunkTable] | None = None
) -> Iterator[None]:
    """Have a file known that h5py reads through a file object, as long as it is open.

    Parameters
    ----------
    file : h5py.h5f.FileID
        The open file.
    stream : Remfile
        What h5py reads it through.
    tables : mapping of int to ChunkTable, optional
        Chunks that were found before, by the address of the dataset's object header.
    """
    number = tuple(h5g.get_objinfo(h5g.open(file, b"/")).fileno)
    try:
        _files[number] = StoredFile(_StreamSource(stream), file.get_create_plist().get_userblock(), tables)
    except IndexRefusedError:
        _files[number] = None
    try:
        yield
    finally:
        _files.pop(number, None)


def stored_table(dataset: h5d.DatasetID) -> ChunkTable | None:
    """The chunks of a dataset, from the bytes of its file; None when those are not to be had.

    Raises
    ------
    IndexRefusedError
        When the index is not understood, or damaged.
    """
    found = h5g.get_objinfo(dataset)
    number = tuple(found.fileno)
    if number not in _files:
        _files[number] = _opened_by_path(h5i.get_file_id(dataset))
        while len(_files) > _MOST_FILES:
            _files.popitem(last=False)
    stored = _files[number]
    if stored is None:
        return None
    low, high = found.objno
    return stored.chunk_table(dataset, int(low) | int(high) << 64)


def _opened_by_path(file: h5f.FileID) -> StoredFile | None:
    access = file.get_access_plist()
    if access.get_driver() != h5fd.SEC2 or file.get_intent() != h5f.ACC_RDONLY:
        return None
    source = _LocalSource(file.get_vfd_handle(access))
    try:
        return StoredFile(source, file.get_create_plist().get_userblock())
    except IndexRefusedError:
        return None


def _shapes(dataset: h5d.DatasetID) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    most = dataset.get_space().get_simple_extent_dims(True)
    return tuple(dataset.shape), tuple(None if extent == h5s.UNLIMITED else extent for extent in most)


@contextlib.contextmanager
def _refusing() -> Generator[None]:
    """Refuse bytes that are no such thing."""
    try:
        yield
    except (*NOT_UNDERSTOOD, KeyError) as error:
        raise IndexRefusedError(str(error)) from error
