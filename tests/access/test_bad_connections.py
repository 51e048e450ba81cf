"""Hosts that are not there, not trusted or too slow, by both transports and by the client of the archive."""

import contextlib
import gzip
import json
import socket
import ssl
import threading

import httpx
import pytest
from self_signed import self_signed

from shadowzarr.access import checked_connections, http_client, obstore_transport, urllib3_transport
from shadowzarr.access.dandi_api import DandiArchive
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.access.source_identity import Source
from shadowzarr.access.urllib3_transport import Urllib3Transport
from shadowzarr.errors import (
    ArchiveError,
    ArchiveUnavailableError,
    ReadError,
    SourceChangedError,
    TransientReadError,
)
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


@pytest.fixture
def dripping():
    """A server whose headers never end: a byte of them every tenth of a second."""
    listening = socket.create_server(("127.0.0.1", 0))
    ended, asked = threading.Event(), []

    def drip(connection):
        with connection, contextlib.suppress(OSError):
            connection.recv(65536)
            asked.append(True)
            connection.sendall(b"HTTP/1.1 206 Partial Content\r\nX-Long: ")
            while not ended.wait(0.1):
                connection.sendall(b"x")

    def serve():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=drip, args=[listening.accept()[0]], daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/data.bin", asked
    ended.set()
    listening.close()


@pytest.mark.parametrize("way", ["fast", "slow", "checked"])
def test_headers_that_drip(hurried, dripping, monkeypatch, way):
    """Each byte comes in time for a single read; the request has its end all the same."""
    url, asked = dripping
    if way == "slow":
        monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    monkeypatch.setattr(checked_connections, "is_internal", lambda _: False)
    reader = hurried if way != "checked" else hurried.restricted(allow_private=False, local_roots=None)
    with pytest.raises(TransientReadError, match=r"data.bin: not all bytes came within 1 s.* \(2 tries\)"):
        reader.read(url, ONE)
    assert 2 <= len(asked) <= 3


def test_where_a_file_is_when_headers_drip(hurried, dripping):
    url, _ = dripping
    with pytest.raises(TransientReadError, match="not all bytes came within 1 s"):
        Urllib3Transport().ask(url, {})


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


def test_a_condition_that_nobody_asked_for(either, server, url):
    """A status 412 speaks of the file's ETag only where one was sent."""
    server.faults.add(Fault(status=412))
    with pytest.raises(ReadError, match=r"data.bin: .*\(412\), and none was sent"):
        either.read(url, ONE)
    with pytest.raises(SourceChangedError, match=r"refused its recorded ETag \(412\)"):
        either.read(url, ONE, source=Source(url, None, '"etag"'))


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
