"""How processes end that have read by obstore; everything else is in test_http_reader."""

import dataclasses
import subprocess
import sys
import threading

import pytest

from shadowzarr.access import obstore_transport

READ = """
import asyncio, sys
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.refs.byte_range import FileRange

async def read():
    ranges = [FileRange(i * 50_000, 50_000) for i in range(64)]
    return sum(map(len, await DefaultReader().read_async(sys.argv[1], ranges)))

assert asyncio.run(read()) == 3_200_000
"""
GIVE_UP = """
import asyncio, sys
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.refs.byte_range import FileRange

async def read():
    ranges = [FileRange(i * 50_000, 50_000) for i in range(64)]
    await asyncio.wait_for(DefaultReader().read_async(sys.argv[1], ranges), 0.1)

try:
    asyncio.run(read())
except TimeoutError:
    pass
"""


@pytest.mark.parametrize(("code", "latency"), [(READ, 0.0), (GIVE_UP, 0.5)])
def test_a_process_may_end_right_after_a_read(server, code, latency):
    (server.folder / "large.bin").write_bytes(bytes(3_200_000))
    server.effects = dataclasses.replace(server.effects, latency=latency)
    for _ in range(6):
        done = subprocess.run(
            [sys.executable, "-c", code, server.url("large.bin")], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        # obstore prints these when a request that was given up ends as the loop or the process does; they
        # cannot be caught
        assert not done.stderr or "Event loop is closed" in done.stderr or "tokio-rt-worker" in done.stderr


def test_the_end_waits_for_requests_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(obstore_transport, "_SETTLE", 0.05)
    token = object()
    obstore_transport._UNDER_WAY.add(token)
    try:
        obstore_transport._settle()  # gives up
        ending = threading.Timer(0.02, obstore_transport._UNDER_WAY.discard, [token])
        ending.start()
        monkeypatch.setattr(obstore_transport, "_SETTLE", 60.0)
        obstore_transport._settle()
        assert token not in obstore_transport._UNDER_WAY
    finally:
        obstore_transport._UNDER_WAY.discard(token)
        ending.join()


def test_threads_that_python_started_are_not_waited_for():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    assert obstore_transport._telling_threads() == []
    stop.set()
    thread.join()
