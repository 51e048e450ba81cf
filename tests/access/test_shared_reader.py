"""One reader of HTTP in many threads, in pickles, and in processes that were forked or spawned."""

import asyncio
import multiprocessing
import os
import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

from range_reading import ONE, WANTED, awaited, cut, read

from shadowzarr.access import obstore_transport


def test_many_threads(either, url, content):
    with ThreadPoolExecutor(16) as threads:
        results = list(threads.map(lambda wanted: read(either, url, [wanted])[0], WANTED * 3))
    assert results == cut(content, WANTED * 3)


def test_threads_that_each_read_many_ranges(reader, url, content):
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda _: read(reader, url, WANTED), range(8)))
    assert all(result == cut(content, WANTED) for result in results)


def test_it_is_pickled_without_connections(reader, url, content):
    reader.read(url, WANTED)
    again = pickle.loads(pickle.dumps(reader))
    assert read(again, url, WANTED) == cut(content, WANTED)


def test_after_fork(reader, url, content):
    """obstore hangs there; the child must not even try."""
    assert read(reader, url, WANTED) == cut(content, WANTED)
    assert run_forked(lambda: read(reader, url, WANTED) == cut(content, WANTED))
    assert run_forked(lambda: asyncio.run(awaited(reader, url, WANTED)) == cut(content, WANTED))
    assert read(reader, url, WANTED) == cut(content, WANTED)  # and the parent goes on


def test_after_fork_while_another_thread_reads(reader, server, url, content):
    server.effects.latency = 0.05
    busy = threading.Thread(target=reader.read, args=(url, WANTED))
    busy.start()
    assert run_forked(lambda: read(reader, url, ONE) == cut(content, ONE))
    busy.join()


def test_a_spawned_process(reader, url, content):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        parts = pool.apply(read_elsewhere, (pickle.dumps(reader), url, ONE))
    assert parts == (cut(content, ONE), True)


def read_elsewhere(pickled, url, ranges):
    return read(pickle.loads(pickled), url, ranges), obstore_transport.is_usable()


def run_forked(check):
    """Whether a check holds in a forked child; False when it raises, hangs or says no."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of forking while threads run: that is what is tried
        child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if check() else 1
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return status == 0
