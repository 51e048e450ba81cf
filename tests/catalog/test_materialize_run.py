"""Assets of an output materialized into folders, zip files and a bucket: each once, and gone on with."""

import itertools
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import zarr
from zarr.storage import ObjectStore, ZipStore

from shadowzarr.catalog import materialize_run
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.bucket_output import BucketOutput, bucket_output
from shadowzarr.catalog.folder_output import FolderOutput
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.materialize_job import write_store
from shadowzarr.catalog.materialize_plan import MaterializeOptions, MaterializeRules, plan_materialize
from shadowzarr.catalog.materialize_run import (
    MaterializeBench,
    materialize_asset,
    materialize_assets,
    materialize_session,
)
from shadowzarr.errors import OutputBusyError, ReadError

DRAFT = "dandisets/000001/draft"


@pytest.fixture
def source(request_of, pool, tmp_path):
    index_dandisets(request_of(), pool=pool)
    return layout_at(tmp_path / "out")


@pytest.fixture
def run(source, archive, pool):
    """Materializes into a destination; gives the summary."""

    def run(target, *, rules=None, options=None, pool=pool):
        # Children that were started before know nothing of the bucket's key.
        pool = pool if target.bucket is None else Direct()
        plan = plan_materialize(source, target, rules or MaterializeRules(), options or MaterializeOptions())
        bench = MaterializeBench(pool, ArchiveAddress(archive.api_url), max_memory=2**26)
        return materialize_assets(plan, bench, target, concurrency=1)

    return run


def opened(target, name: str) -> zarr.Group:
    path = f"{DRAFT}/{name}"
    if target.bucket is not None:
        own = replace(target.bucket, prefix=f"{target.bucket.prefix}/{path}")
        return zarr.open_group(ObjectStore(own.client), mode="r")
    if name.endswith(".zip"):
        return zarr.open_group(ZipStore(target.folder / path, mode="r"), mode="r")
    return zarr.open_group(target.folder / path, mode="r")


def names(target) -> list[str]:
    """Everything in the destination, stores as one."""
    found = [
        file.name
        for room in ("dandisets/", "collections/")
        for file in target.store.files(room, closed=".zarr")
    ]
    return [name.removeprefix(f"{DRAFT}/") for name in found]


@pytest.mark.parametrize("where", ["folder", "bucket"])
def test_each_once_and_a_changed_one_alone(
    run, source, where, archive, request_of, pool, object_store, tmp_path, write_file
):
    target = layout_at(
        tmp_path / "zarr"
        if where == "folder"
        else bucket_output("s3://sources/zarr", workings=tmp_path / "work")
    )
    first = run(target)
    assert first.counts == {"materialized": 2}, [record.error for record in first.records]
    assert first.exit_code == 0
    assert all(record.facts.verified for record in first.records)
    for number in range(2):
        group = opened(target, f"sub-{number}/{number}.nwb.zarr")
        assert np.array_equal(group["counts"][:], np.arange(300) + number)
        assert np.array_equal(group["series/values"][:], np.linspace(0, number + 1, 500))
    before = {file.name: file.state for file in target.store.files(DRAFT + "/")}
    second = run(target)
    assert (second.records, second.plan.unchanged) == ([], 2)
    assert {file.name: file.state for file in target.store.files(DRAFT + "/")} == before
    archive.archive.replace_asset("000001", "sub-1/1.nwb", write_file(tmp_path / "new.nwb", seed=55))
    index_dandisets(request_of(), pool=pool)
    (record,) = run(target).records
    assert record.path == "sub-1/1.nwb"
    assert opened(target, "sub-1/1.nwb.zarr")["counts"][0] == 55
    assert len(names(target)) == 4
    assert json.loads(target.store.read(materialize_run.SUMMARY_NAME))["counts"] == {
        "materialized": 1,
        "unchanged": 1,
    }
    assert not (target.workings / "materializing").exists()
    # another form takes the place of the first
    zipped = run(
        target, options=MaterializeOptions("ephys", "zip"), rules=MaterializeRules(include=("sub-1/*",))
    )
    assert zipped.counts == {"materialized": 1}
    assert [name for name in names(target) if "sub-1" in name and "record" not in name] == [
        "sub-1/1.nwb.zarr.zip"
    ]
    with target.store.local_copy(f"{DRAFT}/sub-1/1.nwb.zarr.zip") as local:
        assert zarr.open_group(ZipStore(local, mode="r"), mode="r")["counts"][0] == 55


