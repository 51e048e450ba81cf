"""References are read from threads, processes and event loops, copied, pickled, and by xarray and dask."""

import asyncio
import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import zarr

from shadowzarr import RfsBuilder, RfsStore, load_rfs, open_rfs, write_rfs

NAMES = ("slabs", "group/indexed", "columns")


def values(group: zarr.Group) -> dict[str, np.ndarray]:
    return {name: np.asarray(group[name][...]) for name in NAMES}


def values_at(path: str) -> dict[str, np.ndarray]:
    return values(open_rfs(path))


@pytest.fixture
def references(recording, tmp_path) -> Path:
    write_rfs(recording.build().build(), tmp_path / "x.shadowzarr")
    return tmp_path / "x.shadowzarr"


@pytest.fixture
def expected(recording) -> dict[str, np.ndarray]:
    return dict(zip(NAMES, (recording.data, recording.indexed(), recording.data[:, [5, 1, 2]]), strict=True))


def check(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name in NAMES:
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda group: pickle.loads(pickle.dumps(group))])
def test_copies(references, expected, again):
    root = open_rfs(references)
    check(values(root), expected)
    check(values(again(root)), expected)
    check(values(zarr.open_group(again(root.store), mode="r")), expected)
    np.testing.assert_array_equal(again(root["slabs"])[5:9], expected["slabs"][5:9])


def test_many_threads_of_one_group_and_of_their_own(references, expected):
    root = open_rfs(references)
    with ThreadPoolExecutor(32) as threads:
        for found in threads.map(lambda _: values(root), range(64)):
            check(found, expected)
        for found in threads.map(values_at, [str(references)] * 32):
            check(found, expected)


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_processes(references, expected, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system starts no processes by {method}")
    root = open_rfs(references)
    check(values(root), expected)
    with ThreadPoolExecutor(1) as thread, multiprocessing.get_context(method).Pool(2) as pool:
        thread.submit(int).result()  # a process of threads is forked
        for found in pool.map_async(values, [root] * 4).get(120):
            check(found, expected)
        for found in pool.map_async(values_at, [str(references)] * 2).get(120):
            check(found, expected)


def test_event_loops_one_after_the_other_and_many_readers_in_each(references, expected):
    store = RfsStore(load_rfs(references))

    async def read() -> dict[str, np.ndarray]:
        group = await zarr.AsyncGroup.open(store, zarr_format=3)
        members = [name async for name, _ in group.members(max_depth=None)]
        assert set(NAMES) <= set(members)
        arrays = [await group.getitem(name) for name in NAMES]
        found = await asyncio.gather(*(array.getitem(...) for array in arrays))
        return dict(zip(NAMES, map(np.asarray, found), strict=True))

    async def read_often() -> None:
        for found in await asyncio.gather(*(read() for _ in range(16))):
            check(found, expected)

    for _ in range(3):
        asyncio.run(read_often())
    check(values(zarr.open_group(store, mode="r")), expected)


@pytest.fixture
def named_axes(recording) -> zarr.Group:
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array(
        "x", shape=[1000, 16], data_type="int16", chunk_shape=[300, 16], dimension_names=["time", "channel"]
    )
    layout = {"url": str(recording.path), "start": 12, "itemsize": 2}
    builder.add_contiguous_chunks("x", shape=[1000, 16], chunk_shape=[300, 16], **layout)
    return open_rfs(builder.build())


@pytest.mark.parametrize("consolidated", [True, False])
def test_xarray(named_axes, recording, consolidated):
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    data = xarray.open_zarr(named_axes.store, consolidated=consolidated, zarr_format=3, chunks=None)
    assert data["x"].dims == ("time", "channel")
    np.testing.assert_array_equal(data["x"][100:700:7, 3], recording.data[100:700:7, 3])


@pytest.mark.parametrize("scheduler", ["threads", "synchronous", "processes"])
def test_dask(references, expected, scheduler):
    dask_array = pytest.importorskip("dask.array", reason="dask is not installed")
    array = dask_array.from_zarr(open_rfs(references)["slabs"])
    np.testing.assert_array_equal(array.compute(scheduler=scheduler), expected["slabs"])
    assert int(array.astype("int64").sum().compute(scheduler=scheduler)) == int(
        expected["slabs"].sum(dtype="int64")
    )
