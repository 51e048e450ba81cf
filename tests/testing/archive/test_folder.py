"""An archive from a folder: what becomes an asset, what changes are seen, what is refused."""

import json
import os

import pytest

from shadowzarr.errors import ConfigError, UsageError
from shadowzarr.testing import ArchiveServer, FolderArchive


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "archive"
    (root / "000001" / "sub-01").mkdir(parents=True)
    (root / "000001" / "sub-01" / "a.nwb").write_bytes(b"a" * 100)
    (root / "000001" / "b.nwb").write_bytes(b"b" * 100)
    (root / "000002").mkdir()
    (root / "000002" / "same.nwb").write_bytes(b"a" * 100)
    return root


def draft(archive, identifier="000001"):
    return sorted(archive.dandiset(identifier).draft.assets)


def describe(folder, **description):
    (folder / "archive.json").write_text(json.dumps(description))


def test_files_become_assets(folder):
    archive = FolderArchive(folder)
    assert draft(archive) == ["b.nwb", "sub-01/a.nwb"]
    same = archive.asset_at("000002", "same.nwb")
    assert same.blob_id == archive.asset_at("000001", "sub-01/a.nwb").blob_id
    assert archive.left_out == {}


def test_two_runs_agree(folder):
    one, two = FolderArchive(folder), FolderArchive(folder)
    assert one.dandisets == two.dandisets
    assert one.assets("000001") == two.assets("000001")


def test_what_is_left_out(folder):
    (folder / "000001" / ".hidden").write_bytes(b"x")
    (folder / "000001" / "dandiset.yaml").write_bytes(b"x")
    (folder / "000001" / "empty.nwb").touch()
    (folder / "other").mkdir()
    (folder / "0000003").mkdir()
    archive = FolderArchive(folder)
    assert draft(archive) == ["b.nwb", "sub-01/a.nwb"]
    assert list(archive.dandisets) == ["000001", "000002"]
    assert [path.name for path in archive.left_out] == ["empty.nwb"]


def test_zarr_folders(folder):
    (folder / "000001" / "x.zarr" / "c").mkdir(parents=True)
    (folder / "000001" / "x.zarr" / ".zgroup").write_text("{}")
    (folder / "000001" / "x.zarr" / "c" / "0").write_text("0")
    archive = FolderArchive(folder)
    asset = archive.asset_at("000001", "x.zarr")
    assert [file.path for file in archive.zarr(asset.zarr_id).files] == [".zgroup", "c/0"]
    modified = archive.dandiset("000001").draft.modified
    (folder / "000001" / "x.zarr" / "c" / "1").write_text("1")
    assert archive.refresh()
    assert archive.asset_at("000001", "x.zarr").asset_id == asset.asset_id
    assert len(archive.zarr(asset.zarr_id).files) == 3
    assert archive.dandiset("000001").draft.modified > modified


def test_refresh(folder):
    archive = FolderArchive(folder)
    before = {asset.path: asset for asset in archive.assets("000001")}
    modified = archive.dandiset("000001").draft.modified
    assert not archive.refresh()
    (folder / "000001" / "b.nwb").unlink()
    (folder / "000001" / "sub-01" / "a.nwb").write_bytes(b"new")
    (folder / "000001" / "c.nwb").write_bytes(b"c")
    (folder / "000003").mkdir()
    (folder / "000003" / "d.nwb").write_bytes(b"d")
    assert archive.refresh()
    assert draft(archive) == ["c.nwb", "sub-01/a.nwb"]
    assert archive.asset_at("000001", "sub-01/a.nwb").blob_id != before["sub-01/a.nwb"].blob_id
    assert archive.dandiset("000001").draft.modified > modified
    assert draft(archive, "000003") == ["d.nwb"]


def test_touched_file_is_the_same_asset(folder):
    archive = FolderArchive(folder)
    before = archive.asset_at("000001", "b.nwb")
    os.utime(folder / "000001" / "b.nwb", (1, 1))
    archive.refresh()
    assert archive.asset_at("000001", "b.nwb") == before


def test_changes_by_calls_survive_a_refresh(folder):
    archive = FolderArchive(folder)
    archive.rename_asset("000001", "b.nwb", "renamed.nwb")
    (folder / "000001" / "c.nwb").write_bytes(b"c")
    archive.refresh()
    assert draft(archive) == ["c.nwb", "renamed.nwb", "sub-01/a.nwb"]
    (folder / "000001" / "b.nwb").unlink()
    archive.refresh()
    assert draft(archive) == ["c.nwb", "renamed.nwb", "sub-01/a.nwb"]


