import os
from pathlib import Path

import numpy as np
import pytest

from shadowzarr.errors import ShortReadError
from shadowzarr.formats.hdf5 import local_nodes
from shadowzarr.formats.hdf5.chunk_index import NodeGroup
from shadowzarr.formats.hdf5.local_nodes import read_nodes, read_range
from shadowzarr.refs.byte_range import FileRange

DATA = np.random.default_rng(0).integers(0, 256, 400_000, np.uint8)


@pytest.fixture
def fd(tmp_path: Path):
    (tmp_path / "file").write_bytes(DATA.tobytes())
    fd = os.open(tmp_path / "file", os.O_RDONLY)
    yield fd
    os.close(fd)


def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    made: list[int] = []
    read = os.preadv

    def noted(fd: int, buffers: list[np.ndarray], offset: int) -> int:
        made.append(offset)
        return read(fd, buffers, offset)

    monkeypatch.setattr(local_nodes.os, "preadv", noted)
    return made


@pytest.mark.parametrize("spacing", [10, 100, 20_000])
def test_nodes_in_any_order(fd: int, spacing: int) -> None:
    offsets = np.random.default_rng(1).permutation(np.arange(7, 400_000 - 100, spacing))
    groups = [NodeGroup(offsets.astype(np.int64), 60), NodeGroup(offsets[:3].astype(np.int64), 9)]
    found = read_nodes(fd, groups)
    for group, rows in zip(groups, found, strict=True):
        expected = DATA[group.offsets[:, None] + np.arange(group.length)]
        assert (rows == expected).all()


def test_near_nodes_are_read_at_once(fd: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = calls(monkeypatch)
    read_nodes(fd, [NodeGroup(np.array([0, 500, 300_000, 1000, 300_300]), 100)])
    assert made == [0, 300_000]


def test_no_nodes(fd: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = calls(monkeypatch)
    (rows,) = read_nodes(fd, [NodeGroup(np.zeros(0, np.int64), 60)])
    assert rows.shape == (0, 60)
    assert made == []


@pytest.mark.parametrize("offsets", [[399_950], [399_700, 399_950]])
def test_a_file_that_became_shorter(fd: int, offsets: list[int]) -> None:
    with pytest.raises(ShortReadError):
        read_nodes(fd, [NodeGroup(np.array(offsets), 100)])


def test_a_range_ends_with_the_file(fd: int) -> None:
    assert read_range(fd, FileRange(399_990, 100)) == DATA[399_990:].tobytes()
