"""Each byte of a source is fetched once, in bounded memory, whatever the layout."""

import itertools
import math
import random
import tracemalloc

import h5py
import numpy as np
import pytest
import zarr
from materialized import differences

from shadowzarr import generate_rfs, materialize
from shadowzarr.errors import OutputError, UsageError
from shadowzarr.export.materialize import open_units
from shadowzarr.export.materialize.sweep import Cut, choose_sweep
from shadowzarr.testing import RangeServer

ALLOWED = 1.1
"""Bytes fetched for each byte that is stored."""


def opened(folder):
    return zarr.open_group(folder, mode="r", use_consolidated=False)


def stored_size(path):
    with h5py.File(path) as file:
        return sum(node.id.get_storage_size() for node in file.values())


def check(path, out, layout, **options):
    """Materialize over HTTP, compare values, and give the share of the stored bytes that was fetched."""
    with RangeServer(path.parent) as server:
        rfs = generate_rfs(server.url(path.name))
        server.log.clear()
        materialize(rfs, out, layout=layout, **options)
        fetched = server.log.bytes_sent
    assert differences(generate_rfs(path), opened(out)) == []
    return fetched / stored_size(path)


@pytest.fixture(scope="module")
def by_channel(tmp_path_factory):
    """4.8 MB, each chunk one channel for a long time."""
    path = tmp_path_factory.mktemp("once") / "by_channel.h5"
    data = np.random.default_rng(0).integers(-2000, 2000, (40_000, 60)).astype("i2")
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=data, chunks=(20_000, 1), compression="gzip", compression_opts=1)
    return path


@pytest.mark.parametrize(
    "layout",
    [{"chunks": (1000, 60)}, {"chunks": (1700, 7)}, {"chunks": (500, 6), "shards": (4_000, 60)}],
)
@pytest.mark.parametrize("max_memory", [4 * 2**20, 2**30])
def test_a_layout_that_turns_the_array(by_channel, tmp_path, layout, max_memory):
    share = check(by_channel, tmp_path / "out", lambda *_: layout, max_memory=max_memory)
    assert 0.9 < share <= ALLOWED


@pytest.mark.parametrize("layout", [{"chunks": (8_000,)}, {"chunks": (30_000,)}, None])
@pytest.mark.parametrize("chunk", [150, 2000])
def test_small_chunks_between_those_of_others(tmp_path, layout, chunk):
    """Chunks of three arrays in turns: to fetch one with its neighbour would fetch each several times."""
    path, count = tmp_path / "interleaved.h5", 30_000
    values = np.random.default_rng(0).integers(0, 2**31, (3, count)).astype("i4")
    with h5py.File(path, "w") as file:
        made = [file.create_dataset(f"x{n}", (count,), "i4", chunks=(chunk,)) for n in range(3)]
        for start in range(0, count, chunk):  # a little of each in turns
            for one, data in zip(made, values, strict=True):
                one[start : start + chunk] = data[start : start + chunk]
                file.flush()
    assert check(path, tmp_path / "out", lambda *_: layout) <= ALLOWED


class TestMemory:
    """Counted by `tracemalloc`, which numpy and Python tell of each piece of memory that they take."""

    LIMIT = 3 * 2**20

    def peak(self, path, out, layout, limit=LIMIT):
        rfs = generate_rfs(path)
        materialize(rfs, out.with_name("first"), layout=layout)  # what is imported stays
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            materialize(rfs, out, layout=layout, max_memory=limit)
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()

    def test_what_does_not_fit_is_in_the_scratch_file(self, by_channel, tmp_path, monkeypatch):
        written = []
        write = open_units.ScratchFile.write
        monkeypatch.setattr(
            open_units.ScratchFile,
            "write",
            lambda self, data, offset: (written.append(len(data)), write(self, data, offset))[1],
        )
        cut = {"chunks": (1000, 60)}
        peak = self.peak(by_channel, tmp_path / "out", lambda *_: cut)
        assert peak <= self.LIMIT
        assert sum(written) == 40_000 * 60 * 2  # all but nothing was complete with one block
        assert differences(generate_rfs(by_channel), opened(tmp_path / "out")) == []
        assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "out"]

    def test_large_arrays_in_a_small_memory(self, tmp_path):
        path = tmp_path / "x.h5"
        data = np.random.default_rng(0).random((1_500_000,))
        with h5py.File(path, "w") as file:
            file.create_dataset("chunked", data=data, chunks=(20_000,))
            file.create_dataset("one piece", data=data)
        limit = 14 * 2**20  # three times a chunk of 4 MB, which pieces become
        peak = self.peak(path, tmp_path / "out", lambda *_: {"chunks": (30_000,)}, limit)
        assert peak <= limit
        assert differences(generate_rfs(path), opened(tmp_path / "out")) == []

    def test_too_little_is_refused(self, by_channel, tmp_path):
        with pytest.raises(UsageError, match=r"array '/data': .* of memory are needed: .* \(max_memory"):
            materialize(
                generate_rfs(by_channel), tmp_path / "out", layout=lambda *_: {"chunks": (40_000, 60)},
                max_memory=self.LIMIT,
            )  # fmt: skip
        with pytest.raises(UsageError, match="max_memory is 5 bytes; expected"):
            materialize(generate_rfs(by_channel), tmp_path / "out", max_memory=5)
        assert list(tmp_path.iterdir()) == []

    def test_a_scratch_folder_without_room(self, by_channel, tmp_path, monkeypatch):
        full = type("", (), {"f_bavail": 1, "f_frsize": 4096})
        monkeypatch.setattr("shadowzarr.export.materialize.open_units.os.statvfs", lambda _: full)
        cut = {"chunks": (1000, 60)}
        with pytest.raises(OutputError, match="are needed for a while in .* where 4.10 kB are free; give"):
            materialize(
                generate_rfs(by_channel), tmp_path / "out", layout=lambda *_: cut, max_memory=self.LIMIT
            )


@pytest.mark.parametrize("seed", range(100))
def test_no_more_is_open_than_a_sweep_says(seed):
    """Any shapes, any memory, and threads of which some are as slow as can be."""
    rng = random.Random(seed)
    axes = rng.randint(1, 3)
    shape = tuple(rng.randint(1, 24) for _ in range(axes))
    edges = [tuple(rng.randint(1, extent) for extent in shape) for _ in range(2)]
    cut = Cut(shape, *edges, 1)
    sweep = choose_sweep(cut, threads=rng.randint(1, 4), memory=rng.randint(100_000, 300_000), can_spill=True)
    left = {unit: sum(1 for _ in sweep.blocks_of(unit)) for unit in itertools.product(*map(range, cut.units))}
    waiting, at_work, is_open, most, put = sweep.blocks(), [], set(), 0, 0
    while True:
        at_work += itertools.islice(waiting, sweep.threads - len(at_work))
        if not at_work:
            break
        slow = rng.random() < 0.5
        block = at_work.pop(rng.randrange(len(at_work)) if slow else -1)
        put += math.prod(part.stop - part.start for part in sweep.block_region(block))
        for unit in sweep.units_of(block):
            left[unit] -= 1
            (is_open.add if left[unit] else is_open.discard)(unit)
            most = max(most, len(is_open))
    assert put == math.prod(shape)  # each element once
    assert set(left.values()) == {0}
    assert most * cut.nbytes(cut.unit) <= sweep.open_nbytes
