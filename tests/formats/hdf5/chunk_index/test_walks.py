"""Nodes made by hand, and what a walk asks for: how many levels, and no more bytes than needed."""

import itertools
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5 import stored_file
from shadowzarr.formats.hdf5.chunk_index import (
    ChunkedStorage,
    ChunkIndexLayout,
    DamagedIndexError,
    FieldSizes,
    IndexRefusedError,
    NodeGroup,
    drive,
    walk_index,
)
from shadowzarr.formats.hdf5.chunk_index.extensible_geometry import Geometry, SuperBlock
from shadowzarr.formats.hdf5.chunk_index.layout import ExtensibleArrayParameters
from shadowzarr.formats.hdf5.chunk_table import ChunkTable
from shadowzarr.formats.hdf5.stored_file import stored_table

K = 2
NODE = 24 + 2 * K * (24 + 8) + 24


def node(level: int, keys: list[int], children: list[int], end: int, **changes: Any) -> bytes:
    """A node of a v1 B-tree of chunks of 10 elements of 4 bytes, each of which says where it begins."""
    head = struct.pack(
        "<4sBBHQQ", changes.get("signature", b"TREE"), changes.get("kind", 1), level, len(keys), 0, 0
    )
    entries = [
        struct.pack("<IIQQQ", 40, 0, start, 0, child) for start, child in zip(keys, children, strict=True)
    ]
    data = head + b"".join(entries) + struct.pack("<IIQQ", 0, 0, end, 0)
    return data + bytes(NODE - len(data))


def layout(size: int, root: int | None = 0, shape: int = 100, **sizes: int) -> ChunkIndexLayout:
    storage = ChunkedStorage(3, "v1_btree", root, (10,), 4)
    return ChunkIndexLayout(storage, (shape,), (None,), False, size, FieldSizes(chunk_btree_k=K, **sizes))


def walked(data: bytes, asked: list[NodeGroup] | None = None, **options: Any) -> ChunkTable:
    def read(groups: list[NodeGroup]) -> list[np.ndarray]:
        if asked is not None:
            asked.extend(groups)
        return [group.joined([data[r.offset : r.stop] for r in group.ranges()]) for group in groups]

    return drive(walk_index(layout(len(data), **options)), read)


def test_a_tree_of_two_levels() -> None:
    root = node(1, [0, 30], [NODE, 2 * NODE], 100)
    data = root + node(0, [0, 10], [7000, 7100], 30) + node(0, [30, 90], [7200, 7300], 100)
    asked: list[NodeGroup] = []
    table = walked(data, asked)
    assert table.coordinates.tolist() == [[0], [1], [3], [9]]
    assert table.offsets.tolist() == [7000, 7100, 7200, 7300]
    assert table.nbytes.tolist() == [40] * 4
    assert [group.offsets.tolist() for group in asked] == [[0], [NODE, 2 * NODE]]


def test_addresses_count_from_the_end_of_the_user_block() -> None:
    data = bytes(512) + node(0, [0, 10], [7000, 7100], 30)
    assert walked(data, base_address=512).offsets.tolist() == [7512, 7612]


def test_chunks_past_the_shape_are_left_out() -> None:
    data = node(0, [0, 10, 40], [7000, 7100, 7200], 50)
    assert walked(data, shape=40).coordinates.tolist() == [[0], [1]]
    assert walked(data, shape=41).coordinates.tolist() == [[0], [1], [4]]


def test_no_chunks() -> None:
    assert len(walked(node(0, [], [], 0))) == 0
    assert len(walked(b"", root=None)) == 0
    assert len(walked(b"", shape=0)) == 0


LEAVES = node(0, [0, 10], [7000, 7100], 30) + node(0, [30, 90], [7200, 7300], 100)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (node(0, [0, 20, 10], [1, 2, 3], 100), "not in order"),
        (node(0, [0, 0], [1, 2], 100), "not in order"),
        (node(0, [0, 10], [1, 2], 10), "not in order"),
        (node(0, [0, 5], [1, 2], 100), "not the start of a chunk"),
        (node(0, [0, 2**63], [1, 2], 2**63 + 8), "past the largest"),
        (node(0, [0], [2**64 - 1], 10), "without a chunk"),
        (node(0, [0], [1], 10, signature=b"TREF"), "signature"),
        (node(0, [0], [1], 10, kind=0), "another type"),
        (node(1, [0, 30], [NODE, 2**40], 100) + LEAVES, "outside the file"),
        (node(1, [0, 30], [NODE, 2**64 - 1], 100) + LEAVES, "outside the file"),
        (node(2, [0, 30], [NODE, 2 * NODE], 100) + LEAVES, "another level"),
        (node(1, [0, 30], [2 * NODE, NODE], 100) + LEAVES, "not in order|before its parent"),
        (node(1, [0, 30], [NODE, NODE], 100) + LEAVES, "before its parent"),
        (node(1, [0, 20], [NODE, 2 * NODE], 60) + LEAVES, "not in order"),
        (node(1, [0, 40], [NODE, 2 * NODE], 100) + LEAVES, "before its parent"),
        (node(1, [0, 30], [NODE, 2 * NODE], 90) + LEAVES, "not in order"),
        (node(1, [0], [NODE], 100) + node(0, [], [], 0), "empty"),
        (node(1, [0, 30, 60, 90], [NODE] * 4, 100) + LEAVES[:NODE], "larger than the file"),
    ],
)
def test_trees_that_contradict_themselves(data: bytes, reason: str) -> None:
    with pytest.raises(DamagedIndexError, match=reason):
        walked(data)


