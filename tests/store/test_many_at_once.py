"""One store used by 64 threads, and by processes that are forked from its user while threads read."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, open_rfs, write_rfs
from shadowzarr.access.http_reader import IN_FLIGHT
from shadowzarr.testing.range_server import RangeServer

THREADS = 64
ROWS, CHANNELS, CHUNK = 6400, 8, 100


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(3).integers(0, 2**15, (ROWS, CHANNELS)).astype("i2")


@pytest.fixture
def served(tmp_path, values):
    """References, with a chunk index, to a file on a server, and the server."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("data", data=values, chunks=(CHUNK, CHANNELS), compression="gzip")
    with RangeServer(tmp_path) as server:
        rfs = generate_rfs(server.url("x.h5"), chunk_index_threshold=1)
        write_rfs(rfs, tmp_path / "refs")
        yield str(tmp_path / "refs"), server


def is_right(array, values, number: int) -> bool:
    """Whether part of the values, another one for each number, is read as it is."""
    first = number * 97 % (ROWS - 250)
    return bool(np.array_equal(array[first : first + 250], values[first : first + 250]))


@pytest.mark.timeout(120)
def test_64_threads_on_one_store(served, values):
    """No more requests are under way than one process may have."""
    place, server = served
    array = open_rfs(place)["data"]
    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(lambda number: is_right(array, values, number), range(4 * THREADS)))
    assert found == [True] * (4 * THREADS)
    print(server.log.max_in_flight, server.log.connections, len(server.log))
    assert server.log.max_in_flight <= IN_FLIGHT
    assert server.log.connections <= IN_FLIGHT


def _read_in_child(array, values, answers) -> None:
    answers.put([is_right(array, values, number) for number in range(20)])


@pytest.mark.timeout(120)
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_that_begin_while_threads_read(served, values, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    place, _ = served
    array, context, ended = open_rfs(place)["data"], multiprocessing.get_context(method), threading.Event()
    answers = context.Queue()

    def read_on(number: int) -> bool:
        found = [is_right(array, values, number)]
        while not ended.is_set():
            found.append(is_right(array, values, number + len(found)))
        return all(found)

    with ThreadPoolExecutor(4) as threads:
        reading = threads.map(read_on, range(4))
        children = [
            context.Process(target=_read_in_child, args=(array, values, answers), daemon=True)
            for _ in range(3)
        ]
        try:
            for child in children:
                child.start()
            assert [answers.get(timeout=90) for _ in children] == [[True] * 20] * 3
        finally:
            ended.set()
        for child in children:
            child.join(timeout=30)
            assert child.exitcode == 0
        assert all(reading)
