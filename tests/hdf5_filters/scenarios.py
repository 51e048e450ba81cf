"""Situations of a reader in which HDF5's lock is not to be had; each is run in a process of its own.

``python scenarios.py STORE VALUES NAME...`` reads the array ``a`` of a Zarr store in each of the situations
and compares it with an ``.npy``; the names of those that went well are printed.
"""

import asyncio
import gc
import io
import multiprocessing
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np
import zarr
from h5py._objects import phil


def open_array(store):
    return zarr.open_array(store, path="a", mode="r")


def some_file():
    file = h5py.File("some", "w", driver="core", backing_store=False)
    file["x/y"] = np.arange(1000)
    return file


def visititems(store):
    found = []
    with some_file() as file:
        file.visititems(lambda name, item: found.append(open_array(store)[...]))
    return found


def with_phil(store):
    with phil:
        return [open_array(store)[...]]


class ReadsInside(io.BytesIO):
    """A file whose bytes HDF5 asks for, under its lock; each time, the array is read."""

    def __init__(self, content, store):
        super().__init__(content)
        self.store, self.found = store, []

    def readinto(self, buffer):
        if len(self.found) < 3:
            self.found.append(open_array(self.store)[...])
        return super().readinto(buffer)


def file_object(store):
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        file["x"] = np.arange(1000)
    source = ReadsInside(content.getvalue(), store)
    with h5py.File(source) as file:
        assert file["x"][999] == 999
    return source.found


def while_h5py_reads(store):
    """Eight threads, and another that is in HDF5 all the time."""
    file, done = some_file(), threading.Event()

    def read_always():
        while not done.is_set():
            assert file["x/y"][999] == 999

    other = threading.Thread(target=read_always)
    other.start()
    try:
        with ThreadPoolExecutor(8) as threads:
            return list(threads.map(lambda _: open_array(store)[...], range(24)))
    finally:
        done.set()
        other.join()


def with_phil_in_threads(store):
    """As dask does it; one of the threads has the lock."""

    def read(number):
        if number % 8:
            return array[...]
        with phil:
            return array[...]

    array = open_array(store)
    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(read, range(24)))


def running_loop(store):
    """As in Jupyter: under a running event loop."""

    async def cell():
        with phil:
            first = open_array(store)[...]
        array = await zarr.api.asynchronous.open_array(store=store, path="a", mode="r")
        return [first, await array.getitem(...)]

    return asyncio.run(cell())


def read_pickled(content):
    with phil:
        return pickle.loads(content)[...]


def spawned(store):
    open_array(store)[...]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.map(read_pickled, [pickle.dumps(open_array(store))] * 2)


def forked(store):
    before = open_array(store)[...]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with phil:
            os.write(writing, open_array(store)[...].tobytes())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return [before, np.frombuffer(content, before.dtype).reshape(before.shape), open_array(store)[...]]


def writing(store):
    """Encoding goes the same way."""
    with phil:
        values = open_array(store)[...]
        new = zarr.create_array(
            zarr.storage.MemoryStore(),
            shape=values.shape,
            chunks=values.shape,
            dtype=values.dtype,
            compressors=open_array(store).compressors,
        )
        new[...] = values
        return [new[...]]


def collected(store):
    """Garbage with objects of h5py, collected on zarr's thread while the reader has their lock."""

    class Cycle:
        def __init__(self):
            self.me, self.item = self, file["x/y"].id

    async def collect():
        gc.collect()

    file = some_file()
    gc.disable()
    for _ in range(10):
        Cycle()
    with phil:
        zarr.core.sync.sync(collect())
        return [open_array(store)[...]]


def nothing_of_h5py(store):
    """A reader that has not imported h5py need not do so."""
    code = (
        "import sys, zarr; zarr.open_array(sys.argv[1], path='a', mode='r')[...];"
        " sys.exit('h5py' in sys.modules)"
    )
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code, store]) == 0
    return []


if __name__ == "__main__":
    store, values, *names = sys.argv[1:]
    expected = np.load(values)
    for name in names:
        for array in globals()[name](store):
            np.testing.assert_array_equal(array, expected)
        print(name, flush=True)
