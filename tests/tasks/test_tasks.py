"""Tasks by their plain functions: each hands its arguments to one function of the library."""

from pathlib import Path

import pytest

from shadowzarr.catalog import stages
from tasks import index_asset, list_assets, plan_assets, publish_references, record_failure, verify_asset


@pytest.mark.parametrize(
    ("task", "stage", "arguments"),
    [
        (index_asset.index_asset, "index", ("workshop", "work", Path("twin"))),
        (verify_asset.verify_asset, "verify", ("workshop", "work")),
        (publish_references.publish_references, "publish_and_record", ("workshop", "work", "results")),
        (record_failure.record_failure, "record_failure", ("workshop", "work", "results", "failure", None)),
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
