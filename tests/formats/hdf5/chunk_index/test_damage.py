"""An index with one wrong byte gives what h5py reads, or an error, and never takes long or much memory.

``INDEX_DAMAGE=all`` tries each byte; otherwise some are drawn.
"""

import os
import random
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5d, h5f, h5p, h5s, h5t

from shadowzarr.formats.hdf5 import stored_file
from shadowzarr.formats.hdf5.chunk_index import IndexRefusedError, NodeGroup
from shadowzarr.formats.hdf5.reasons import READ_ERRORS
from shadowzarr.formats.hdf5.stored_file import stored_table

DRAWN = 120
IS_ALL = os.environ.get("INDEX_DAMAGE") == "all"

COUNTS = {"v1": 70, "fixed": 40, "extensible": 300, "v2": 150}
"""Chunks: enough for B-trees of two levels, and for a super block."""


def write(path: Path, kind: str, *, is_filtered: bool) -> None:
    count, is_v1 = COUNTS[kind], kind == "v1"
    maxshape: tuple[Any, ...] = {"extensible": (None, 2), "v2": (None, None)}.get(kind, (count, 2))
    with h5py.File(path, "w", libver="earliest" if is_v1 else "latest") as file:
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_chunk((1, 2))
        if is_filtered:
            properties.set_deflate(1)
        space = h5s.create_simple((count, 2), tuple(h5s.UNLIMITED if n is None else n for n in maxshape))
        made = h5py.Dataset(h5d.create(file.id, b"d", h5t.STD_I32LE, space, properties))
        made[...] = np.arange(1, 2 * count + 1).reshape(count, 2)


CASES = [(kind, is_filtered) for kind in ("v1", "fixed", "extensible", "v2") for is_filtered in (False, True)]


@pytest.mark.parametrize(("kind", "is_filtered"), CASES)
def test_each_byte_of_an_index(
    path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, is_filtered: bool
) -> None:
    write(path, kind, is_filtered=is_filtered)
    places = sorted(set(index_bytes(path, monkeypatch)))
    assert len(places) > 300
    changes = [(place, change) for place in places for change in (0xFF, 0x01)]
    if not IS_ALL:
        changes = random.Random(kind).sample(changes, DRAWN)
    seen = {"same": 0, "refused": 0}
    whole = path.read_bytes()
    for place, change in changes:
        with path.open("r+b") as file:
            file.seek(place)
            file.write(bytes([whole[place] ^ change]))
        seen["same" if is_same(path) else "refused"] += 1
        with path.open("r+b") as file:
            file.seek(place)
            file.write(whole[place : place + 1])
    assert seen["refused"] > len(changes) // 20
    assert is_same(path)


def index_bytes(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The bytes of all nodes that a walk reads."""
    groups: list[NodeGroup] = []
    read = stored_file.read_nodes

    def noted(fd: int, wanted: list[NodeGroup]) -> list[np.ndarray]:
        groups.extend(wanted)
        return read(fd, wanted)

    with monkeypatch.context() as patch, h5py.File(path) as file:
        patch.setattr(stored_file, "read_nodes", noted)
        stored_table(file["d"].id)
    for group in groups:
        for wanted in group.ranges():
            yield from range(wanted.offset, wanted.stop)


def is_same(path: Path) -> bool:
    """Whether the table gives the values that h5py reads; False when it is refused, or its chunks are."""
    data = path.read_bytes()
    with h5py.File(path) as file:
        try:
            table = stored_table(file["d"].id)
        except IndexRefusedError:
            return False
        assert table is not None
        values = np.zeros(file["d"].shape, "<i4")
        is_filtered = file["d"].compression is not None
        for row, (offset, nbytes) in enumerate(
            zip(table.offsets.tolist(), table.nbytes.tolist(), strict=True)
        ):
            stored = data[offset : offset + nbytes]
            is_plain = not is_filtered or table.filter_masks[row] & 1
            try:
                chunk = stored if is_plain else zlib.decompress(stored)
            except zlib.error:
                return False
            if len(chunk) != 8:
                return False
            values[table.coordinates[row, 0]] = np.frombuffer(chunk, "<i4")
        try:
            read = file["d"][...]
        except READ_ERRORS:
            return False
        np.testing.assert_array_equal(values, read)
    return True


def test_an_index_that_leads_round_in_circles(path: Path) -> None:
    """A child that is its own parent."""
    write(path, "v1", is_filtered=False)
    data = bytearray(path.read_bytes())
    root = data.index(b"TREE\x01\x01")
    child = root + 24 + 32
    data[child : child + 8] = root.to_bytes(8, "little")
    path.write_bytes(data)
    with h5py.File(path) as file, pytest.raises(IndexRefusedError, match="another level"):
        stored_table(file["d"].id)


@pytest.mark.parametrize("maxshape", [(h5s.UNLIMITED, 2), (h5s.UNLIMITED, h5s.UNLIMITED), (2**40, 2)])
def test_a_shape_that_no_file_has(path: Path, maxshape: tuple[int, int]) -> None:
    """What is made is as large as what is there, whatever the shape."""
    created, access = h5p.create(h5p.DATASET_CREATE), h5p.create(h5p.FILE_ACCESS)
    created.set_chunk((1, 2))
    access.set_libver_bounds(h5f.LIBVER_LATEST, h5f.LIBVER_LATEST)
    count = 4 if h5s.UNLIMITED in maxshape else 0  # a fixed array would have them all
    with h5py.File(h5f.create(bytes(path), h5f.ACC_TRUNC, None, access)) as file:
        space = h5s.create_simple((2**40, 2), maxshape)
        made = h5py.Dataset(h5d.create(file.id, b"d", h5t.STD_I32LE, space, created))
        if count:
            made[:count] = 1
    with h5py.File(path) as file:
        table = stored_table(file["d"].id)
    assert table is not None
    assert len(table) == count
