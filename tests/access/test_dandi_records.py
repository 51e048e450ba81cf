import pytest

from shadowzarr.access.dandi_records import Version, parse, to_asset, to_dandiset, to_version
from shadowzarr.errors import ArchiveError

API = "https://api.dandiarchive.org/api"
ASSET = "5a9cc6f1-aeaf-46cc-aae7-ea27960236ea"
BLOB = "2dbaf0fd-5003-4a0a-b4c0-bc8cdbdb3826"
OBJECT = f"https://dandiarchive.s3.amazonaws.com/blobs/2db/af0/{BLOB}"
VERSION = {
    "version": "draft",
    "name": "A name",
    "asset_count": 3,
    "size": 10,
    "created": "a",
    "modified": "b",
    "status": "Valid",
}


def asset(**changes):
    record = {
        "asset_id": ASSET,
        "path": "sub-01/a.nwb",
        "size": 10,
        "blob": BLOB,
        "zarr": None,
        "created": "a",
        "modified": "b",
        "metadata": {
            "contentUrl": [OBJECT, f"{API}/assets/{ASSET}/download/"],  # in either order
            "digest": {"dandi:dandi-etag": "0123-1"},
            "access": [{"status": "dandi:EmbargoedAccess"}],
            "@context": "left out",
        },
    }
    return to_asset(record | changes, api_url=API)


def test_an_asset():
    found = asset()
    assert found.etag == '"0123-1"'
    assert found.download_url == f"{API}/assets/{ASSET}/download/"
    assert found.blob_url == OBJECT
    assert found.embargoed
    assert set(found.metadata) == {"contentUrl", "digest", "access"}


def test_an_asset_without_metadata():
    for metadata in (None, {}, {"digest": None, "contentUrl": None, "access": None}):
        found = asset(metadata=metadata)
        assert (found.etag, found.blob_url, found.embargoed) == (None, None, False)


@pytest.mark.parametrize(("blob", "zarr"), [(None, None), (BLOB, BLOB)])
def test_an_asset_is_a_blob_or_a_zarr(blob, zarr):
    with pytest.raises(KeyError, match="blob or zarr"):
        asset(blob=blob, zarr=zarr)


def test_a_version_and_a_dandiset():
    version = Version("draft", "A name", 3, 10, "a", "b", "Valid")
    assert to_version(VERSION) == version
    record = {"identifier": "000001", "created": "a", "modified": "b", "embargo_status": "UNEMBARGOING"}
    dandiset = to_dandiset(record | {"draft_version": VERSION, "most_recent_published_version": None})
    assert dandiset.draft_version == version
    assert dandiset.most_recent_published_version is None
    assert not dandiset.is_open


def test_a_spoiled_record_names_what_it_is():
    with pytest.raises(ArchiveError, match=r"version 3: .*'version'"):
        parse(to_version, {}, "version 3")