class Direct:
    """Runs jobs in this process, so that they can be interrupted."""

    def run(self, function, job, **_):
        return type("Result", (), {"value": write_store(job)})


class Killed(BaseException):
    pass


STEPS = [
    *((materialize_run, name) for name in ("_write_apart", "_write_in_place", "_clear", "_records")),
    *((store, name) for store in (FolderOutput, BucketOutput) for name in ("write", "adopt", "remove")),
    (Direct, "run"),
]


def begin(source, target, rules) -> None:
    plan = plan_materialize(source, target, rules, MaterializeOptions())
    bench = MaterializeBench(Direct(), ArchiveAddress("https://archive.test/api"))
    with materialize_session(plan, target):
        for work in plan.work:
            materialize_asset(bench, work)


@pytest.mark.parametrize("where", ["folder", "bucket"])
def test_interrupted_after_any_step_and_run_again(run, source, where, object_store, tmp_path, monkeypatch):
    rules = MaterializeRules(include=("sub-0/*",))
    for moment in itertools.count(1):
        folder = tmp_path / f"zarr-{moment}"
        target = layout_at(
            folder
            if where == "folder"
            else bucket_output(f"s3://sources/zarr-{moment}", workings=tmp_path / "work")
        )
        count = itertools.count(1)
        with monkeypatch.context() as patch:
            for owner, name in STEPS:
                patch.setattr(owner, name, interrupted(getattr(owner, name), count, moment))
            try:
                begin(source, target, rules)
            except Killed:
                pass
            else:
                break
        assert run(target, rules=rules, pool=Direct()).exit_code == 0
        assert opened(target, "sub-0/0.nwb.zarr")["counts"][-1] == 299
        assert [name for name in names(target) if "record" not in name] == ["sub-0/0.nwb.zarr"]
        assert len(names(target)) == 2
    assert moment > 6


def interrupted(function, count, moment):
    def step(*arguments, **options):
        result = function(*arguments, **options)
        if next(count) == moment:
            raise Killed
        return result

    return step


def test_what_is_passed_over_and_what_fails_is_named(
    run, source, archive, request_of, pool, tmp_path, write_file
):
    target = layout_at(tmp_path / "zarr")
    archive.archive.add_asset("000001", "x.zarr/a.nwb", write_file(tmp_path / "a.nwb", seed=3))
    archive.archive.add_asset("000001", "bad.nwb", write_file(tmp_path / "b.nwb", seed=4))
    index_dandisets(request_of(), pool=pool)
    unverified = request_of(output=tmp_path / "unverified", verification=VerificationOptions("none"))
    index_dandisets(unverified, pool=pool)
    plan = plan_materialize(
        layout_at(tmp_path / "unverified"), target, MaterializeRules(), MaterializeOptions()
    )
    assert {each.reason for each in plan.passed_over} == {"references are not verified"}
    assert plan.work == []
    shutil.rmtree(source.folder / DRAFT / "bad.nwb.shadowzarr")
    for _ in range(2):
        summary = run(target, rules=MaterializeRules(exclude=("sub-1/*",)))
        assert [each.reason for each in summary.plan.passed_over] == ["unusable path"]
        (failed,) = summary.failures
        assert failed.path == "bad.nwb"
        assert summary.exit_code == 1
    records = [name for name in names(target) if ".failed.record.json" in name]
    assert len(records) == 1
    told = json.loads(target.store.read(f"{DRAFT}/{records[0]}"))
    assert told["error"]["stage"] == "materialize"
    assert told["store"] is None
    assert "bad.nwb.shadowzarr is gone" in told["error"]["message"]
    index_dandisets(request_of(), pool=pool)
    assert run(target, rules=MaterializeRules(exclude=("sub-1/*",))).failures == []
    assert not [name for name in names(target) if ".failed." in name]
    with target.store.held(), pytest.raises(OutputBusyError, match="another run"):
        run(target)


def test_a_failure_leaves_the_store_of_an_earlier_state(run, source, tmp_path):
    class Failing:
        def run(self, *_, **__):
            raise ReadError("the network is gone")

    target, rules = layout_at(tmp_path / "zarr"), MaterializeRules(include=("sub-0/*",))
    run(target, rules=rules)
    other = MaterializeOptions("imaging")
    assert run(target, rules=rules, options=other, pool=Failing()).exit_code == 1
    assert opened(target, "sub-0/0.nwb.zarr")["counts"][-1] == 299
    assert run(target, rules=rules).plan.unchanged == 1
