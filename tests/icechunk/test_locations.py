"""Names of files in Icechunk, what is checked of them, and the archive's blobs."""

import datetime
import os

import pytest

from shadowzarr.errors import SourceChangedError, SourceNotFoundError, UsageError
from shadowzarr.icechunk.locations import checksum_of, chunk_url, dandi_blob, location_of


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/data/a b/r#1%41?.bin", "file:///data/a%20b/r%231%2541%3F.bin"),
        ("/data/é", "file:///data/%C3%A9"),
        ("http://h:8/a%20b", "http://h:8/a%20b"),
        ("s3://bucket/a b#c?d%e+f/é", "s3://bucket/a%20b%23c%3Fd%25e%2Bf/%C3%A9"),
        ("gs://bucket/x", "gs://bucket/x"),
    ],
)
def test_there_and_back(location, url):
    assert chunk_url(location) == url
    assert location_of(url) == location


def test_file_urls_are_taken_too():
    assert chunk_url("file:///data/a%20b") == "file:///data/a%20b"


def test_a_query_is_refused_because_icechunk_would_leave_it_out():
    with pytest.raises(UsageError, match=r"^http://h/x is referenced with a query") as caught:
        chunk_url("http://h/x?token=secret")
    assert "secret" not in str(caught.value)


def test_checksums_by_kind_of_place():
    entry = {"size": 3, "etag": '"abc-1"'}
    assert checksum_of("http://h/x", entry) == '""abc-1""'  # one pair of quotes is taken away
    assert checksum_of("https://h/x", entry) == '""abc-1""'
    assert checksum_of("s3://b/x", entry) == '"abc-1"'
    assert checksum_of("http://h/x", {"size": 3}) is None
    assert checksum_of("http://h/x", {"size": 3, "etag": 'W/"weak"'}) is None
    assert checksum_of("http://h/x", None) is None


def test_a_local_file_is_checked_by_its_time(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    os.utime(path, ns=(10**18 + 1, 10**18 + 1))
    expected = datetime.datetime.fromtimestamp(10**9 + 1, datetime.UTC)
    assert checksum_of(path.as_uri(), {"size": 3}) == expected
    assert checksum_of(path.as_uri(), None) == expected
    with pytest.raises(SourceChangedError, match="has 3 bytes, and had 4"):
        checksum_of(path.as_uri(), {"size": 4})
    path.unlink()
    with pytest.raises(SourceNotFoundError, match="cannot be found .*url_for"):
        checksum_of(path.as_uri(), None)


class Asset:
    def __init__(self, url):
        self.blob_url = url


class ArchiveOf:
    """Stands in for the archive's API: gives one asset."""

    def __init__(self, url):
        self._asset = Asset(url)

    def __call__(self, api_url):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def asset(self, asset_id):
        return self._asset


@pytest.mark.parametrize(
    ("blob", "expected"),
    [
        ("https://dandiarchive.s3.amazonaws.com/blobs/ab/cd/x", "s3://dandiarchive/blobs/ab/cd/x"),
        ("https://dandiarchive.s3.us-east-2.amazonaws.com/blobs/x", "s3://dandiarchive/blobs/x"),
        ("http://127.0.0.1:8/blobs/x", None),
        (None, None),
    ],
)
def test_assets_of_an_archive_lead_to_their_blobs(monkeypatch, blob, expected):
    monkeypatch.setattr("shadowzarr.access.dandi_api.DandiArchive", ArchiveOf(blob))
    url = "https://api.dandiarchive.org/api/assets/1234abcd-0000-4000-8000-00000000abcd/download/"
    assert dandi_blob(url) == (expected or url)
    assert dandi_blob("/data/x") == "/data/x"
