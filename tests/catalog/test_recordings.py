"""Folders that hold recordings which NEO reads: each one asset, through all stages."""

import os

import pytest

pytest.importorskip("neo", reason="the extra neo is not installed")

import chained_recordings_by_hand as chained
import recordings_by_hand as hand

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.folders import list_folder
from shadowzarr.catalog.index_run import RunLog, index_dandisets, plan_run
from shadowzarr.catalog.plan import SelectionRules
from shadowzarr.catalog.records import read_record
from shadowzarr.catalog.request import FILE_INCLUDE, FolderRequest, IndexRequest, ManifestRequest
from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.testing import RangeServer
from shadowzarr.verify import verify_rfs

PATHS = ["mouse 1/oe", "mouse 1/run_g0", "nlx", "single/a.set", "single/a.vhdr"]


@pytest.fixture
def folder(tmp_path, write_file):
    """Recordings that are folders, and ones that begin with a file, two of them beside each other."""
    root = tmp_path / "data"
    for name, write in {
        "mouse 1/run_g0": hand.spikeglx,
        "mouse 1/oe": hand.open_ephys_binary,
        "nlx": hand.neuralynx,
        "single": hand.brain_vision,
    }.items():
        (root / name).mkdir(parents=True)
        write(root / name)
    chained.axona(root / "single")
    write_file(root / "nlx" / "more" / "a.h5")
    return root


@pytest.fixture
def request_of(tmp_path):
    def make(request, **changes) -> IndexRequest:
        values = {"dandisets": (), "output": tmp_path / "out", "concurrency": 1, "timeout": 60.0}
        archive = ArchiveAddress("http://127.0.0.1:1/api")
        return IndexRequest(archive, folders=(request,), **(values | changes))

    return make


def records(folder):
    return {record.path: record for record in map(read_record, folder.rglob("*.record.json"))}


def test_a_folder_of_recordings_alone_needs_no_warning(folder, request_of):
    """They are found whatever include says, so that its default patterns need not match."""
    (folder / "nlx" / "more" / "a.h5").unlink()
    log = RunLog()
    plan_run(request_of(FolderRequest("raw", folder)), log)
    assert sorted(work.asset.path for work in log.plan.work) == PATHS
    assert log.plan.warnings == []


def test_each_recording_is_one_asset_and_equals_what_neo_reads(folder, request_of, pool, tmp_path):
    request = request_of(FolderRequest("raw", folder))
    summary = index_dandisets(request, pool=pool)
    assert (summary.exit_code, summary.outcome_counts) == (0, {"indexed": 6})
    found = records(tmp_path / "out")
    assert sorted(found) == ["mouse 1/oe", "mouse 1/run_g0", "nlx", "nlx/more/a.h5", *PATHS[3:]]
    for path in PATHS:
        record = found[path]
        assert record.references == f"collections/raw/current/{path}.shadowzarr"
        assert (record.url, record.verification.equal) == (str(folder / path), True)
        assert verify_rfs(tmp_path / "out" / record.references, mode="full").equal
    assert found["mouse 1/run_g0"].size == sum(
        path.stat().st_size for path in (folder / "mouse 1" / "run_g0").iterdir()
    )


def test_a_change_of_any_of_its_files_is_a_change_of_the_recording(folder, request_of, pool):
    request = request_of(FolderRequest("raw", folder, SelectionRules(("**/oe", "**/run_g0"))))
    index_dandisets(request, pool=pool)
    assert index_dandisets(request, pool=pool).records == []
    meta = folder / "mouse 1" / "run_g0" / "r_g0_t0.imec0.ap.meta"
    meta.write_text(meta.read_text().replace("imSampRate=30000", "imSampRate=25000"))
    (changed,) = index_dandisets(request, pool=pool).records
    assert (changed.path, changed.outcome, changed.verification.equal) == ("mouse 1/run_g0", "indexed", True)


@pytest.mark.parametrize("identity", ["time", "digest"])
def test_what_tells_one_content_from_another(folder, identity):
    def state():
        assets = list_folder(FolderRequest("raw", folder, identity=identity))
        return {asset.path: asset.etag for asset in assets}

    before = state()
    data = folder / "nlx" / "CSC1.ncs"
    times = data.stat()
    content = bytearray(data.read_bytes())
    content[-1] ^= 1
    data.write_bytes(content)
    os.utime(data, ns=(times.st_atime_ns, times.st_mtime_ns))
    changed = [path for path, etag in state().items() if before[path] != etag]
    assert changed == (["nlx"] if identity == "digest" else [])


def test_where_it_is_hosted(folder, request_of, pool, tmp_path):
    with RangeServer(folder) as server:
        request = request_of(FolderRequest("raw", folder, url_prefix=server.base_url))
        assert index_dandisets(request, pool=pool).outcome_counts == {"indexed": 6}
        for path, record in records(tmp_path / "out").items():
            rfs = load_rfs(tmp_path / "out" / record.references)
            assert all(url.startswith(server.base_url) for url in rfs["sources"])
            assert verify_rfs(tmp_path / "out" / record.references, folder / path, mode="full").equal


def test_a_collection_that_is_a_recording_is_called_as_its_folder(folder, request_of, pool, tmp_path):
    run = folder / "mouse 1" / "run_g0"
    assert [asset.path for asset in list_folder(FolderRequest("raw", run))] == ["run_g0"]
    assert index_dandisets(request_of(FolderRequest("raw", run)), pool=pool).outcome_counts == {"indexed": 1}
    assert [record.url for record in records(tmp_path / "out").values()] == [str(run)]
    (hosted,) = list_folder(FolderRequest("raw", run, url_prefix="https://host.test/run"))
    assert (hosted.download_url, hosted.local_path) == ("https://host.test/run", str(run))


def test_patterns_choose_recordings_as_they_choose_files(folder, request_of, pool):
    rules = SelectionRules(FILE_INCLUDE, exclude=("mouse*/**", "nlx"), recordings=True)
    summary = index_dandisets(request_of(FolderRequest("raw", folder, rules)), pool=pool)
    assert sorted(record.path for record in summary.records) == ["nlx/more/a.h5", *PATHS[3:]]
    assert {(each.path, each.reason) for each in summary.skipped} == {
        (path, "excluded") for path in ("mouse 1/oe", "mouse 1/run_g0", "nlx")
    }


def test_a_list_names_recordings_by_their_folder_or_first_file(folder, request_of, pool, tmp_path):
    (folder / "list.txt").write_text("mouse 1/run_g0\nsingle/a.vhdr\nnlx/more/a.h5\n")
    request = IndexRequest(
        ArchiveAddress("http://127.0.0.1:1/api"),
        (),
        tmp_path / "out",
        manifests=(ManifestRequest("list", str(folder / "list.txt")),),
        concurrency=1,
        timeout=60.0,
    )
    summary = index_dandisets(request, pool=pool)
    assert (summary.exit_code, summary.outcome_counts) == (0, {"indexed": 3})
    assert all(record.verification.equal for record in summary.records)


def test_a_broken_recording_fails_alone(folder, request_of, pool):
    (folder / "mouse 1" / "run_g0" / "r_g0_t0.imec0.ap.bin").write_bytes(b"odd")
    (folder / "single" / "a.eeg").unlink()
    summary = index_dandisets(request_of(FolderRequest("raw", folder)), pool=pool)
    assert summary.outcome_counts["indexed"] == 4
    assert {record.path: record.error.kind for record in summary.failures} == {
        "mouse 1/run_g0": "DamagedSourceError",
        "single/a.vhdr": "DamagedSourceError",
    }
