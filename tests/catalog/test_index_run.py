"""Whole runs over a stand-in archive, without an orchestrator: what is done, and what is done again."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest
from archive_trees import tree

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.index_run import index_dandisets, output_session
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.plan import SelectionRules
from shadowzarr.catalog.records import read_record
from shadowzarr.catalog.redo import RedoRules
from shadowzarr.catalog.request import DandisetRequest
from shadowzarr.catalog.tables.query import ask
from shadowzarr.errors import (
    ArchiveUnavailableError,
    MissingCredentialsError,
    NotInArchiveError,
    OutputBusyError,
    OutputError,
    UsageError,
)
from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.testing import Archive, ArchiveServer
from shadowzarr.verify import verify_rfs

KEY_VARIABLE = "SHADOWZARR_TEST_KEY"


def requests_since(archive, mark):
    return [entry.path for entry in archive.api.log.entries[mark[0] :]] + [
        entry.path for entry in archive.store.log.entries[mark[1] :]
    ]


def mark(archive):
    return len(archive.api.log), len(archive.store.log)


def records(folder: Path):
    return {record.path: record for record in map(read_record, folder.rglob("*.record.json"))}


def test_assets_are_indexed_verified_and_recorded(request_of, pool, tmp_path):
    summary = index_dandisets(request_of(), pool=pool)
    assert summary.exit_code == 0
    assert summary.outcome_counts == {"indexed": 2}
    assert summary.dandisets == [("000001", "draft")]
    record = records(tmp_path / "out")["sub-1/1.nwb"]
    assert (record.outcome, record.verification.mode, record.verification.equal) == (
        "indexed",
        "sample",
        True,
    )
    assert record.counts.groups == 2
    assert record.counts.arrays == 3
    assert record.counts.array_bytes == 300 * 8 + 500 * 8
    assert record.statistics["requests"] >= 1
    assert {stage.stage for stage in record.stages} == {"index", "verify", "publish"}
    assert all(stage.worker in (0, 1) for stage in record.stages if stage.stage != "publish")
    references = tmp_path / "out" / record.references
    assert verify_rfs(references, tmp_path / "files" / "1.nwb", mode="full").equal
    assert list(load_rfs(references)["sources"]) == [record.url]
    assert "/assets/" in record.url
    assert not (tmp_path / "out" / ".shadowzarr" / "staging").exists()


def test_a_second_run_only_looks(archive, request_of, pool, tmp_path):
    index_dandisets(request_of(), pool=pool)
    before, at = tree(tmp_path / "out"), mark(archive)
    summary = index_dandisets(request_of(), pool=pool)
    assert requests_since(archive, at) == [
        "/api/dandisets/000001/",
        "/api/dandisets/000001/versions/draft/assets/",
    ]
    assert (summary.records, summary.plan_counts, summary.exit_code) == (
        [],
        {"to index": 0, "unchanged": 2},
        0,
    )
    assert tree(tmp_path / "out") == before


def test_a_changed_asset_alone_is_done_again(archive, request_of, pool, tmp_path, write_file):
    index_dandisets(request_of(), pool=pool)
    before = records(tmp_path / "out")
    archive.archive.replace_asset("000001", "sub-0/0.nwb", write_file(tmp_path / "new.nwb", seed=7, chunks=5))
    summary = index_dandisets(request_of(), pool=pool)
    assert [record.path for record in summary.records] == ["sub-0/0.nwb"]
    after = records(tmp_path / "out")
    assert len(list((tmp_path / "out").rglob("*.record.json"))) == 2
    assert after["sub-1/1.nwb"] == before["sub-1/1.nwb"]
    assert after["sub-0/0.nwb"].etag != before["sub-0/0.nwb"].etag
    assert verify_rfs(
        tmp_path / "out" / after["sub-0/0.nwb"].references, tmp_path / "new.nwb", mode="full"
    ).equal


def test_other_options_do_everything_again(request_of, pool):
    index_dandisets(request_of(), pool=pool)
    again = request_of(options=ReferenceOptions(chunk_index_threshold=1))
    assert index_dandisets(again, pool=pool).outcome_counts == {"indexed": 2}
    assert index_dandisets(again, pool=pool).records == []


def test_an_asset_with_the_same_blob_is_pointed_anew_and_is_what_generating_gives(
    archive, request_of, pool, tmp_path
):
    """With an index array, so that folders are copied too; the run without the first generates."""
    options = ReferenceOptions(chunk_index_threshold=1)
    archive.archive.add_asset("000001", "sub-9/copy.nwb", tmp_path / "files" / "0.nwb")
    index_dandisets(request_of(options=options), pool=pool)
    made = records(tmp_path / "out")
    assert made["sub-0/0.nwb"].repointed_from is None
    assert made["sub-9/copy.nwb"].repointed_from == made["sub-0/0.nwb"].asset_id
    rules = SelectionRules(include=("sub-9/*",))
    alone = request_of(
        options=options, output=tmp_path / "alone", dandisets=(DandisetRequest("000001", "draft", rules),)
    )
    index_dandisets(alone, pool=pool)
    assert records(tmp_path / "alone")["sub-9/copy.nwb"].repointed_from is None
    place = "dandisets/000001/draft/sub-9/copy.nwb.shadowzarr"
    assert tree(tmp_path / "out" / place) == tree(tmp_path / "alone" / place)
    assert any("index" in name for name in tree(tmp_path / "out" / place))


@pytest.mark.parametrize("form", ["directory", "json"])
def test_a_renamed_asset_costs_no_generation(archive, request_of, pool, tmp_path, form):
    options = ReferenceOptions(form=form)
    index_dandisets(request_of(options=options), pool=pool)
    new = archive.archive.rename_asset("000001", "sub-0/0.nwb", "sub-5/renamed.nwb")
    summary = index_dandisets(request_of(options=options), pool=pool)
    (record,) = summary.records
    assert (record.path, record.outcome) == ("sub-5/renamed.nwb", "indexed")
    assert record.repointed_from is not None
    assert list(load_rfs(tmp_path / "out" / record.references)["sources"]) == [record.url]
    assert new.asset_id in record.url


def test_references_to_the_blob_itself(request_of, pool, tmp_path):
    index_dandisets(request_of(options=ReferenceOptions(url="blob")), pool=pool)
    record = records(tmp_path / "out")["sub-0/0.nwb"]
    assert "/blobs/" in record.url
    assert verify_rfs(tmp_path / "out" / record.references, tmp_path / "files" / "0.nwb").equal


def test_bad_assets_are_recorded_and_tried_again_when_that_may_help(
    archive, request_of, pool, tmp_path, write_file
):
    whole = write_file(tmp_path / "whole.nwb", seed=3)
    (tmp_path / "cut.nwb").write_bytes(whole.read_bytes()[:3000])
    (tmp_path / "text.nwb").write_text("this is text\n" * 100)
    for name in ("cut", "text"):
        archive.archive.add_asset("000001", f"bad/{name}.nwb", tmp_path / f"{name}.nwb")
    summary = index_dandisets(request_of(), pool=pool)
    assert (summary.exit_code, summary.outcome_counts) == (1, {"indexed": 2, "failed": 2})
    kept = records(tmp_path / "out")
    assert kept["bad/text.nwb"].error.kind == "NotHDF5Error"
    assert kept["bad/cut.nwb"].error.kind == "DamagedSourceError"
    assert kept["bad/cut.nwb"].references is None
    assert not list((tmp_path / "out" / "dandisets/000001/draft/bad").glob("*.shadowzarr"))
    archive.archive.replace_asset("000001", "bad/cut.nwb", whole)
    again = index_dandisets(request_of(), pool=pool)
    assert {record.path: record.outcome for record in again.records} == {"bad/cut.nwb": "indexed"}
    (passed,) = (asset for asset in again.skipped if asset.reason == "quarantined")
    assert (passed.path, again.exit_code) == ("bad/text.nwb", 3)
    assert "tried again after" in passed.detail
    assert "it is text" in passed.detail or "HDF5" in passed.detail
    assert "quarantined" in (tmp_path / "out/dandisets/000001/draft.skipped.json").read_text()
    for redo in (RedoRules(only_failed=True), RedoRules(quarantine_days=0)):
        tried = index_dandisets(request_of(redo=redo), pool=pool)
        assert {record.path: record.outcome for record in tried.records} == {"bad/text.nwb": "failed"}
    assert len(list((tmp_path / "out").rglob("*.record.json"))) == 4


def test_all_is_done_again_when_that_is_asked_for(archive, request_of, pool, tmp_path):
    index_dandisets(request_of(), pool=pool)
    before = tree(tmp_path / "out")
    summary = index_dandisets(request_of(redo=RedoRules(force=True)), pool=pool)
    assert summary.outcome_counts == {"indexed": 2}
    assert all(record.repointed_from is None for record in summary.records)
    assert tree(tmp_path / "out") == before


def test_results_of_a_renamed_asset_go_as_the_policy_says(archive, request_of, pool, tmp_path):
    """Its new references are made of the old ones, which are there until then."""
    request = request_of(gone="deleted")
    index_dandisets(request, pool=pool)
    archive.archive.rename_asset("000001", "sub-0/0.nwb", "sub-5/renamed.nwb")
    summary = index_dandisets(request, pool=pool)
    assert [(each.path, each.fate) for each in summary.kept] == [("sub-0/0.nwb", "deleted")]
    assert summary.records[0].repointed_from is not None
    assert sorted(records(tmp_path / "out")) == ["sub-1/1.nwb", "sub-5/renamed.nwb"]
    assert not (tmp_path / "out/dandisets/000001/draft/sub-0").exists()
    asked = ask(tmp_path / "out", "SELECT DISTINCT asset_path FROM objects ORDER BY 1")
    assert list(asked.rows) == [("sub-1/1.nwb",), ("sub-5/renamed.nwb",)]


def test_a_crash_costs_its_asset_alone(archive, request_of, pool, write_file, tmp_path, monkeypatch):
    """The process that reads it ends as a native library ends it, whatever the file holds."""
    bad = archive.archive.add_asset("000001", "bad/crash.nwb", write_file(tmp_path / "crash.nwb", seed=66))
    real = ChildPool.run

    def run(self, function, job, progress=None):
        is_it = bad.asset_id in job.url
        return real(self, "os:abort") if is_it else real(self, function, job, progress=progress)

    monkeypatch.setattr(ChildPool, "run", run)
    summary = index_dandisets(request_of(), pool=pool)
    assert [record.error.kind for record in summary.failures] == ["ChildCrashedError"]
    assert "SIGABRT" in summary.failures[0].error.message
    assert summary.outcome_counts == {"indexed": 2, "failed": 1}


def test_what_is_passed_over_is_listed_beside_the_references(archive, request_of, pool, tmp_path):
    (tmp_path / "notes.txt").write_text("notes")
    archive.archive.add_asset("000001", "notes.txt", tmp_path / "notes.txt")
    index_dandisets(request_of(), pool=pool)
    listed = json.loads((tmp_path / "out/dandisets/000001/draft.skipped.json").read_text())
    assert [(each["path"], each["reason"]) for each in listed] == [("notes.txt", "not NWB")]
    archive.archive.remove_asset("000001", "notes.txt")
    index_dandisets(request_of(), pool=pool)
    assert not (tmp_path / "out/dandisets/000001/draft.skipped.json").exists()


ODD_PATHS = (
    "skipped.json/a.nwb",
    "draft.skipped.json",
    "report.html",
    "refs.json/refs.json",
    "a.nwb",
    "a.nwb/b.nwb",
    "A.nwb",
    "records",
    "run.lock",
    ".staging/index/a.nwb",
    "publishing.json",
    "trailing space ",
    "trailing dot.",
    "ü" * 120 + ".nwb",
    "x" * 113 + "~0123456789abcdef",
)
REFUSED_PATHS = ("b.shadowzarr", ".shadowzarr/lock", "a.nwb.Shadowzarr/b.nwb", "line\nfeed.nwb")


def test_assets_may_be_called_like_files_of_ours_or_are_passed_over_alone(
    request_of, pool, tmp_path, write_file
):
    """Every path has references that verify, or is listed with the reason; a second run finds all."""
    contents = Archive()
    contents.add_dandiset("000001")
    for number, path in enumerate((*ODD_PATHS, *REFUSED_PATHS)):
        contents.add_asset("000001", path, write_file(tmp_path / f"{number}.nwb", seed=number))
    wanted = (DandisetRequest("000001", rules=SelectionRules(include=("**",))),)
    with ArchiveServer(contents) as server:
        request = request_of(archive=ArchiveAddress(server.api_url), dandisets=wanted)
        first = index_dandisets(request, pool=pool)
        again = index_dandisets(request, pool=pool)
        for path, record in records(tmp_path / "out").items():
            original = tmp_path / f"{ODD_PATHS.index(path)}.nwb"
            assert verify_rfs(tmp_path / "out" / record.references, original, mode="full").equal, path
    assert {record.path: record.outcome for record in first.records} == dict.fromkeys(ODD_PATHS, "indexed")
    assert {each.path: each.reason for each in first.skipped} == dict.fromkeys(REFUSED_PATHS, "unusable path")
    listed = json.loads((tmp_path / "out/dandisets/000001/draft.skipped.json").read_text())
    assert sorted(each["path"] for each in listed) == sorted(REFUSED_PATHS)
    assert (again.records, again.kept) == ([], [])


def test_results_of_a_removed_asset_are_kept_and_told(archive, request_of, pool, tmp_path):
    (tmp_path / "text.nwb").write_text("this is text")
    archive.archive.add_asset("000001", "bad.nwb", tmp_path / "text.nwb")
    index_dandisets(request_of(), pool=pool)
    before = tree(tmp_path / "out")
    for path in ("bad.nwb", "sub-0/0.nwb"):
        archive.archive.remove_asset("000001", path)
    summary = index_dandisets(request_of(), pool=pool)
    assert [(each.path, each.what) for each in summary.kept] == [
        ("bad.nwb", "record of a failure"),
        ("sub-0/0.nwb", "references"),
    ]
    assert (summary.exit_code, tree(tmp_path / "out")) == (0, before)


def test_patterns_that_match_nothing_are_warned_of(archive, request_of, pool, tmp_path, monkeypatch):
    archive.archive.add_dandiset("000002", embargo="EMBARGOED", owners=["owner"])
    archive.archive.add_dandiset("000003")
    archive.archive.add_asset("000002", "secret.txt", tmp_path / "files" / "0.nwb")
    monkeypatch.setenv(KEY_VARIABLE, os.environ.get(KEY_VARIABLE, "a" * 40))
    rules = SelectionRules(include=("sub-0/*", "sub-7/*"))
    request = request_of(
        archive=ArchiveAddress(archive.api_url, KEY_VARIABLE),
        dandisets=(
            DandisetRequest("000001", rules=rules),
            DandisetRequest("000002", rules=rules),
            DandisetRequest("000003"),
        ),
    )
    assert index_dandisets(request, pool=pool).warnings == [
        "dandiset 000001 (draft): the include pattern 'sub-7/*' matches no asset",
        "dandiset 000002 (draft): the include pattern at position 0 matches no asset",
        "dandiset 000002 (draft): the include pattern at position 1 matches no asset",
        "dandiset 000003 (draft) has no assets",
    ]


def test_embargoed_assets_leave_no_trace_in_the_public_output(
    archive, request_of, pool, tmp_path, monkeypatch, write_file
):
    monkeypatch.setenv(KEY_VARIABLE, os.environ.get(KEY_VARIABLE, "a" * 40))
    archive.archive.add_dandiset("000002", embargo="EMBARGOED", owners=["owner"])
    archive.archive.add_asset("000002", "sub-secret/a.nwb", write_file(tmp_path / "secret.nwb", seed=9))
    request = request_of(
        archive=ArchiveAddress(archive.api_url, KEY_VARIABLE),
        dandisets=(DandisetRequest("000001"), DandisetRequest("000002")),
    )
    summary = index_dandisets(request, pool=pool)
    assert [(each.path, each.reason, each.private) for each in summary.skipped] == [
        ("sub-secret/a.nwb", "embargoed", True)
    ]
    private = replace(request, private_output=tmp_path / "private")
    assert index_dandisets(private, pool=pool).outcome_counts == {"indexed": 1}
    assert index_dandisets(private, pool=pool).records == []
    written = "\n".join(tree(tmp_path / "out")) + "".join(
        path.read_text(errors="replace") for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    assert "secret" not in written
    (record,) = records(tmp_path / "private").values()
    assert (record.path, record.private) == ("sub-secret/a.nwb", True)
    asked = ask(tmp_path / "private", "SELECT asset_path FROM assets WHERE url NOT LIKE '%X-Amz%'")
    assert list(asked.rows) == [("sub-secret/a.nwb",)]
    public = ask(tmp_path / "out", "SELECT count(*) FROM assets WHERE asset_path LIKE '%secret%'")
    assert list(public.rows) == [(0,)]
    everything = "".join(
        path.read_text(errors="replace") for path in (tmp_path / "private").rglob("*") if path.is_file()
    )
    assert "a" * 40 not in everything
    assert "X-Amz" not in everything


@pytest.mark.parametrize(
    ("dandiset", "error", "message"),
    [
        (DandisetRequest("999999"), NotInArchiveError, "999999"),
        (DandisetRequest("000001", "latest"), NotInArchiveError, "no published version"),
        (DandisetRequest("000001", "0.240101.1200"), NotInArchiveError, "0.240101.1200"),
        (DandisetRequest("000002"), MissingCredentialsError, "API key"),
    ],
)
def test_a_dandiset_that_cannot_be_had_stops_the_run(archive, request_of, pool, dandiset, error, message):
    archive.archive.add_dandiset("000002", embargo="EMBARGOED", owners=["owner"])
    with pytest.raises(error, match=message):
        index_dandisets(request_of(dandisets=(dandiset,)), pool=pool)


def test_the_latest_version_is_the_newest_published_one(archive, request_of, pool, tmp_path):
    name = archive.archive.publish("000001")
    archive.archive.remove_asset("000001", "sub-0/0.nwb")
    summary = index_dandisets(request_of(dandisets=(DandisetRequest("000001", "latest"),)), pool=pool)
    assert summary.dandisets == [("000001", name)]
    assert summary.outcome_counts == {"indexed": 2}
    assert (tmp_path / "out/dandisets/000001" / name / "sub-0/0.nwb.shadowzarr/refs.json").is_file()


def test_a_version_that_was_published_from_a_draft_is_generated_once(archive, request_of, pool, tmp_path):
    name = archive.archive.publish("000001")
    wanted = (DandisetRequest("000001"), DandisetRequest("000001", "latest"))
    summary = index_dandisets(request_of(dandisets=wanted), pool=pool)
    assert summary.outcome_counts == {"indexed": 4}
    assert sorted(r.version for r in summary.records if r.repointed_from) in (
        [name, name],
        ["draft", "draft"],
    )
    folder = tmp_path / "out" / "dandisets" / "000001"
    of_draft, of_version = (folder / v / "sub-0/0.nwb.shadowzarr/refs.json" for v in ("draft", name))
    assert of_draft.read_bytes() == of_version.read_bytes()


def test_one_version_twice_is_refused(archive, request_of, pool):
    name = archive.archive.publish("000001")
    wanted = (DandisetRequest("000001", name), DandisetRequest("000001", "latest"))
    with pytest.raises(UsageError, match=f"asked for twice in its version {name}"):
        index_dandisets(request_of(dandisets=wanted), pool=pool)


def test_an_archive_that_does_not_answer(request_of, pool, monkeypatch):
    monkeypatch.setattr("shadowzarr.access.dandi_api.time.sleep", lambda _: None)
    with pytest.raises(ArchiveUnavailableError, match="cannot be reached"):
        index_dandisets(request_of(archive=ArchiveAddress("http://127.0.0.1:1/api")), pool=pool)


def test_an_output_that_cannot_be_written(request_of, pool, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write to the output"):
        index_dandisets(request_of(output=tmp_path / "file" / "out"), pool=pool)


def test_two_runs_on_one_output_do_not_meet(request_of, pool):
    with output_session(request_of()), pytest.raises(OutputBusyError, match="another run"):
        index_dandisets(request_of(), pool=pool)


def test_unverified_references_say_so(request_of, pool, tmp_path):
    index_dandisets(request_of(verification=VerificationOptions("none")), pool=pool)
    verification = records(tmp_path / "out")["sub-0/0.nwb"].verification
    assert (verification.mode, verification.equal) == ("none", False)


def test_stopping_at_the_first_failure_says_what_was_not_started(
    archive, request_of, pool, tmp_path, write_file
):
    (tmp_path / "text.nwb").write_text("this is text")
    archive.archive.add_asset("000001", "a-bad.nwb", tmp_path / "text.nwb")
    for number in range(6):
        archive.archive.add_asset(
            "000001", f"z{number}.nwb", write_file(tmp_path / f"{number}.nwb", seed=20 + number)
        )
    summary = index_dandisets(request_of(stop_on_error=True), pool=pool)
    assert summary.not_started > 0
    assert summary.exit_code == 1
    assert len(summary.records) + summary.not_started == 9


def test_killed_at_any_moment_and_run_again_gives_the_same_tree(
    archive, request_of, pool, tmp_path, write_file
):
    """The whole process group, children too; after different numbers of assets."""
    for number in range(8):
        file = write_file(tmp_path / "more" / f"{number}.nwb", seed=50 + number)
        archive.archive.add_asset("000001", f"more/{number}.nwb", file)
    options = ReferenceOptions(chunk_index_threshold=1)
    undisturbed = request_of(output=tmp_path / "undisturbed", options=options)
    assert index_dandisets(undisturbed, pool=pool).outcome_counts == {"indexed": 10}
    for moment in (1, 6):
        output = tmp_path / f"killed-{moment}"
        kill_a_run(archive.api_url, output, after=moment)
        assert moment <= len(records(output)) <= 10
        assert index_dandisets(replace(undisturbed, output=output), pool=pool).exit_code == 0
        assert tree(output) == tree(tmp_path / "undisturbed")


def kill_a_run(api_url: str, output: Path, *, after: int) -> None:
    script = textwrap.dedent(f"""
        from pathlib import Path
        from shadowzarr.catalog.archive_address import ArchiveAddress
        from shadowzarr.catalog.index_run import index_dandisets
        from shadowzarr.catalog.options import ReferenceOptions
        from shadowzarr.catalog.request import DandisetRequest, IndexRequest
        index_dandisets(IndexRequest(
            ArchiveAddress({api_url!r}), (DandisetRequest("000001"),), Path({str(output)!r}),
            options=ReferenceOptions(chunk_index_threshold=1), concurrency=2,
        ))
        """)
    with subprocess.Popen([sys.executable, "-c", script], start_new_session=True) as process:
        while len(list(output.rglob("*.record.json"))) < after:
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
