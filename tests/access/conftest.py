"""Servers and readers that the tests of byte access share."""

import json
import os
from dataclasses import dataclass, field

import pytest

from shadowzarr.access import archives, http_client, obstore_transport
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.testing import RangeServer
from shadowzarr.testing.archive import Archive, ArchiveServer
from shadowzarr.testing.http_messages import Response
from shadowzarr.testing.http_server import LoopbackServer

QUICK = RetryPolicy(attempts=4, first_pause=0.001, longest_pause=0.01, total=20.0)


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch):
    monkeypatch.setattr(http_client, "DEFAULT_RETRIES", QUICK)


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch):
    """Tests see neither keys of this machine nor archives of one another."""
    for name in os.environ:
        if name.startswith("AWS_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(archives, "_registered", dict(archives._registered))


@pytest.fixture
def reader():
    return DefaultReader(retries=QUICK)


@pytest.fixture
def content():
    return bytes(i * 7 % 251 for i in range(100_000))


@pytest.fixture
def server(tmp_path, content):
    """A range server with one file, ``data.bin``."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "data.bin").write_bytes(content)
    with RangeServer(folder) as running:
        yield running


@pytest.fixture
def url(server):
    return server.url("data.bin")


@dataclass
class Canned:
    """An application that answers each path with what a test put there: a response, or a function."""

    answers: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)

    def respond(self, request, effects):
        self.requests.append(request)
        answer = self.answers.get(request.path, Response(404, {"Content-Type": "application/json"}, b"{}"))
        return answer(request) if callable(answer) else answer

    def refuse(self, request, effects):
        self.requests.append(request)
        headers = {} if effects.retry_after is None else {"Retry-After": str(effects.retry_after)}
        return Response(effects.status, headers, b"refused")


@pytest.fixture
def canned():
    """A server of canned answers: ``canned.application.answers[path] = ...``."""
    with LoopbackServer(Canned()) as running:
        yield running


@pytest.fixture
def json_answer():
    """Makes an answer of JSON."""
    return lambda document, status=200: Response(
        status, {"Content-Type": "application/json"}, json.dumps(document).encode()
    )


@pytest.fixture
def redirect():
    """Makes an answer that leads elsewhere."""
    return lambda location, status=302: Response(status, {"Location": location}, b"")


@dataclass
class Standin:
    """An archive with an open and an embargoed asset, registered under the key variable STANDIN_API_KEY."""

    server: ArchiveServer
    content: bytes
    open: object
    embargoed: object

    def url(self, asset):
        return self.server.download_url(asset)

    def downloads(self):
        """How often the archive was asked for an address."""
        return self.server.api.log.count("*/download/")

    def clear(self):
        self.server.api.log.clear()
        self.server.store.log.clear()


@pytest.fixture
def standin(tmp_path, content):
    archive = Archive()
    archive.add_user("owner", key="owner-key")
    archive.add_user("other", key="other-key")
    archive.add_dandiset("000001")
    archive.add_dandiset("000002", embargo="EMBARGOED", owners=["owner"])
    file, secret = tmp_path / "open.nwb", tmp_path / "secret.nwb"
    file.write_bytes(content)
    secret.write_bytes(content[::-1])
    open_asset = archive.add_asset("000001", "sub-01/a.nwb", file)
    embargoed = archive.add_asset("000002", "sub-02/b.nwb", secret)
    with ArchiveServer(archive) as running:
        archives.register_archive(running.api_url, name="standin", key_env="STANDIN_API_KEY")
        yield Standin(running, content, open_asset, embargoed)


@pytest.fixture(params=["fast", "slow"])
def either(request, reader, monkeypatch):
    """A reader by each of the two transports."""
    if request.param == "slow":
        monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    return reader
