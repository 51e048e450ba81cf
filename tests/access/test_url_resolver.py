"""Download URLs of archives, against the stand-in: how often it is asked, and where the key goes."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from shadowzarr.access import archives, obstore_transport, url_resolver
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.access.source_identity import Source
from shadowzarr.access.url_resolver import KEEP, is_resolved, lifetime
from shadowzarr.errors import (
    AccessDeniedError,
    MissingCredentialsError,
    ReadError,
    SourceChangedError,
    SourceNotFoundError,
    TransientReadError,
)
from shadowzarr.refs.byte_range import FileRange
from shadowzarr.testing import Fault
from shadowzarr.testing.http_messages import Response

WANTED = [FileRange(i * 900, 500) for i in range(100)]
ONE = [FileRange(1000, 500)]
UNKNOWN = "5a9cc6f1-aeaf-46cc-aae7-ea27960236ea"


@pytest.fixture(params=["fast", "slow"])
def either(request, reader, monkeypatch):
    if request.param == "slow":
        monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    return reader


@pytest.fixture
def _key(monkeypatch):
    monkeypatch.setenv("STANDIN_API_KEY", "owner-key")


def cut(content, ranges):
    return [content[r.offset : r.stop] for r in ranges]


def read(reader, url, ranges, **options):
    return [bytes(part) for part in reader.read(url, ranges, **options)]


def resolver_of(reader):
    return reader._http._now_live().resolver


def test_an_asset_is_resolved_once(either, standin):
    url = standin.url(standin.open)
    for _ in range(3):
        assert read(either, url, WANTED) == cut(standin.content, WANTED)
    assert standin.downloads() == 1
    assert standin.server.store.log.count(status=206) == 300
    assert all(entry.is_signed for entry in standin.server.store.log)


def test_a_hundred_threads_share_one_resolution(either, standin):
    url = standin.url(standin.open)
    standin.server.api.effects.latency = 0.1
    with ThreadPoolExecutor(100) as threads:
        parts = list(threads.map(lambda wanted: read(either, url, [wanted])[0], WANTED))
    assert parts == cut(standin.content, WANTED)
    assert standin.downloads() == 1


def test_a_hundred_tasks_share_one_resolution(either, standin):
    url = standin.url(standin.open)
    standin.server.api.effects.latency = 0.05

    async def read_all():
        return await asyncio.gather(*(either.read_async(url, [wanted]) for wanted in WANTED))

    parts = asyncio.run(read_all())
    assert [bytes(part[0]) for part in parts] == cut(standin.content, WANTED)
    assert standin.downloads() == 1


def test_a_task_that_gives_up_does_not_stop_the_others(reader, standin):
    url = standin.url(standin.open)
    standin.server.api.effects.latency = 0.1

    async def read_two():
        first, second = (asyncio.ensure_future(reader.read_async(url, ONE)) for _ in range(2))
        await asyncio.sleep(0.02)
        first.cancel()
        return await second

    assert bytes(asyncio.run(read_two())[0]) == cut(standin.content, ONE)[0]
    assert standin.downloads() == 1


def test_reading_alone_waits_for_no_other_thread(reader, standin):
    """A thread that holds the shared lock may need h5py's lock, which a reading file object holds."""
    url = standin.url(standin.open)
    resolver = resolver_of(reader)
    lock = resolver._locks.setdefault(url, url_resolver.threading.Lock())
    with lock:  # another thread resolves, and does not come back
        assert bytes(reader.read_one(url, ONE[0])) == cut(standin.content, ONE)[0]
    assert standin.downloads() == 1
    assert read(reader, url, ONE) == cut(standin.content, ONE)
    assert standin.downloads() == 1


def test_an_address_is_kept_for_ten_minutes(reader, standin, monkeypatch):
    url = standin.url(standin.open)
    now = [1000.0]
    monkeypatch.setattr(url_resolver.time, "monotonic", lambda: now[0])
    reader.read(url, ONE)
    now[0] += KEEP - 1
    reader.read(url, ONE)
    assert standin.downloads() == 1
    now[0] += 2
    reader.read(url, ONE)
    assert standin.downloads() == 2


