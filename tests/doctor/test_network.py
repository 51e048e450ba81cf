"""The archive, its key and the clock, asked of an archive on this machine; a bucket of a stand-in."""

from datetime import UTC, datetime, timedelta

import pytest

from shadowzarr.access import archives
from shadowzarr.doctor import examine, network
from shadowzarr.testing import Archive, ArchiveServer

KEY = "c" * 40


@pytest.fixture
def url(monkeypatch):
    contents = Archive()
    contents.add_user("somebody", key=KEY)
    with ArchiveServer(contents) as server:
        monkeypatch.setattr(archives, "_registered", dict(archives._registered))
        archives.register_archive(server.api_url, name="here", key_env="HERE_KEY")
        monkeypatch.delenv("HERE_KEY", raising=False)
        yield server.api_url


def asked(name):
    found = {each.check: each for each in network.archive(name)}
    assert all(KEY not in each.says + each.remedy for each in found.values())
    return {check: each.state for check, each in found.items()}, found


def test_an_archive_without_a_key(url):
    states, found = asked("here")
    assert states == {"archive": "fine", "key": "note", "clock": "fine"}
    assert found["key"].says == "HERE_KEY is not set, which only embargoed assets need"


def test_a_key_that_is_accepted(url, monkeypatch):
    monkeypatch.setenv("HERE_KEY", KEY)
    states, found = asked("here")
    assert states == {"archive": "fine", "key": "fine", "clock": "fine"}
    assert found["key"].says == "HERE_KEY is set; the archive accepts it"


def test_a_key_that_is_refused(url, monkeypatch):
    monkeypatch.setenv("HERE_KEY", KEY[:-1] + "d")
    states, found = asked("here")
    assert states == {"key": "wrong"}
    assert "refuses the API key given by the environment variable HERE_KEY" in found["key"].says
    assert "d" * 2 not in found["key"].says


def test_no_archive_is_a_note(monkeypatch):
    monkeypatch.setattr(network, "_TRIES", network.RetryPolicy(attempts=1))
    monkeypatch.setattr(archives, "_registered", dict(archives._registered))
    archives.register_archive("http://127.0.0.1:1/api", name="gone", key_env="GONE_KEY")
    states, found = asked("gone")
    assert states == {"archive": "note", "key": "note"}
    assert found["archive"].says.startswith("offline, or the archive is down")


def test_what_is_no_archive_is_wrong(url):
    states, _ = asked(url.removesuffix("/api") + "/nothing")
    assert states == {"archive": "wrong"}


@pytest.mark.parametrize(
    ("date", "state", "says"),
    [
        ("Tue, 03 Mar 2026 12:00:00 GMT", "fine", "within five minutes"),
        ("Tue, 03 Mar 2026 11:50:00 GMT", "wrong", "600 s ahead of the archive's"),
        ("Tue, 03 Mar 2026 12:20:00 GMT", "wrong", "1,200 s behind the archive's"),
        ("yesterday", "note", "not compared"),
        (None, "note", "not compared"),
    ],
)
def test_the_clock(date, state, says):
    finding = network.clock(date, datetime(2026, 3, 3, 12, 0, tzinfo=UTC) + timedelta(seconds=0.5))
    assert finding.state == state
    assert says in finding.says.replace("601", "600").replace("1,199", "1,200")


def test_a_bucket_that_does_not_answer(monkeypatch):
    monkeypatch.setattr("shadowzarr.catalog.bucket_output._RETRY_TIMEOUT", timedelta(seconds=0.1))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "an-id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    (finding,) = network.bucket("s3://bucket/references")
    assert finding.state == "wrong"
    assert KEY not in finding.says + finding.remedy


def test_offline_asks_nothing(monkeypatch):
    monkeypatch.setattr(network, "DandiArchive", None)  # whoever uses it fails
    assert {each.check for each in examine(offline=True)}.isdisjoint({"archive", "key", "clock", "s3"})