def test_more_children_than_expected_are_not_understood() -> None:
    data = bytearray(node(0, [0], [1], 10))
    data[6] = 2 * K + 1
    with pytest.raises(IndexRefusedError, match="more children") as caught:
        walked(bytes(data))
    assert not isinstance(caught.value, DamagedIndexError)


def test_an_implicit_index_inside_the_file() -> None:
    storage = ChunkedStorage(4, "implicit", 1000, (2, 3), 4)

    def table(size: int) -> ChunkTable:
        made = ChunkIndexLayout(storage, (4, 4), (5, 7), False, size)
        return drive(walk_index(made), lambda _groups: [])

    found = table(1000 + 9 * 24)
    assert found.coordinates.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert found.offsets.tolist() == [1000, 1024, 1072, 1096]
    with pytest.raises(DamagedIndexError, match="after the end"):
        table(1000 + 9 * 24 - 1)


def test_blocks_of_an_extensible_array() -> None:
    """With the parameters that HDF5 uses: 244 elements before the first super block of its own."""
    geometry = Geometry(ExtensibleArrayParameters(32, 4, 4, 16, 10), 8, 8)
    assert geometry.super_blocks == 29
    assert geometry.direct == 4
    blocks = [geometry.super_block(number) for number in range(15)]
    assert blocks[:4] == [
        SuperBlock(0, 1, 16),
        SuperBlock(16, 1, 32),
        SuperBlock(48, 2, 32),
        SuperBlock(112, 2, 64),
    ]
    for one, following in itertools.pairwise(blocks):
        assert following.start == one.start + one.blocks * one.elements
    assert [geometry.pages(block) for block in blocks[11:]] == [0, 0, 2, 2]
    assert geometry.bitmaps(blocks[13]) == 64
    assert geometry.data_block_bytes(blocks[13]) == 4 + 1 + 1 + 8 + 4 + 4


CASES = {
    "v1": ("earliest", (None, 2), {}, 3),
    "v2": ("latest", (None, None), {}, 4),
    "extensible": ("latest", (None, 2), {}, 4),
    "fixed": ("latest", (6000, 2), {}, 2),
    "single": ("latest", (6000, 2), {"chunks": (6000, 2)}, 0),
}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("is_filtered", [False, True])
def test_levels(path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, is_filtered: bool) -> None:
    """Levels of 6,000 chunks, and bytes: hardly more than those of the entries."""
    libver, maxshape, options, levels = CASES[kind]
    if is_filtered:
        options = {**options, "compression": "gzip"}
    with h5py.File(path, "w", libver=libver) as file:
        file.create_dataset(
            "d", data=np.zeros((6000, 2), "i2"), maxshape=maxshape, **{"chunks": (1, 2), **options}
        )
    rounds: list[list[NodeGroup]] = []
    read: Callable[..., Any] = stored_file.read_nodes

    def noted(fd: int, groups: list[NodeGroup]) -> Any:
        rounds.append(groups)
        return read(fd, groups)

    monkeypatch.setattr(stored_file, "read_nodes", noted)
    with h5py.File(path) as file:
        table = stored_table(file["d"].id)
    assert table is not None
    assert len(table) == (1 if kind == "single" else 6000)
    assert len(rounds) == levels
    nbytes = sum(len(group.offsets) * group.length for groups in rounds for group in groups)
    assert nbytes < 6000 * {"v1": 80, "v2": 70}.get(kind, 21 if is_filtered else 9)


def test_a_large_fixed_array_of_which_little_is_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a data block above a megabyte only the pages that were written are read."""
    with h5py.File(path, "w", libver="latest") as file:
        made = file.create_dataset("d", (1_000_000,), "i4", chunks=(1,))
        made[7] = made[999_999] = 3
    read, lengths = stored_file.read_nodes, []

    def noted(fd: int, groups: list[NodeGroup]) -> Any:
        lengths.extend(len(group.offsets) * group.length for group in groups)
        return read(fd, groups)

    monkeypatch.setattr(stored_file, "read_nodes", noted)
    with h5py.File(path) as file:
        table = stored_table(file["d"].id)
    assert table is not None
    assert table.coordinates.tolist() == [[7], [999_999]]
    assert sum(lengths) < 30_000