def test_an_address_is_kept_no_longer_than_it_is_good(reader, standin, monkeypatch):
    url = standin.url(standin.open)
    standin.server.signer.lifetime = 100
    now = [1000.0]
    monkeypatch.setattr(url_resolver.time, "monotonic", lambda: now[0])
    reader.read(url, ONE)
    now[0] += 101
    reader.read(url, ONE)
    assert standin.downloads() == 2


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        ("", KEEP),
        ("?X-Amz-Date=20250101T000000Z&X-Amz-Expires=21600", KEEP),
        ("?X-Amz-Date=20250101T000000Z&X-Amz-Expires=300", 265),  # 270 left
        ("?X-Amz-Date=20250101T000000Z&X-Amz-Expires=40", 6),
        ("?X-Amz-Date=20241231T000000Z&X-Amz-Expires=300", 295),  # just signed: our clock is wrong
        ("?X-Amz-Date=20260101T000000Z&X-Amz-Expires=300", KEEP),
        ("?X-Amz-Date=soon&X-Amz-Expires=300", KEEP),
        ("?X-Amz-Expires=300", KEEP),
    ],
)
def test_lifetimes(query, seconds):
    now = datetime(2025, 1, 1, 0, 0, 30, tzinfo=UTC)
    assert lifetime("https://host/key" + query, now=now) == seconds


@pytest.mark.parametrize("way", ["blocking", "awaited", "alone"])
def test_a_refused_address_is_resolved_again_once(either, standin, way):
    url = standin.url(standin.open)
    either.read(url, ONE)
    standin.server.signer.expire_all()
    standin.clear()
    if way == "blocking":
        parts = read(either, url, WANTED)
        assert parts == cut(standin.content, WANTED)
    elif way == "awaited":
        assert bytes(asyncio.run(either.read_async(url, ONE))[0]) == cut(standin.content, ONE)[0]
    else:
        assert bytes(either.read_one(url, ONE[0])) == cut(standin.content, ONE)[0]
    assert standin.downloads() == 1


def test_an_address_that_is_always_refused_is_an_error(either, standin):
    url = standin.url(standin.open)
    standin.server.store.faults.add(Fault(status=403))
    with pytest.raises(AccessDeniedError):
        either.read(url, ONE)
    assert standin.downloads() == 2
    assert standin.server.store.log.count() == 2


def test_trouble_of_the_archive_passes(either, standin):
    url = standin.url(standin.open)
    standin.server.api.faults.add(Fault(status=503, times=1))
    standin.server.api.faults.add(Fault(status=429, retry_after=0, times=1))
    assert read(either, url, ONE) == cut(standin.content, ONE)


def test_lasting_trouble_of_the_archive(reader, standin):
    standin.server.api.faults.add(Fault(status=500))
    with pytest.raises(TransientReadError):
        reader.read(standin.url(standin.open), ONE)
    assert standin.server.store.log.count() == 0


@pytest.mark.usefixtures("_key")
def test_the_key_goes_to_the_archive_alone(either, standin, caplog):
    caplog.set_level(logging.DEBUG)
    url = standin.url(standin.embargoed)
    assert read(either, url, WANTED) == cut(standin.content[::-1], WANTED)
    assert [entry.has_authorization for entry in standin.server.api.log] == [True]
    assert len(standin.server.store.log) == 100
    assert not any(entry.has_authorization for entry in standin.server.store.log)
    assert "owner-key" not in caplog.text
    assert "Signature" not in caplog.text


@pytest.mark.usefixtures("_key")
def test_the_key_does_not_go_to_another_archive(either, standin, canned, redirect):
    path = f"/api/assets/{UNKNOWN}/download/"
    canned.application.answers[path] = redirect(standin.url(standin.open))
    with pytest.raises(ReadError):  # the second redirect is followed without a key, and ends at the store
        either.read(canned.base_url + path, [FileRange(10**9, 5)])
    assert "authorization" not in canned.application.requests[0].headers
    assert not any(entry.has_authorization for entry in standin.server.api.log)
    assert not any(entry.has_authorization for entry in standin.server.store.log)


