"""An index with one wrong byte gives what h5py reads, or an error, and never takes long or much memory.

``INDEX_DAMAGE=all`` tries each byte; otherwise some are drawn. ``SEALED_DAMAGES`` is how many changes with
right checksums each kind of index gets; HDF5 may crash on those, so that they are read in a child process.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from damaged_reading import Child
from damages import checksummed, damaged
from h5py import h5d, h5f, h5p, h5s, h5t
from index_reading import is_same

from shadowzarr.formats.hdf5 import stored_file
from shadowzarr.formats.hdf5.chunk_index import IndexRefusedError, NodeGroup
from shadowzarr.formats.hdf5.stored_file import stored_table

DRAWN = 120
SEALED = int(os.environ.get("SEALED_DAMAGES", "60"))
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


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    made = Child()
    yield made
    made.close()


@pytest.mark.parametrize(("kind", "is_filtered"), [case for case in CASES if case[0] != "v1"])
def test_changes_that_checksums_do_not_show(child: Child, path: Path, kind: str, is_filtered: bool) -> None:
    write(path, kind, is_filtered=is_filtered)
    data = path.read_bytes()
    assert len(checksummed(data)) > 2
    source, seen = random.Random(kind), Counter()
    for _ in range(SEALED):
        path.write_bytes(damaged(data, "index", source))
        found = child.ask(f"index {path}")
        if "crash" in found or "hangs" in found:
            alone = child.ask(f"h5py {path}")
            assert "crash" in alone or "hangs" in alone, f"{found}, where h5py gives {alone}"
            seen["HDF5 died"] += 1
            continue
        assert "escaped" not in found, f"{found['escaped']}\n{found['trace']}"
        seen["same" if found["same"] else "refused"] += 1
    print(f"{kind}, {is_filtered}: {dict(seen)}")
    assert seen["same"]
    assert seen["refused"]


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
