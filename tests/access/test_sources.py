import pytest

from shadowzarr.access.source_identity import Source
from shadowzarr.access.sources import check_local_copy, check_source, dandi_etag, describe, describe_with_head
from shadowzarr.errors import (
    MissingCredentialsError,
    NotInArchiveError,
    ReadError,
    SourceChangedError,
    SourceNotFoundError,
    UsageError,
)
from shadowzarr.testing import Fault, RangeServer
from shadowzarr.testing.digests import dandi_etag as the_servers_etag


def test_a_local_file_has_a_size(tmp_path):
    (tmp_path / "a.nwb").write_bytes(b"12345")
    assert describe(tmp_path / "a.nwb") == Source(str(tmp_path / "a.nwb"), 5, None)
    assert describe(str(tmp_path / "a.nwb"), url="s3://b/k") == Source("s3://b/k", 5, None)
    with pytest.raises(SourceNotFoundError):
        describe(tmp_path / "b.nwb")


def test_a_remote_file_is_asked_for_one_byte(server, url, content):
    source = describe(url)
    assert source.url == url
    assert source.size == len(content)
    assert source.etag == f'"{the_servers_etag(server.folder / "data.bin")}"'
    assert server.log.bytes_sent == 1
    assert [entry.method for entry in server.log] == ["GET"]


def test_a_signed_url_does_not_get_into_references(url):
    signed = url + "?X-Amz-Signature=SECRET"
    with pytest.raises(UsageError, match="comes with a signature") as caught:
        describe(signed)
    assert "SECRET" not in str(caught.value)
    assert describe(signed, url=url).url == url


def test_a_server_without_ranges_is_refused_at_once(server, url):
    server.faults.add(Fault(ignore_range=True))
    with pytest.raises(ReadError, match="ignores Range"):
        describe(url)


def test_an_asset_is_described_by_the_archive(standin):
    url = standin.url(standin.open)
    source = describe(url)
    etag = the_servers_etag(standin.server.archive.blob(standin.open.blob_id).file)
    assert source == Source(url, len(standin.content), f'"{etag}"')
    assert standin.server.store.log.count() == 0
    assert len(standin.server.api.log) == 1


def test_an_asset_by_its_path_and_by_a_versions_url(standin):
    wanted = describe(standin.url(standin.open))
    assert describe("dandi://standin/000001/sub-01/a.nwb") == wanted
    nested = f"{standin.server.api_url}/dandisets/000001/versions/draft/assets/{standin.open.asset_id}/"
    assert describe(nested) == wanted
    assert describe(nested, url=standin.server.object_url(standin.open)).etag == wanted.etag


def test_an_asset_and_its_object_have_the_same_identity(standin):
    by_archive = describe(standin.url(standin.open))
    by_store = describe(standin.server.object_url(standin.open))
    assert (by_archive.size, by_archive.etag) == (by_store.size, by_store.etag)


def test_an_asset_without_a_digest_is_asked_for_one_byte(standin, monkeypatch):
    from shadowzarr.access import dandi_records

    monkeypatch.setattr(dandi_records, "quoted", lambda etag: None)
    source = describe(standin.url(standin.open))
    assert source.size == len(standin.content)
    assert source.etag is not None
    assert standin.server.store.log.bytes_sent == 1


def test_download_urls_of_a_server_without_the_rest_of_the_api(canned, redirect, url, content):
    path = "/api/assets/5a9cc6f1-aeaf-46cc-aae7-ea27960236ea/download/"
    canned.application.answers[path] = redirect(url)
    source = describe(canned.base_url + path)
    assert source.url == canned.base_url + path
    assert source.size == len(content)


def test_embargo_without_a_key(standin, monkeypatch):
    with pytest.raises(MissingCredentialsError, match="STANDIN_API_KEY"):
        describe(standin.url(standin.embargoed))
    monkeypatch.setenv("STANDIN_API_KEY", "owner-key")
    assert describe(standin.url(standin.embargoed)).size == len(standin.content)


def test_no_such_asset(standin):
    with pytest.raises(NotInArchiveError):
        describe(f"{standin.server.api_url}/assets/5a9cc6f1-aeaf-46cc-aae7-ea27960236ea/download/")


def test_a_zarr_asset_needs_no_references(standin, tmp_path):
    (tmp_path / "x.zarr").mkdir()
    (tmp_path / "x.zarr" / "zarr.json").write_text("{}")
    asset = standin.server.archive.add_asset("000001", "x.zarr", tmp_path / "x.zarr")
    with pytest.raises(UsageError, match=r"x\.zarr"):
        describe(standin.url(asset))


def test_checking_again(server, url, content, tmp_path):
    source = describe(url)
    check_source(source)
    (server.folder / "data.bin").write_bytes(content[::-1])
    with pytest.raises(SourceChangedError):
        check_source(source)


@pytest.mark.parametrize("size", [1, 64 * 2**20 - 1, 64 * 2**20, 64 * 2**20 + 1])
def test_the_archives_etag(tmp_path, size):
    with (tmp_path / "a").open("wb") as file:
        file.write(b"start")
        file.truncate(size)
    assert dandi_etag(tmp_path / "a") == f'"{the_servers_etag(tmp_path / "a")}"'


def test_a_local_copy(standin, tmp_path):
    source = describe(standin.url(standin.open))
    copy = tmp_path / "copy.nwb"
    copy.write_bytes(standin.content)
    check_local_copy(source, copy)
    copy.write_bytes(standin.content + b"x")
    with pytest.raises(SourceChangedError, match="100001 bytes, expected 100000"):
        check_local_copy(source, copy)
    copy.write_bytes(standin.content[::-1])
    with pytest.raises(SourceChangedError, match="ETag"):
        check_local_copy(source, copy)


@pytest.mark.parametrize("etag", [None, '"0123456789abcdef0123456789abcdef-1"', '"plain"', '"x-7"'])
def test_etags_that_do_not_follow_the_archives_rule_are_not_computed(tmp_path, etag):
    (tmp_path / "a").write_bytes(b"12345")
    check_local_copy(Source("https://elsewhere.org/a", 5, etag), tmp_path / "a")


def test_an_unknown_size_is_not_compared(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    check_local_copy(Source("https://elsewhere.org/a", None, None), tmp_path / "a")


def test_the_first_bytes_come_with_the_description(tmp_path):
    content = bytes(range(256)) * 8
    (tmp_path / "file").write_bytes(content)
    (tmp_path / "empty").write_bytes(b"")
    with RangeServer(tmp_path) as server:
        url = server.url("file")
        source, head = describe_with_head(url, 100)
        assert (source, bytes(head)) == (describe(url), content[:100])
        assert bytes(describe_with_head(url, 10_000)[1]) == content
        assert bytes(describe_with_head(url, len(content))[1]) == content
        assert describe_with_head(server.url("empty"), 100)[0].size == 0
        assert len(server.log) <= 6  # an empty file has no first byte, so that it is asked twice
    assert describe_with_head(tmp_path / "file", 100) == (describe(tmp_path / "file"), b"")
