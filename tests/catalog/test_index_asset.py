"""One asset in this process: what is counted, what is reported, and what is refused."""

from dataclasses import replace

import h5py
import numpy as np
import pytest

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.folder_output import FolderOutput
from shadowzarr.catalog.index_asset import count_objects, index_asset
from shadowzarr.catalog.jobs import IndexJob, VerificationOptions, VerifyJob
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.resolve import catalog_asset, open_archive, resolve_assets, resolve_version
from shadowzarr.catalog.verify_asset import verify_asset
from shadowzarr.errors import ArchiveError, NotInArchiveError, ReferencesDifferError, SourceChangedError
from shadowzarr.formats.dispatch import generate_references
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.write import write_rfs


@pytest.fixture
def job(archive, tmp_path):
    address = ArchiveAddress(archive.api_url)
    with open_archive(address) as client:
        asset = next(resolve_assets(client, resolve_version(client, "000001", "draft")))
    staged = tmp_path / "staging" / "references.shadowzarr"
    return IndexJob(asset.download_url, staged, asset.size, asset.etag, ReferenceOptions(), address)


def test_references_are_written_and_counted(job):
    news = []
    result = index_asset(job, progress=news.append)
    assert (result.counts.groups, result.counts.arrays, result.skipped, result.repointed_from) == (
        2,
        3,
        [],
        None,
    )
    assert result.statistics["requests"] >= 1
    assert result.statistics["referenced_bytes"] > 0
    assert list(load_rfs(job.staged)["sources"]) == [job.url]


@pytest.mark.parametrize("change", [{"size": 7}, {"etag": "0" * 32 + "-1"}])
def test_a_file_that_is_not_the_one_listed_is_refused(job, change):
    with pytest.raises(SourceChangedError, match="run again"):
        index_asset(replace(job, **change))
    assert not job.staged.exists()


def test_a_file_that_does_not_tell_its_size_is_refused(job, monkeypatch):
    """Other files that it leads to stand in no listing, and do not speak for it."""

    def without_own_source(*arguments, **options):
        rfs = generate_references(*arguments, **options)
        rfs["sources"] = {"http://elsewhere/x": {"size": job.size, "linked": True}}
        return rfs

    monkeypatch.setattr("shadowzarr.catalog.index_asset.generate_references", without_own_source)
    with pytest.raises(SourceChangedError, match="does not tell its size"):
        index_asset(job)


def test_a_twin_that_is_gone_is_no_hindrance(job, tmp_path):
    result = index_asset(replace(job, twin="gone.record.json", output=FolderOutput(tmp_path)))
    assert result.repointed_from is None
    assert job.staged.is_dir()


def test_counts_of_every_kind_of_chunk(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        many = file.create_dataset("many", shape=(50, 4), chunks=(1, 4), dtype="f8")
        many[:30] = 1
        file["slabs"] = np.zeros(10_000)
        file["text"] = ["a", "b"]
    counts = count_objects(generate_rfs(path, chunk_index_threshold=10, contiguous_chunk_bytes=8_000))
    assert (counts.groups, counts.arrays, counts.indexed_arrays, counts.inline_chunks) == (1, 3, 1, 1)
    assert counts.chunks == 30 + 10 + 1
    assert counts.array_bytes == 50 * 4 * 8 + 80_000


def test_verification_in_short(job, tmp_path):
    index_asset(job)
    verify = VerifyJob(job.url, job.staged, VerificationOptions("full"), job.archive)
    summary = verify_asset(verify)
    assert (summary.mode, summary.equal, summary.difference_count) == ("full", True, 0)
    assert summary.bytes > 4000
    assert not verify_asset(replace(verify, options=VerificationOptions("none"))).equal


def test_references_that_differ_are_an_error_that_says_where(job, write_file, tmp_path):
    write_rfs(generate_rfs(write_file(tmp_path / "other.h5", seed=99)), job.staged)
    with pytest.raises(ReferencesDifferError, match="differ from the file in") as caught:
        verify_asset(VerifyJob(job.url, job.staged, VerificationOptions("full"), job.archive))
    assert caught.value.summary.difference_count > 0
    assert caught.value.summary.differences


def test_names_of_an_archive_that_no_file_can_have(archive, monkeypatch):
    with open_archive(ArchiveAddress(archive.api_url)) as client:
        version = resolve_version(client, "000001", "draft")
        (asset, _) = client.list_assets("000001", "draft")
        assert catalog_asset(replace(asset, path="a\ud800.nwb"), version).path == "a\\ud800.nwb"
        found = client.dandiset("000001")
        odd = replace(found.draft_version, version="../../elsewhere")
        monkeypatch.setattr(client, "dandiset", lambda _: replace(found, most_recent_published_version=odd))
        with pytest.raises(ArchiveError, match="names its newest version '../../elsewhere'"):
            resolve_version(client, "000001", "latest")


def test_what_the_archive_tells_of_an_asset(archive, tmp_path, write_file):
    folder = tmp_path / "store.zarr"
    folder.mkdir()
    (folder / "zarr.json").write_text("{}")
    archive.archive.add_asset("000001", "a.zarr", folder)
    with open_archive(ArchiveAddress(archive.api_url)) as client:
        version = resolve_version(client, "000001", "draft")
        assets = {asset.path: asset for asset in resolve_assets(client, version)}
        with pytest.raises(NotInArchiveError, match="no published version"):
            resolve_version(client, "000001", "latest")
    assert (assets["a.zarr"].kind, assets["a.zarr"].etag) == ("zarr", "")
    blob = assets["sub-0/0.nwb"]
    assert (blob.kind, blob.embargoed, blob.etag.endswith("-1")) == ("blob", False, True)
    assert blob.download_url.endswith(f"/assets/{blob.asset_id}/download/")
    assert "/blobs/" in blob.blob_url
