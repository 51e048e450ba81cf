"""Arrays whose chunks are behind an archive's download URL, counted in what the archive is asked."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import zarr

from shadowzarr import RfsBuilder, RfsStore, open_rfs


def made(standin):
    url = standin.url(standin.open)
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("x", shape=[100_000], data_type="uint8", chunk_shape=[1000])
    for i in range(100):
        builder.add_chunk("x", (i,), url, i * 1000, 1000)
    return builder.build(), np.frombuffer(standin.content, np.uint8)


def test_a_hundred_chunks_share_one_resolution(standin, reader):
    rfs, data = made(standin)
    np.testing.assert_array_equal(open_rfs(rfs, max_merge_size=0, reader=reader)["x"][:], data)
    assert standin.downloads() == 1
    assert standin.server.store.log.count() == 100


def test_threads_and_tasks_share_it_too(standin, reader):
    rfs, data = made(standin)
    store = RfsStore(rfs, max_merge_size=0, reader=reader)
    array = zarr.open_array(store, path="x", mode="r")

    async def tasks():
        own = await zarr.api.asynchronous.open_array(store=store, path="x", mode="r", zarr_format=3)
        return await asyncio.gather(*(own.getitem(slice(i, i + 1)) for i in range(0, 100_000, 2000)))

    with ThreadPoolExecutor(9) as threads:
        reads = [threads.submit(lambda i=i: array[i : i + 5]) for i in range(0, 100_000, 2000)]
        awaited = threads.submit(asyncio.run, tasks()).result()
        for i, read in zip(range(0, 100_000, 2000), reads, strict=True):
            np.testing.assert_array_equal(read.result(), data[i : i + 5])
    assert [int(part[0]) for part in awaited] == data[::2000].tolist()
    assert standin.downloads() == 1
