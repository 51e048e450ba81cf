"""The benchmark server: answers as S3 gives them, a latency, and a log that can be trusted."""

import urllib.error
import urllib.request
from pathlib import Path

import pytest

from benchmarks.serving.pacing import Link
from benchmarks.serving.server_process import clear_log, read_log, served
from benchmarks.serving.timed_request import TimedRequest

DATA = bytes(range(256)) * 4096  # 1 MiB: more than a socket takes at once


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("served")
    (folder / "a b.bin").write_bytes(DATA)
    with served(folder, 0, latency=0.001, bandwidth=None) as address:
        yield address


def get(address, **headers):
    request = urllib.request.Request(f"{address}/a%20b.bin", headers=headers)
    with urllib.request.urlopen(request) as answer:
        return answer.status, answer.headers, answer.read()


def test_ranges_and_whole_files(address):
    status, headers, body = get(address, Range="bytes=10-19")
    assert (status, body, headers["Content-Range"]) == (206, DATA[10:20], f"bytes 10-19/{len(DATA)}")
    assert get(address, Range="bytes=-3")[2] == DATA[-3:]
    assert get(address)[2] == DATA


def test_conditions_are_checked(address):
    etag = get(address, Range="bytes=0-0")[1]["ETag"]
    assert get(address, Range="bytes=0-0", **{"If-Match": etag})[0] == 206
    with pytest.raises(urllib.error.HTTPError, match="412"):
        get(address, Range="bytes=0-0", **{"If-Match": '"other"'})


def test_the_log_has_ranges_and_times(address):
    clear_log(address)
    get(address, Range="bytes=100-199")
    get(address)
    first, second = read_log(address)
    assert (first.path, first.offset, first.length, first.status) == ("/a b.bin", 100, 100, 206)
    assert (second.offset, second.length, second.status) == (0, len(DATA), 200)
    assert first.start + 0.001 <= first.end <= second.start
    assert isinstance(second, TimedRequest)


def test_a_missing_file(address):
    with pytest.raises(urllib.error.HTTPError, match="404"), urllib.request.urlopen(f"{address}/other"):
        pass


def test_a_link_of_limited_bandwidth_sends_one_block_after_the_other():
    link = Link(1_000)
    assert link.book(0.0, 100) == pytest.approx(0.1)
    assert link.book(0.0, 100) == pytest.approx(0.2)
    assert link.book(5.0, 100) == pytest.approx(5.1)
    assert Link(None).book(3.0, 10**9) == 3.0


def test_bandwidth_keeps_the_bytes(tmp_path):
    (tmp_path / "a b.bin").write_bytes(DATA)
    with served(tmp_path, 0, latency=0.0, bandwidth=50e6) as address:
        assert get(address)[2] == DATA
        (entry,) = read_log(address)
        assert entry.end - entry.start >= len(DATA) / 50e6 - 0.001