def test_an_archive_that_sends_the_bytes_to_its_own_origin_gets_no_key_there(
    either, canned, redirect, content, monkeypatch
):
    def part(request):
        assert "authorization" not in request.headers
        return Response(206, {"Content-Range": f"bytes 1000-1499/{len(content)}"}, content[1000:1500])

    canned.application.answers["/download"] = redirect(canned.base_url + "/file?signature=1")
    canned.application.answers["/file"] = part
    archives.register_archive(canned.base_url, key_env="CANNED_API_KEY")
    monkeypatch.setenv("CANNED_API_KEY", "key")
    assert read(either, canned.base_url + "/download", ONE) == cut(content, ONE)
    first, second = canned.application.requests
    assert first.headers["authorization"] == "token key"
    assert "authorization" not in second.headers


def test_a_key_is_needed(either, standin):
    with pytest.raises(MissingCredentialsError, match="set STANDIN_API_KEY"):
        either.read(standin.url(standin.embargoed), ONE)
    assert standin.downloads() == 1  # not tried again


def test_a_wrong_key_is_told_without_showing_it(either, standin, monkeypatch):
    monkeypatch.setenv("STANDIN_API_KEY", "nonsense-key")
    with pytest.raises(MissingCredentialsError, match="key in STANDIN_API_KEY is refused") as caught:
        either.read(standin.url(standin.open), ONE)
    assert "nonsense-key" not in str(caught.value)


def test_the_key_of_somebody_else(either, standin, monkeypatch):
    monkeypatch.setenv("STANDIN_API_KEY", "other-key")
    with pytest.raises(AccessDeniedError, match="owner"):
        either.read(standin.url(standin.embargoed), ONE)


def test_an_archive_whose_key_is_not_known(either, standin):
    archives.register_archive(standin.server.api_url)
    with pytest.raises(MissingCredentialsError, match="register_archive"):
        either.read(standin.url(standin.embargoed), ONE)


def test_no_such_asset(either, standin):
    with pytest.raises(SourceNotFoundError):
        either.read(archives.download_url(standin.server.api_url, UNKNOWN), ONE)


def test_a_zarr_asset_has_no_download(either, standin, tmp_path):
    (tmp_path / "x.zarr").mkdir()
    (tmp_path / "x.zarr" / "zarr.json").write_text("{}")
    asset = standin.server.archive.add_asset("000001", "x.zarr", tmp_path / "x.zarr")
    with pytest.raises(ReadError, match="Zarr"):
        either.read(standin.url(asset), ONE)


def test_a_version_scoped_url_and_a_missing_slash(either, standin):
    url = f"{standin.server.api_url}/dandisets/000001/versions/draft/assets/{standin.open.asset_id}/download"
    assert read(either, url, ONE) == cut(standin.content, ONE)


def test_a_changed_blob_is_noticed_behind_the_download_url(either, standin):
    source = Source(standin.url(standin.open), len(standin.content), '"0123-1"')
    with pytest.raises(SourceChangedError):
        either.read(source.url, ONE, source=source)
    assert standin.server.store.log.count(status=412) == 1


@pytest.mark.parametrize("location", ["file:///etc/hostname", "ftp://host/x", ""])
def test_only_http_is_followed(either, canned, redirect, location):
    path = f"/api/assets/{UNKNOWN}/download/"
    canned.application.answers[path] = redirect(location)
    with pytest.raises(ReadError, match="redirected|redirects"):
        either.read(canned.base_url + path, ONE)


def test_an_archive_may_send_the_bytes_itself(either, canned, content):
    def part(request):
        first, last = (int(n) for n in request.headers["range"].removeprefix("bytes=").split("-"))
        headers = {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
        return Response(206, headers, content[first : last + 1])

    path = f"/api/assets/{UNKNOWN}/download/"
    canned.application.answers[path] = part
    assert read(either, canned.base_url + path, WANTED) == cut(content, WANTED)
    assert len(canned.application.requests) == 101


def test_which_urls_are_resolved(standin):
    assert is_resolved(f"https://anywhere.org/api/assets/{UNKNOWN}/download/")
    assert is_resolved(standin.server.api_url + "/x")
    assert not is_resolved(standin.server.store_url + "/blobs/x")
    assert not is_resolved("https://example.org/a.nwb")
    assert not is_resolved("s3://dandiarchive/blobs/x")


def test_a_pickled_reader_carries_no_address(standin):
    reader = DefaultReader()
    reader.read(standin.url(standin.open), ONE)
    import pickle

    assert b"Signature" not in pickle.dumps(reader)
