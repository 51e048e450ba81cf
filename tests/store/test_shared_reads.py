import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from shadowzarr.errors import ReadError
from shadowzarr.store.shared_reads import SharedReads


class Counted:
    """A read that takes a turn of the loop and counts its calls."""

    def __init__(self, value="value", nbytes=10, error=None):
        self.calls = 0
        self.value, self.nbytes, self.error = value, nbytes, error

    async def __call__(self):
        self.calls += 1
        await asyncio.sleep(0.01)
        if self.error is not None:
            raise self.error
        return self.value, self.nbytes


async def test_one_read_for_a_hundred_at_once():
    shared, read = SharedReads(100), Counted()
    assert await asyncio.gather(*(shared.get("k", read) for _ in range(100))) == ["value"] * 100
    assert await shared.get("k", read) == "value"
    assert read.calls == 1


def test_one_read_for_threads_with_their_own_loops():
    shared, read = SharedReads(100), Counted()
    barrier = threading.Barrier(8)

    def get():
        barrier.wait()
        return asyncio.run(shared.get("k", read))

    with ThreadPoolExecutor(8) as threads:
        assert [f.result() for f in [threads.submit(get) for _ in range(8)]] == ["value"] * 8
    assert read.calls == 1


async def test_a_failure_is_told_to_all_and_tried_again():
    shared, failing = SharedReads(100), Counted(error=ReadError("no"))
    results = await asyncio.gather(*(shared.get("k", failing) for _ in range(5)), return_exceptions=True)
    assert [type(result) for result in results] == [ReadError] * 5
    assert failing.calls == 1
    assert await shared.get("k", Counted("later")) == "later"


async def test_who_asked_first_may_give_up():
    shared, read = SharedReads(100), Counted()
    first = asyncio.create_task(shared.get("k", read))
    await asyncio.sleep(0)
    others = [asyncio.create_task(shared.get("k", read)) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    assert await asyncio.gather(*others) == ["value"] * 3
    assert first.cancelled()
    assert read.calls == 1


def test_those_in_another_loop_go_on_when_the_reading_loop_ends():
    shared = SharedReads(100)
    started, ended = threading.Event(), threading.Event()

    async def never():
        started.set()
        await asyncio.to_thread(ended.wait)
        await asyncio.sleep(60)

    async def give_up():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(shared.get("k", never), 0.05)

    async def wait_for_it():
        started.wait()
        ended.set()
        return await shared.get("k", Counted("mine"))

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(lambda: asyncio.run(give_up()))
        assert threads.submit(lambda: asyncio.run(wait_for_it())).result() == "mine"
        first.result()


async def test_one_who_waits_may_give_up():
    shared, read = SharedReads(100), Counted()
    first = asyncio.create_task(shared.get("k", read))
    await asyncio.sleep(0)
    other = asyncio.create_task(shared.get("k", read))
    await asyncio.sleep(0)
    other.cancel()
    assert await first == "value"
    assert await shared.get("k", read) == "value"
    assert read.calls == 1


async def test_the_least_recently_used_goes_first():
    shared = SharedReads(25)
    reads = {key: Counted(key) for key in "abc"}
    for key in "abacab":
        await shared.get(key, reads[key])
    assert {key: read.calls for key, read in reads.items()} == {"a": 1, "b": 2, "c": 1}


async def test_a_value_larger_than_all_that_is_kept_is_kept_alone():
    shared, large, small = SharedReads(5), Counted(nbytes=10), Counted(nbytes=1)
    for read in (large, large, small, large):
        await shared.get(id(read), read)
    assert (large.calls, small.calls) == (2, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_its_parents_reads():
    shared, read = SharedReads(100), Counted("child")
    shared._under_way["k"] = object()  # a read of a thread that the child does not have
    shared._lock.acquire()
    child = os.fork()
    if child == 0:
        os._exit(0 if asyncio.run(shared.get("k", read)) == "child" else 1)
    assert os.waitpid(child, 0)[1] == 0
