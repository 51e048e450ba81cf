"""Damaged and hostile files: a read-ahead ends, within its limits, and raises nothing."""

import random
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5.read_ahead import Limits, read_ahead

from .nodes import NOWHERE, Memory, early_header, early_message
from .test_groups import table, tree
from .test_read_ahead import FILES
from .test_superblock import early

ROUNDS = 400


class AtHand:
    """A file in memory, which counts what is looked at."""

    def __init__(self, content):
        self.content, self.nbytes = content, 0

    def at_hand(self, wanted):
        self.nbytes += wanted.length
        return self.content[wanted.offset : wanted.stop]

    def prefetch(self, ranges, gaps=0):
        raise AssertionError("everything is at hand")


def written(path: Path, build, options) -> bytes:
    with h5py.File(path, "w", **options) as file:
        build(file)
    return path.read_bytes()


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("build", FILES, ids=lambda build: build.__name__)
def test_any_damage(tmp_path, build, libver):
    content = written(tmp_path / "a.h5", build, {"libver": libver})
    whole = AtHand(content)
    found = read_ahead(whole, len(content))
    assert found.tally.abandoned == 0
    assert found.tally.is_complete
    chance = random.Random(5)
    metadata = np.flatnonzero(np.frombuffer(content[:100_000], np.uint8)).tolist()
    for _ in range(ROUNDS // len(FILES)):
        damaged = bytearray(content)
        for place in chance.choices(metadata, k=chance.choice([1, 1, 1, 20])):
            damaged[place] = chance.choice([0, 1, 255, damaged[place] ^ 1 << chance.randrange(8)])
        source = AtHand(bytes(damaged))
        read_ahead(source, len(damaged))
        assert source.nbytes < 30 * whole.nbytes + 2**20


def test_a_file_that_was_cut(tmp_path):
    content = written(tmp_path / "a.h5", FILES[0], {})
    for size in [0, 1, 8, 100, *range(500, len(content), 997)]:
        read_ahead(AtHand(content[:size]), size)


def group(tree_at, heap_at=600):
    return early_header(early_message(17, tree_at.to_bytes(8, "little") + heap_at.to_bytes(8, "little")))


def test_groups_in_circles_end():
    content = bytearray(8192)
    content[:96] = early()
    content[96:136] = group(1000)
    content[1000:1544] = tree(0, 2000).ljust(544, b"\0")
    content[2000:2328] = table((96, 0, (0, 0)), (3000, 1, (1000, 600))).ljust(328, b"\0")
    content[3000:3040] = group(1000)
    source = Memory(content)
    found = read_ahead(source, len(content))
    assert found.tally.is_complete
    assert found.tally.nodes < 20


def test_a_file_that_goes_on_and_on_meets_a_limit():
    """A chain of groups, each in the one before, as long as the file."""
    count = 3000
    content = bytearray(96 + count * 1024)
    content[:96] = early()
    for number in range(count):
        at = 96 + number * 1024
        content[at : at + 40] = group(at + 48)
        content[at + 48 : at + 592] = tree(0, at + 600).ljust(544, b"\0")
        content[at + 600 : at + 928] = table((at + 1024, 0, (0, 0))).ljust(328, b"\0")
    source = Memory(content)
    found = read_ahead(source, len(content), limits=Limits(rounds=50))
    assert (found.tally.levels, found.tally.is_complete) == (50, False)


def test_no_more_than_a_limit_of_bytes_is_fetched():
    content = bytearray(2**20)
    content[:96] = early()
    content[96:136] = group(1000, heap_at=NOWHERE - 1)
    content[1000:1544] = tree(0, *range(2000, 2000 + 32 * 20_000, 20_000)).ljust(544, b"\0")
    source = Memory(content)
    found = read_ahead(source, len(content), limits=Limits(nbytes=5000))
    assert not found.tally.is_complete
    assert sum(length for each in source.rounds for _, length in each) <= 5000
