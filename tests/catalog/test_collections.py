"""Folders and lists of files through the same stages as the assets of an archive."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.index_run import RunLog, index_dandisets, plan_run
from shadowzarr.catalog.plan import SelectionRules
from shadowzarr.catalog.records import read_record
from shadowzarr.catalog.request import FolderRequest, IndexRequest, ManifestRequest
from shadowzarr.errors import UsageError
from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.testing import RangeServer
from shadowzarr.verify import verify_rfs

tifffile = pytest.importorskip("tifffile", reason="the extra tiff is not installed")


@pytest.fixture
def folder(tmp_path, write_file):
    """Two files of different formats, one of none under the name of one, and notes."""
    root = tmp_path / "data"
    write_file(root / "sub" / "a.h5", seed=1)
    stack = np.arange(4 * 20 * 30, dtype="u2").reshape(4, 20, 30)
    tifffile.imwrite(root / "b.tif", stack, photometric="minisblack", metadata={"axes": "TYX"})
    (root / "notes.txt").write_text("notes")
    return root


@pytest.fixture
def request_of(tmp_path):
    """Makes requests that name no dandiset; an archive that is asked would not answer."""

    def make(**changes) -> IndexRequest:
        values = {
            "archive": ArchiveAddress("http://127.0.0.1:1/api"),
            "dandisets": (),
            "output": tmp_path / "out",
            "concurrency": 1,
            "timeout": 60.0,
        }
        return IndexRequest(**(values | changes))

    return make


def records(folder):
    return {record.path: record for record in map(read_record, folder.rglob("*.record.json"))}


def test_a_folder_is_indexed_verified_published_and_recorded(folder, request_of, pool, tmp_path):
    request = request_of(folders=(FolderRequest("raw", folder),))
    summary = index_dandisets(request, pool=pool)
    assert (summary.exit_code, summary.outcome_counts) == (0, {"indexed": 2})
    assert (summary.archive, summary.dandisets) == ("", [("raw", "current")])
    assert [(each.path, each.reason) for each in summary.skipped] == [("notes.txt", "excluded")]
    found = records(tmp_path / "out")
    for path, record in found.items():
        assert record.references == f"collections/raw/current/{path}.shadowzarr"
        assert record.url == str(folder / path)
        assert record.verification.equal
        assert verify_rfs(tmp_path / "out" / record.references, mode="full").equal
    assert found["b.tif"].counts.arrays == 1
    assert found["b.tif"].counts.chunks == 4
    skipped = tmp_path / "out" / "collections" / "raw" / "current.skipped.json"
    assert [each["path"] for each in json.loads(skipped.read_text())] == ["notes.txt"]


def test_a_second_run_does_what_has_changed_and_keeps_what_is_gone(
    folder, request_of, pool, tmp_path, write_file
):
    request = request_of(folders=(FolderRequest("raw", folder),))
    index_dandisets(request, pool=pool)
    again = index_dandisets(request, pool=pool)
    assert (again.records, again.plan_counts) == ([], {"to index": 0, "unchanged": 2, "excluded": 1})
    write_file(folder / "sub" / "a.h5", seed=2)
    (folder / "b.tif").unlink()
    changed = index_dandisets(request, pool=pool)
    assert [(record.path, record.outcome) for record in changed.records] == [("sub/a.h5", "indexed")]
    assert [(each.path, each.what) for each in changed.kept] == [("b.tif", "references")]
    assert len(list((tmp_path / "out").rglob("*.record.json"))) == 2


def test_a_plan_does_nothing(folder, request_of, tmp_path):
    log = RunLog()
    plan_run(request_of(folders=(FolderRequest("raw", folder, SelectionRules(("**/*.tif", "*.x"))),)), log)
    assert [(work.asset.path, work.cause) for work in log.plan.work] == [("b.tif", "new")]
    assert log.plan.warnings == ["folder raw: the include pattern '*.x' matches no asset"]
    assert not (tmp_path / "out").exists()


def test_only_patterns_that_somebody_wrote_have_to_match(folder, request_of, tmp_path):
    log, empty = RunLog(), tmp_path / "texts"
    empty.mkdir()
    (empty / "a.txt").write_text("a")
    plan_run(request_of(folders=(FolderRequest("raw", folder), FolderRequest("texts", empty))), log)
    assert log.plan.warnings == [
        "folder texts: no asset matches the default include patterns (**/*.nwb, **/*.h5, **/*.hdf5, "
        "**/*.nc, **/*.mat, **/*.tif, **/*.tiff)"
    ]


def test_what_no_generator_reads_fails_alone(folder, request_of, pool, tmp_path):
    (folder / "text.tif").write_text("this is text")
    (folder / "broken.h5").symlink_to(tmp_path / "nothing")
    (folder / "named.nwb").write_bytes((folder / "b.tif").read_bytes())
    summary = index_dandisets(request_of(folders=(FolderRequest("raw", folder),)), pool=pool)
    assert {record.path: record.error.kind for record in summary.failures} == {
        "text.tif": "UnknownFormatError",
        "broken.h5": "SourceNotFoundError",
    }
    assert records(tmp_path / "out")["named.nwb"].outcome == "indexed"


def test_references_of_a_hosted_folder_name_its_urls(folder, request_of, pool, tmp_path):
    with RangeServer(folder) as server:
        request = request_of(folders=(FolderRequest("raw", folder, url_prefix=server.base_url),))
        summary = index_dandisets(request, pool=pool)
        assert summary.outcome_counts == {"indexed": 2}
        for path, record in records(tmp_path / "out").items():
            assert record.url == server.url(path)
            ((url, source),) = load_rfs(tmp_path / "out" / record.references)["sources"].items()
            assert url == record.url
            assert source["etag"]
            assert verify_rfs(tmp_path / "out" / record.references, mode="full").equal


def test_a_copy_that_is_not_what_is_hosted_fails(folder, request_of, pool, tmp_path, write_file):
    write_file(tmp_path / "hosted" / "sub" / "a.h5", seed=1, chunks=20)
    (tmp_path / "hosted" / "b.tif").write_bytes((folder / "b.tif").read_bytes()[:-1])
    with RangeServer(tmp_path / "hosted") as server:
        request = request_of(folders=(FolderRequest("raw", folder, url_prefix=server.base_url),))
        summary = index_dandisets(request, pool=pool)
    assert {record.path: record.error.kind for record in summary.failures} == {
        "b.tif": "SourceChangedError",
        "sub/a.h5": "SourceChangedError",
    }


def test_a_list_of_urls_and_paths(folder, request_of, pool, tmp_path):
    with RangeServer(folder) as server:
        (tmp_path / "list.csv").write_text(
            f"url,name\n{server.url('b.tif')},stacks/b.tif\ndata/sub/a.h5,a.h5\n{server.url('gone.h5')},\n"
        )
        request = request_of(manifests=(ManifestRequest("listed", str(tmp_path / "list.csv")),))
        summary = index_dandisets(request, pool=pool)
        assert summary.outcome_counts == {"indexed": 2, "failed": 1}
        assert summary.failures[0].error.kind == "SourceNotFoundError"
        found = records(tmp_path / "out")
        assert found["stacks/b.tif"].url == server.url("b.tif")
        assert found["stacks/b.tif"].statistics["requests"] >= 1
        assert found["a.h5"].url == str(folder / "sub" / "a.h5")
        asked = len(server.log)
        again = index_dandisets(request, pool=pool)
        assert [record.path for record in again.records] == ["gone.h5"]
        assert sum(entry.path == "/b.tif" for entry in server.log.entries[asked:]) == 1


def test_a_file_that_is_replaced_between_listing_and_reading_is_refused(folder, request_of, pool, tmp_path):
    entry = {"path": str(folder / "b.tif"), "size": 7, "etag": "abc"}
    (tmp_path / "list.json").write_text(json.dumps([entry]))
    with RangeServer(folder) as server:
        listed = [{"url": server.url("b.tif"), "size": (folder / "b.tif").stat().st_size, "etag": "abc"}]
        (tmp_path / "list.json").write_text(json.dumps(listed))
        request = request_of(manifests=(ManifestRequest("listed", str(tmp_path / "list.json")),))
        (failure,) = index_dandisets(request, pool=pool).failures
    assert failure.error.kind == "SourceChangedError"
    assert "with ETag abc are listed" in failure.error.message


def test_a_digest_sees_what_the_time_does_not(folder, request_of, pool, write_file):
    def outcome(request):
        return [record.path for record in index_dandisets(request, pool=pool).records]

    by_time = request_of(folders=(FolderRequest("raw", folder),))
    by_digest = replace(by_time, folders=(FolderRequest("raw", folder, identity="digest"),))
    assert sorted(outcome(by_digest)) == ["b.tif", "sub/a.h5"]
    status = (folder / "sub" / "a.h5").stat()
    write_file(folder / "sub" / "a.h5", seed=7)
    os.utime(folder / "sub" / "a.h5", ns=(status.st_atime_ns, status.st_mtime_ns))
    os.utime(folder / "b.tif", ns=(1, 1))
    assert outcome(by_digest) == ["sub/a.h5"]


def test_one_name_twice_is_refused(folder, request_of, pool, tmp_path):
    (tmp_path / "list.tsv").write_text("")
    request = request_of(
        folders=(FolderRequest("raw", folder),),
        manifests=(ManifestRequest("Raw", str(tmp_path / "list.tsv")),),
    )
    with pytest.raises(UsageError, match="manifest Raw is the name of two entries"):
        index_dandisets(request, pool=pool)


@pytest.mark.parametrize("what", ["folder", "manifest"])
def test_what_is_not_there_stops_the_run(request_of, pool, tmp_path, what):
    gone = tmp_path / "gone"
    request = (
        request_of(folders=(FolderRequest("raw", gone),))
        if what == "folder"
        else request_of(manifests=(ManifestRequest("raw", str(gone)),))
    )
    with pytest.raises((UsageError, OSError), match="gone"):
        index_dandisets(request, pool=pool)


def test_an_output_inside_the_folder_is_no_part_of_it(folder, request_of, pool):
    request = request_of(folders=(FolderRequest("raw", folder),), output=folder / "out")
    assert index_dandisets(request, pool=pool).outcome_counts == {"indexed": 2}
    assert index_dandisets(request, pool=pool).records == []
