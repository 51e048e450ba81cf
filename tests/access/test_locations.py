from pathlib import Path

import pytest

from shadowzarr.access.archives import register_archive
from shadowzarr.access.locations import (
    canonical,
    is_remote,
    local_path,
    secret_in,
    without_query,
    written_path,
)
from shadowzarr.errors import NotInArchiveError, UsageError

ASSET = "5a9cc6f1-aeaf-46cc-aae7-ea27960236ea"
SIGNED = "https://b.s3.amazonaws.com/k?X-Amz-Date=20250101T000000Z&X-Amz-Signature=abc"


def test_local_paths_become_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert canonical("a/../b.nwb") == str(tmp_path / "b.nwb")
    assert canonical(Path("b c.nwb")) == str(tmp_path / "b c.nwb")
    assert canonical("/x/y.nwb") == "/x/y.nwb"


def test_a_path_that_looks_like_a_url_is_a_path_when_it_is_a_path_object(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert canonical(Path("http:x")) == str(tmp_path / "http:x")


def test_symbolic_links_stay(tmp_path):
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    assert canonical(tmp_path / "link") == str(tmp_path / "link")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("file:///data/a%20b.nwb", "/data/a b.nwb"),
        ("file://localhost/data/a.nwb", "/data/a.nwb"),
        ("file:/data/a.nwb", "/data/a.nwb"),
        ("file:///data/a%23b%3F.nwb", "/data/a#b?.nwb"),
    ],
)
def test_file_urls(url, path):
    assert canonical(url) == path
    assert local_path(url) == path


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a.nwb?x=1&y=%2F",
        "http://127.0.0.1:8000/a%20b//c.nwb",
        "s3://dandiarchive/blobs/2db/af0/x",
        "https://dandiarchive.s3.amazonaws.com/blobs/2db/af0/x",
    ],
)
def test_other_urls_stay_as_they_are(url):
    assert canonical(url) == url
    assert is_remote(url)


def test_a_fragment_goes():
    assert canonical("https://example.org/a.nwb#part") == "https://example.org/a.nwb"


@pytest.mark.parametrize("rest", ["download/", "", "info/", "download/?content_disposition=inline"])
def test_asset_urls_lose_dandiset_and_version(rest):
    url = f"https://api.dandiarchive.org/api/dandisets/000409/versions/draft/assets/{ASSET}/{rest}"
    assert canonical(url) == f"https://api.dandiarchive.org/api/assets/{ASSET}/download/"


@pytest.mark.parametrize("source", ["gs://bucket/key", "ftp://host/file", "ssh://host/file"])
def test_unknown_schemes_are_refused(source):
    with pytest.raises(UsageError, match="s3://"):
        canonical(source)


def test_another_hosts_files_are_refused():
    with pytest.raises(UsageError, match="another host"):
        canonical("file://server/share/a.nwb")


@pytest.mark.parametrize("location", ["/a/b.nwb", "C:\\data\\a.nwb", "a:b", "file:///a"])
def test_what_is_not_remote(location):
    assert not is_remote(location)


def test_what_may_be_shown():
    assert without_query("https://user:pw@host/a%20b?X-Amz-Signature=1#f") == "https://host/a%20b"
    assert without_query("/data/what?.nwb") == "/data/what?.nwb"
    assert without_query("s3://bucket/key") == "s3://bucket/key"


@pytest.mark.parametrize(
    ("location", "secret"),
    [
        (SIGNED, "a signature"),
        ("https://host/a?Expires=1&Signature=x&Key-Pair-Id=y", "a signature"),
        ("https://host/a?X-Goog-Signature=x", "a signature"),
        ("https://host/a?sv=2024&sig=x%3D", "a signature"),
        ("https://host/a?b=1&TOKEN=x", "a key"),
        ("s3://bucket/a?access_token=x", "a key"),
        ("https://user:secret@host/a", "a password"),
        ("https://user@host/a?sig=x", "a password"),
        ("https://host/a?x=1&design=2", None),
        ("https://host/@user/a?b=c@d", None),
        ("/data/a?X-Amz-Signature=1", None),
        ("/data/a@b", None),
    ],
)
def test_secrets_in_urls_are_known(location, secret):
    assert secret_in(location) == secret


