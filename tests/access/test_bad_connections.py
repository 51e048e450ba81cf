"""Hosts that are not there, not trusted or too slow, by both transports and by the client of the archive."""

import gzip
import json
import ssl

import httpx
import pytest
from self_signed import self_signed

from shadowzarr.access import http_client, obstore_transport, urllib3_transport
from shadowzarr.access.dandi_api import DandiArchive
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.errors import ArchiveError, ArchiveUnavailableError, ReadError, TransientReadError
from shadowzarr.refs.byte_range import FileRange
from shadowzarr.testing import Fault, RangeServer
from shadowzarr.testing.http_messages import Response

ONE = [FileRange(1000, 500)]
TWICE = RetryPolicy(attempts=2, first_pause=0.001, longest_pause=0.002)


@pytest.fixture
def hurried(monkeypatch):
    """A reader that waits for no byte longer than half a second, and for all of them no longer than one."""
    for module in (http_client, obstore_transport, urllib3_transport):
        monkeypatch.setattr(module, "READ_TIMEOUT", 0.5)
        monkeypatch.setattr(module, "WHOLE_TIMEOUT", 1.0)
    return DefaultReader(retries=TWICE)


def test_no_such_host(either):
    with pytest.raises(TransientReadError, match=r"http://nowhere.invalid/a: .*check the network.* tries"):
        either.read("http://nowhere.invalid/a?secret=1", ONE)


def test_no_such_archive():
    with (
        DandiArchive("http://nowhere.invalid/api", retries=TWICE) as archive,
        pytest.raises(ArchiveUnavailableError, match=r"nowhere.invalid.* \(2 tries\)"),
    ):
        archive.dandiset("000001")


@pytest.fixture
def untrusted(tmp_path, content):
    folder = tmp_path / "untrusted"
    folder.mkdir()
    (folder / "data.bin").write_bytes(content)
    with RangeServer(folder, tls=self_signed(tmp_path)) as running:
        yield running


def test_a_certificate_that_nobody_trusts(either, untrusted):
    assert untrusted.base_url.startswith("https:")
    with pytest.raises(ReadError, match=r"data.bin: no secure connection.*certificate") as caught:
        either.read(untrusted.url("data.bin"), ONE)
    assert not caught.value.transient
    assert len(untrusted.log) == 0


def test_an_archive_that_nobody_trusts(untrusted):
    with (
        DandiArchive(untrusted.base_url) as archive,
        pytest.raises(ArchiveError, match="certificate") as caught,
    ):
        archive.dandiset("000001")
    assert not caught.value.transient


def test_a_certificate_that_is_trusted(untrusted, tmp_path, content):
    """Otherwise nothing could be read above for another reason."""
    context = ssl.create_default_context(cafile=tmp_path / "self-signed.pem")
    with httpx.Client(verify=context) as client:
        assert client.get(untrusted.url("data.bin")).content == content


@pytest.mark.parametrize("transport", ["fast", "slow"])
@pytest.mark.parametrize("fault", [{"first_byte_delay": 5.0}, {"latency": 5.0}, {"bandwidth": 100}])
def test_a_server_that_drips(hurried, server, url, transport, fault, monkeypatch):
    """Of 500 bytes, 100 come each second: no time-out for a single read ends that."""
    if transport == "slow":
        monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    server.faults.add(Fault(**fault))
    with pytest.raises(TransientReadError, match=r"data.bin: .*check the network and try again \(2 tries\)"):
        hurried.read(url, ONE)
    assert 2 <= len(server.log) <= 3


def test_an_archive_that_drips(canned, json_answer, monkeypatch):
    monkeypatch.setattr(http_client, "WHOLE_TIMEOUT", 0.5)
    canned.application.answers["/dandisets/000001/"] = json_answer({"identifier": "0" * 100})
    canned.faults.add(Fault(bandwidth=50))
    with (
        DandiArchive(canned.base_url, retries=TWICE) as archive,
        pytest.raises(ArchiveUnavailableError, match=r"2 tries"),
    ):
        archive.dandiset("000001")


def test_an_archive_that_compresses(canned):
    """As nginx does where a client allows it."""
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    canned.application.answers["/dandisets/000001/versions/"] = Response(
        200, headers, gzip.compress(json.dumps({"count": 0, "next": None, "results": []}).encode())
    )
    with DandiArchive(canned.base_url) as archive:
        assert archive.versions("000001") == []


@pytest.mark.parametrize("way", ["range", "whole"])
def test_a_compressed_body_is_refused(either, server, url, way):
    server.faults.add(Fault(gzip=True))
    with pytest.raises(ReadError, match="encoded as gzip"):
        either.read(url, ONE) if way == "range" else either.read_whole(url)
    assert len(server.log) == 1


def test_an_empty_file_is_not_what_a_refused_range_means(either, canned):
    headers = {"Content-Range": "bytes */100"}
    canned.application.answers["/x"] = Response(416, headers, b"")
    with pytest.raises(ReadError, match="has 100 bytes"):
        either.probe(canned.base_url + "/x")