def test_other_content_of_a_later_run_has_another_time(folder):
    first = FolderArchive(folder).dandiset("000001").draft.modified
    (folder / "000001" / "sub-01" / "c.nwb").write_bytes(b"c")
    assert FolderArchive(folder).dandiset("000001").draft.modified > first
    (folder / "000001" / "sub-01" / "c.nwb").unlink()
    assert FolderArchive(folder).dandiset("000001").draft.modified > first


def test_listing_sees_the_folder_as_it_is(folder, client):
    with ArchiveServer(folder) as server:
        url = f"{server.api_url}/dandisets/000001/versions/draft/assets/"
        assert client.get(url).json()["count"] == 2
        (folder / "000001" / "c.nwb").write_bytes(b"c")
        assert client.get(f"{url}?page=1").json()["count"] == 2  # pages under way do not change
        assert client.get(url).json()["count"] == 3


def test_an_asset_whose_file_was_deleted_is_gone(folder, client):
    """Whether or not a listing has shown since that it is; in a published version it stays listed."""
    (folder / "archive.json").write_text(
        json.dumps({"dandisets": {"000001": {"versions": {"0.250102.0304": "draft"}}}})
    )
    with ArchiveServer(folder) as server:
        asset = server.archive.asset_at("000001", "b.nwb")
        url, version = f"{server.api_url}/assets/{asset.asset_id}", "0.250102.0304"
        assert client.get(f"{url}/info/").status_code == 200
        (folder / "000001" / "b.nwb").unlink()
        listing = f"{server.api_url}/dandisets/000001/versions/{version}/assets/"
        for _ in range(2):
            for address in (f"{url}/", f"{url}/info/", f"{url}/download/"):
                response = client.get(address)
                assert response.status_code == 404
                assert response.json() == {"detail": "No Asset matches the given query."}
            assert client.get(listing, params={"metadata": True}).json()["count"] == 2
            assert client.get(listing.replace(version, "draft")).json()["count"] == 1


def test_description(folder):
    describe(
        folder,
        users={"alice": {"key": "alice-key"}, "root": {"key": "root-key", "admin": True}},
        dandisets={
            "000001": {
                "title": "Mine",
                "owners": ["alice"],
                "versions": {
                    "0.250102.0304": "draft",
                    "0.240506.0708": {"old.nwb": "000001/b.nwb", "b.nwb": "000001/b.nwb"},
                },
            },
            "000002": {"embargo": "EMBARGOED"},
        },
    )
    archive = FolderArchive(folder)
    dandiset = archive.dandiset("000001")
    assert (dandiset.title, dandiset.owners) == ("Mine", {"alice"})
    assert list(dandiset.versions) == ["draft", "0.240506.0708", "0.250102.0304"]
    assert draft(archive) == ["b.nwb", "sub-01/a.nwb"]
    old = dandiset.versions["0.240506.0708"].assets
    assert sorted(old) == ["b.nwb", "old.nwb"]
    assert old["b.nwb"] == dandiset.draft.assets["b.nwb"]
    assert archive.asset(old["old.nwb"]).blob_id == archive.asset(old["b.nwb"]).blob_id
    assert dandiset.latest.assets == dandiset.draft.assets
    assert archive.dandiset("000002").embargo == "EMBARGOED"
    assert archive.users["root-key"].is_admin


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "found list, expected an object"),
        ('{"user": {}}', "unknown user; expected one of dandisets, users"),
        ('{"users": {"a": {}}}', "users.a has no key"),
        ('{"dandisets": {"000001": []}}', "dandisets.000001 is not an object"),
        ('{"dandisets": {"000001": {"name": "x"}}}', "unknown dandisets.000001.name"),
        ('{"dandisets": {"000001": {"embargo": true}}}', "embargo is True"),
        ('{"dandisets": {"000001": {"versions": {"0.250101.0000": 1}}}}', "neither"),
        ('{"dandisets": {"000001": {"versions": {"0.250101.0000": {"a": "none"}}}}}', "names none"),
    ],
)
def test_wrong_description(folder, description, message):
    (folder / "archive.json").write_text(description)
    with pytest.raises(ConfigError, match=message):
        FolderArchive(folder)


def test_no_folder_and_no_dandiset(tmp_path):
    with pytest.raises(UsageError, match="is not a folder"):
        FolderArchive(tmp_path / "none")
    with pytest.raises(UsageError, match="holds no dandiset"):
        FolderArchive(tmp_path)