def _asset_record(path):
    return {
        "asset_id": ASSET,
        "path": path,
        "size": 10,
        "blob": "2dbaf0fd-5003-4a0a-b4c0-bc8cdbdb3826",
        "zarr": None,
        "created": "2024-05-01T12:00:00Z",
        "modified": "2024-05-01T12:00:00Z",
        "metadata": {},
    }


@pytest.fixture
def archive(canned, json_answer):
    """An archive with one asset, known as ``local``."""

    def listing(request):
        record = _asset_record("sub-01/a b.nwb")
        wanted = request.parameters["path"]
        found = [record] if record["path"].lower().startswith(wanted.lower()) else []
        return json_answer({"count": len(found), "next": None, "results": found})

    for version in ("draft", "0.240101.1200"):
        canned.application.answers[f"/api/dandisets/000409/versions/{version}/assets/"] = listing
    return register_archive(canned.base_url + "/api", name="local", web_url=canned.base_url)


@pytest.mark.parametrize("version", ["", "@draft", "@0.240101.1200"])
def test_dandi_paths_are_looked_up(archive, version):
    found = canonical(f"dandi://local/000409{version}/sub-01/a b.nwb")
    assert found == f"{archive.api_url}/assets/{ASSET}/download/"


@pytest.mark.parametrize(
    "page", ["/dandiset/000409/draft/files", "/#/dandiset/000409/draft/files", "/dandiset/000409"]
)
def test_web_pages_are_looked_up(archive, page):
    found = canonical(f"{archive.web_urls[0]}{page}?location=sub-01%2Fa%20b.nwb")
    assert found == f"{archive.api_url}/assets/{ASSET}/download/"


def test_a_dandi_path_that_is_not_there(archive):
    with pytest.raises(NotInArchiveError, match="sub-01/a"):
        canonical("dandi://local/000409/sub-01/a")  # a prefix of a path, but no path
    with pytest.raises(NotInArchiveError, match="000410"):
        canonical("dandi://local/000410/x.nwb")


@pytest.mark.parametrize("text", ["dandi://local/000409", "dandi://local/12/x.nwb", "dandi://"])
def test_broken_dandi_paths(text):
    with pytest.raises(UsageError, match="<dandiset>"):
        canonical(text)


def test_an_unknown_archive_lists_the_known():
    with pytest.raises(UsageError, match=r"dandi, dandi-sandbox"):
        canonical("dandi://dandy/000409/x.nwb")


def test_a_page_without_a_file_says_what_is_missing(archive):
    with pytest.raises(UsageError, match="location="):
        canonical(f"{archive.web_urls[0]}/dandiset/000409/draft")


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("dandi://dandi/1/a.nwb", "did you mean dandi://dandi/000001/a.nwb?"),
        ("dandi://dandi/409@draft/b/a.nwb", "did you mean dandi://dandi/000409@draft/b/a.nwb?"),
    ],
)
def test_a_dandiset_of_fewer_than_six_digits(path, hint):
    with pytest.raises(UsageError, match="six digits") as caught:
        canonical(path)
    assert str(caught.value).endswith(hint)


@pytest.mark.parametrize("path", ["dandi://dandi/abc/a.nwb", "dandi://dandi", "dandi://dandi/0000001/a.nwb"])
def test_a_dandi_path_without_a_hint(path):
    with pytest.raises(UsageError, match="six digits$"):
        canonical(path)


def test_places_that_are_written_to_are_local(tmp_path):
    assert written_path(tmp_path / "a.json") == tmp_path / "a.json"
    assert written_path(f"file://{tmp_path}/a.json") == tmp_path / "a.json"
    for url in ("s3://bucket/refs", "https://user:secret@host/refs?token=secret", "HTTP://host/a.json"):
        with pytest.raises(UsageError, match="is a URL, and this is written to disk") as raised:
            written_path(url)
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize("write", ["write_rfs", "write_kerchunk", "to_hdf5"])
def test_what_writes_to_disk_refuses_a_url(write, tmp_path, monkeypatch):
    import shadowzarr

    monkeypatch.chdir(tmp_path)
    rfs = shadowzarr.RfsBuilder().build()
    with pytest.raises(UsageError, match="is a URL"):
        getattr(shadowzarr, write)(rfs, "s3://bucket/refs")
    assert not list(tmp_path.iterdir())
