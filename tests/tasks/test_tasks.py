"""Tasks by their plain functions: each hands its arguments to one function of the library."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from shadowzarr.catalog import stages
from shadowzarr.catalog.layout import RecordKey, record_suffix
from shadowzarr.catalog.materialize_plan import MaterializeWork
from shadowzarr.catalog.output_checks import PublishedOutput
from shadowzarr.catalog.plan import AssetWork
from tasks import (
    check_output,
    index_asset,
    list_assets,
    materialize_references,
    plan_assets,
    publish_references,
    record_failure,
    verify_asset,
)

WORKSHOP = SimpleNamespace(resting=SimpleNamespace(trying=nullcontext))


@pytest.mark.parametrize(
    ("task", "stage", "arguments"),
    [
        (index_asset.index_asset, "index", (WORKSHOP, "work", Path("twin"))),
        (verify_asset.verify_asset, "verify", (WORKSHOP, "work")),
        (publish_references.publish_references, "publish_and_record", (WORKSHOP, "work", "results")),
        (record_failure.record_failure, "record_failure", (WORKSHOP, "work", "results", "failure", None)),
    ],
)
def test_a_stage(monkeypatch, task, stage, arguments):
    monkeypatch.setattr(stages, stage, lambda *given: ("done", given))
    assert task.fn(*arguments) == ("done", arguments)


def test_listing(monkeypatch):
    class Lister:
        def __init__(self, request):
            self.request = request

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def assets(self, wanted, version):
            return iter([self.request, wanted, version])

    monkeypatch.setattr(list_assets, "Lister", Lister)
    assert list_assets.list_assets.fn("request", "wanted", "version") == ["request", "wanted", "version"]


def test_planning(monkeypatch):
    monkeypatch.setattr(plan_assets, "plan_version", lambda *given: given)
    assert plan_assets.plan_assets.fn("request", "version", ["asset"], "rules") == (
        "request",
        "version",
        ["asset"],
        "rules",
    )


def test_steps_of_a_refresh(monkeypatch):
    pytest.importorskip("icechunk", reason="icechunk is not installed")
    from shadowzarr.catalog.refresh import commit, run
    from tasks import expire_snapshots, follow_archive, look_at_dandiset, tag_versions

    def same(*given, **named):
        return given, named

    monkeypatch.setattr(commit, "follow_archive", same)
    for name in ("look", "make_tags", "expire"):
        monkeypatch.setattr(run, name, same)
    assert look_at_dandiset.look_at_dandiset.fn("request", "wanted") == (("request", "wanted"), {})
    assert follow_archive.follow_archive.fn("request", "state") == (("request", "state"), {})
    tagged = tag_versions.tag_versions.fn("request", "wanted", "state", is_before=True)
    assert tagged == (("request", "wanted", "state"), {"is_before": True})
    assert expire_snapshots.expire_snapshots.fn("request", "000001") == (("request", "000001"), {})


@pytest.mark.parametrize("private", [False, True])
def test_a_private_path_is_in_no_name_of_a_task_run(private):
    """Whoever may look at the server of an orchestrator sees the names of all task runs."""
    key = RecordKey("5df50d6f-0a5b-4d3c-8a3b-1c2d3e4f5a6b", "0" * 32 + "-1", "0" * 12, 1)
    name = f"dandisets/000001/draft/sub-1/1.nwb{record_suffix(key, 'indexed')}"
    record = SimpleNamespace(path="sub-1/1.nwb", asset_id=key.asset_id, private=private)
    published = PublishedOutput(SimpleNamespace(relative=lambda _: name), None, private)
    work = AssetWork(record, "", None, None, "new", private)
    materialized = MaterializeWork(None, None, record, "", None, None)
    expected = [key.asset_id] * 3 if private else ["sub-1/1.nwb"] * 2 + [name]
    assert [work.label, materialized.label, published.label] == expected
    tasks = [index_asset.index_asset, verify_asset.verify_asset, publish_references.publish_references]
    tasks += [record_failure.record_failure, materialize_references.materialize_references]
    assert {each.task_run_name.partition("{")[2] for each in tasks} == {"work.label}"}
    assert check_output.check_output.task_run_name == "check-{output.label}"
