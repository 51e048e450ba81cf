"""The archive's state: what uploading, changing, publishing and removing do to ids and times."""

import os
from datetime import UTC, datetime

import pytest

from shadowzarr.errors import NotInArchiveError, UsageError
from shadowzarr.testing import Archive


def test_same_calls_give_the_same_archive(tmp_path):
    (tmp_path / "x").write_bytes(b"x")

    def build():
        archive = Archive()
        archive.add_dandiset("000001")
        archive.add_asset("000001", "x.nwb", tmp_path / "x")
        archive.publish("000001")
        return archive.asset_at("000001", "x.nwb"), archive.dandiset("000001")

    assert build() == build()


def test_time_moves_with_each_change(archive, files):
    draft = archive.dandiset("000001").draft
    seen = [draft.modified]
    archive.add_asset("000001", "new.nwb", files["d"])
    seen.append(draft.modified)
    archive.rename_asset("000001", "new.nwb", "newer.nwb")
    seen.append(draft.modified)
    archive.remove_asset("000001", "newer.nwb")
    seen.append(draft.modified)
    assert sorted(set(seen)) == seen


def test_renaming_keeps_the_blob_and_not_the_id(archive, nwb):
    renamed = archive.rename_asset("000001", nwb.path, "moved.nwb")
    assert renamed.blob_id == nwb.blob_id
    assert renamed.asset_id != nwb.asset_id
    assert nwb.path not in archive.dandiset("000001").draft.assets
    assert archive.asset(nwb.asset_id) == nwb


def test_new_bytes_and_new_metadata_give_new_ids(archive, nwb, files):
    described = archive.replace_asset("000001", nwb.path, metadata={"keywords": ["x"]})
    assert (described.blob_id, described.metadata) == (nwb.blob_id, {"keywords": ["x"]})
    changed = archive.replace_asset("000001", nwb.path, files["d"])
    assert changed.blob_id != nwb.blob_id
    assert changed.metadata == {"keywords": ["x"]}
    back = archive.replace_asset("000001", nwb.path, files["a"], metadata={})
    assert back.blob_id == nwb.blob_id
    assert len({asset.asset_id for asset in (nwb, described, changed, back)}) == 4


def test_zarr_keeps_its_ids_when_its_content_changes(archive, zarr_folder):
    asset = archive.asset_at("000001", "sub-02/image.zarr")
    before = archive.zarr(asset.zarr_id)
    (zarr_folder / "more").write_bytes(b"more")
    after = archive.add_zarr("000001", "sub-02/image.zarr", zarr_folder)
    assert after.zarr_id == before.zarr_id
    assert after.checksum != before.checksum
    assert archive.size(asset) == 14


def test_same_bytes_share_a_blob(archive, files, tmp_path):
    (tmp_path / "copy").write_bytes(files["a"].read_bytes())
    copy = archive.add_asset("000003", "copy.nwb", tmp_path / "copy")
    original = archive.asset_at("000001", "sub-01/sub-01_ecephys.nwb")
    assert copy.blob_id == original.blob_id
    assert [home.identifier for home in archive.homes(copy.blob_id)] == ["000001", "000003"]
    assert archive.blob(copy.blob_id).file == files["a"]


def test_blob_whose_file_has_gone_is_served_from_another(archive, files, tmp_path):
    blob = archive.add_blob(files["a"])
    files["a"].rename(tmp_path / "moved")
    assert archive.add_blob(tmp_path / "moved").blob_id == blob.blob_id
    assert archive.blob(blob.blob_id).file == tmp_path / "moved"


def test_publishing(archive, nwb):
    assert archive.dandiset("000001").latest is None
    first, second = archive.publish("000001"), archive.publish("000001")
    assert (first, second) == ("0.250102.0304", "0.250102.0305")
    dandiset = archive.dandiset("000001")
    assert dandiset.latest.name == second
    assert dandiset.draft.assets == dandiset.latest.assets
    published = archive.asset(nwb.asset_id)
    assert published.asset_id == nwb.asset_id
    assert published.published == dandiset.versions[first].created
    assert dandiset.draft.status == "Published"
    archive.remove_asset("000001", nwb.path)
    assert (dandiset.draft.status, len(dandiset.latest.assets)) == ("Valid", 4)
    assert archive.publish("000001", version="0.260101.0000") == "0.260101.0000"


def test_large_blob_has_no_sha256_yet(archive, tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(65 * 2**20)
    assert archive.sha256(archive.add_blob(tmp_path / "large")) is None


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda a, f: a.add_dandiset("1"), UsageError, "six digits"),
        (lambda a, f: a.add_dandiset("000001"), UsageError, "exists already"),
        (lambda a, f: a.add_asset("000001", "README.txt", f), UsageError, "already"),
        (lambda a, f: a.rename_asset("000001", "sub-01/video.mp4", "README.txt"), UsageError, "already"),
        (lambda a, f: a.publish("000001", version="1.0"), UsageError, "not of the form"),
        (lambda a, f: a.remove_asset("000001", "none"), NotInArchiveError, "no asset none"),
        (lambda a, f: a.asset_at("000001", "x", version="0.1"), NotInArchiveError, "000001/0.1"),
        (lambda a, f: a.dandiset("000009"), NotInArchiveError, "000009"),
        (lambda a, f: a.asset("x"), NotInArchiveError, "no asset x"),
        (lambda a, f: a.blob("x"), NotInArchiveError, "no blob x"),
        (lambda a, f: a.zarr("x"), NotInArchiveError, "no zarr x"),
    ],
)
def test_what_cannot_be_done(archive, files, change, error, message):
    before = list(archive.dandiset("000001").draft.assets)
    with pytest.raises(error, match=message):
        change(archive, files["a"])
    assert list(archive.dandiset("000001").draft.assets) == before


def test_empty_files_are_not_taken(archive, tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(UsageError, match="no empty files"):
        archive.add_asset("000001", "empty.nwb", tmp_path / "empty")


def test_start(tmp_path):
    archive = Archive(start=datetime(2026, 5, 6, 7, 8, 0, tzinfo=UTC))
    archive.add_dandiset("000001")
    assert archive.publish("000001") == "0.260506.0708"


def test_digests_are_computed_once_per_state(archive, files):
    stat = files["a"].stat()
    assert archive.add_blob(files["a"]) == archive.add_blob(files["a"])
    files["a"].write_bytes(b"z" * stat.st_size)
    os.utime(files["a"], ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert archive.add_blob(files["a"]).size == stat.st_size
    assert len(archive.blobs()) == 5
