"""The flow under a Prefect server, on an archive with good and bad files."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from archive_trees import tree

from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets as index_without_prefect
from shadowzarr.catalog.records import read_record
from shadowzarr.verify import verify_rfs

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def run(prefect_server):
    """Runs a configuration's flow in this process; its summary, also when the flow fails."""
    from flows.index_dandisets import index_dandisets
    from flows.run_failed import RunFailedError

    def run(path: Path, changes=()):
        try:
            return index_dandisets(load_config(path, changes=changes))
        except RunFailedError as error:
            return error.summary

    return run


@pytest.fixture
def crash_at(monkeypatch):
    """Makes the process that reads an asset end as a native library ends it, whatever the file holds."""
    from shadowzarr.catalog.child_pool import ChildPool

    real = ChildPool.run

    def crash_at(asset_id: str) -> None:
        def run(self, function, job, progress=None):
            is_it = asset_id in job.url
            return real(self, "os:abort") if is_it else real(self, function, job, progress=progress)

        monkeypatch.setattr(ChildPool, "run", run)

    return crash_at


def records(folder: Path):
    return {record.path: record for record in map(read_record, folder.rglob("*.record.json"))}


def test_good_assets_are_published_and_bad_ones_recorded(
    run, write_config, write_file, archive, crash_at, tmp_path
):
    crashing = write_file(tmp_path / "crash.nwb", seed=66)
    crash_at(archive.archive.add_asset("000001", "bad/crash.nwb", crashing).asset_id)
    summary = run(write_config())
    assert summary.exit_code == 1
    assert summary.outcome_counts == {"indexed": 7, "failed": 3}
    assert [(asset.path, asset.reason) for asset in summary.skipped] == [("notes.txt", "not NWB")]
    kept = records(tmp_path / "out")
    assert {path: record.error.kind for path, record in kept.items() if record.error} == {
        "bad/cut.nwb": "DamagedSourceError",
        "bad/text.nwb": "NotHDF5Error",
        "bad/crash.nwb": "ChildCrashedError",
    }
    assert "SIG" in kept["bad/crash.nwb"].error.message
    good = [record for record in kept.values() if record.outcome == "indexed"]
    assert all(record.verification.equal for record in good)
    references = tmp_path / "out" / kept["sub-3/3.nwb"].references
    assert verify_rfs(references, tmp_path / "files" / "3.nwb", mode="full").equal
    report = (tmp_path / "out" / "report.html").read_text()
    assert "bad/cut.nwb" in report


def test_the_flow_writes_what_the_library_writes_and_then_only_looks(run, write_config, archive, tmp_path):
    config = load_config(write_config())
    run(write_config())
    index_without_prefect(load_config(write_config(), changes=[f"output={tmp_path}/plain"]).request)
    assert tree(tmp_path / "out") == tree(tmp_path / "plain")
    assert config.request.output == tmp_path / "out"
    for bad in ("cut.nwb", "text.nwb"):
        archive.archive.remove_asset("000001", f"bad/{bad}")
    before, asked, read = tree(tmp_path / "out"), len(archive.api.log), len(archive.store.log)
    summary = run(write_config())
    assert (summary.exit_code, summary.records) == (0, [])
    assert [entry.path for entry in archive.api.log.entries[asked:]] == [
        "/api/dandisets/000001/",
        "/api/dandisets/000001/versions/draft/assets/",
    ]
    assert len(archive.store.log) == read
    assert tree(tmp_path / "out") == before


def test_a_changed_asset_is_done_again(run, write_config, archive, write_file, tmp_path):
    run(write_config())
    archive.archive.replace_asset("000001", "sub-2/2.nwb", write_file(tmp_path / "new.nwb", seed=77))
    archive.archive.replace_asset("000001", "bad/cut.nwb", write_file(tmp_path / "mended.nwb", seed=78))
    summary = run(write_config())
    assert {record.path: record.outcome for record in summary.records} == {
        "sub-2/2.nwb": "indexed",
        "bad/cut.nwb": "indexed",
    }
    after = records(tmp_path / "out")
    assert len(list((tmp_path / "out").rglob("*.record.json"))) == 9
    assert verify_rfs(
        tmp_path / "out" / after["sub-2/2.nwb"].references, tmp_path / "new.nwb", mode="full"
    ).equal


def test_passing_errors_are_tried_again_and_others_once(run, write_config, archive, monkeypatch):
    """A child process knows nothing of this patch, so the pool itself is made to fail."""
    from shadowzarr.catalog.child_pool import ChildPool
    from shadowzarr.errors import DamagedSourceError, TransientReadError

    tries: dict[str, int] = {}
    real = ChildPool.run

    def failing(self, function, job, progress=None):
        name = job.url.split("/")[-3]
        tries[name] = tries.get(name, 0) + 1
        if name == first.asset_id and tries[name] == 1:
            raise TransientReadError("busy")
        if name == second.asset_id:
            raise DamagedSourceError("broken")
        return real(self, function, job, progress=progress)

    first = archive.archive.asset_at("000001", "sub-1/1.nwb")
    second = archive.archive.asset_at("000001", "sub-2/2.nwb")
    monkeypatch.setattr(ChildPool, "run", failing)
    monkeypatch.setattr("flows.task_stages.policy", quick_policy)
    summary = run(write_config(), ["dandisets.0.include=sub-[12]/*"])
    assert {record.path: record.outcome for record in summary.records} == {
        "sub-1/1.nwb": "indexed",
        "sub-2/2.nwb": "failed",
    }
    assert tries[first.asset_id] == 3  # once refused, then indexed, then verified
    assert tries[second.asset_id] == 1


def quick_policy(retries: int):
    from tasks.retrying import policy

    return {**policy(retries), "retry_delay_seconds": 0.01, "retry_jitter_factor": None}


def test_how_runs_end_in_prefects_words(prefect_server, write_config):
    from flows.index_dandisets import index_dandisets

    some = index_dandisets(load_config(write_config()), return_state=True)
    assert (some.type.value, some.name, some.message) == (
        "COMPLETED",
        "CompletedWithFailures",
        "2 of 9 assets failed",
    )
    changes = ["dandisets.0.include=bad/*", "redo.only_failed=true"]
    none = index_dandisets(load_config(write_config(), changes=changes), return_state=True)
    assert none.type.value == "FAILED"
    good = index_dandisets(
        load_config(write_config(), changes=["dandisets.0.exclude=bad/*"]), return_state=True
    )
    assert (good.name, good.message) == ("Completed", "0 assets indexed")


def test_every_stage_of_an_asset_is_a_task_run_and_the_run_leaves_artifacts(
    run, write_config, prefect_server, tmp_path
):
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import TaskRunFilter, TaskRunFilterName

    run(write_config(), ["dandisets.0.include=[sub-4/*, bad/text.nwb]"])
    with get_client(sync_client=True) as client:
        deadline = time.monotonic() + 20
        while True:  # task runs reach the server by way of events, a little later
            names = {
                run.name: run.state.type.value
                for run in client.read_task_runs(
                    task_run_filter=TaskRunFilter(name=TaskRunFilterName(like_="nwb"))
                )
            }
            if "publish-sub-4/4.nwb" in names or time.monotonic() > deadline:
                break
            time.sleep(0.2)
    of_good = {name for name in names if name.endswith("sub-4/4.nwb")}
    assert of_good == {f"{stage}-sub-4/4.nwb" for stage in ("index", "verify", "publish")}
    assert names["index-bad/text.nwb"] == "FAILED"
    assert names["record-failure-bad/text.nwb"] == "COMPLETED"
    with get_client(sync_client=True) as client:
        latest = {artifact.key: artifact for artifact in client.read_latest_artifacts()}
    assert "| failed | 1 |" in latest["index-dandisets-summary"].data
    (row,) = json.loads(latest["index-dandisets-failures"].data)
    assert (row["dandiset"], row["asset"], row["kind"]) == ("000001", "bad/text.nwb", "NotHDF5Error")
    assert (row["cause"].partition(":")[0], row["stays"]) == ("index", "until the file changes")
    assert latest["index-dandisets-progress"].data == 100.0
    report = (tmp_path / "out" / "report.html").as_uri()
    assert latest["index-dandisets-report"].data == f"[report.html]({report})"


def test_a_terminated_run_says_how_far_it_came_and_its_server_knows(
    run, write_config, archive, write_file, prefect_server, tmp_path
):
    for number in range(40):
        file = write_file(tmp_path / "more" / f"{number}.nwb", seed=100 + number)
        archive.archive.add_asset("000001", f"more/{number}.nwb", file)
    with start_run(write_config(), prefect_server, stderr=subprocess.PIPE) as process:
        wait_for_records(process, tmp_path / "out", 3)
        process.terminate()
        err = process.stderr.read()
    assert process.returncode == 143
    last = err.splitlines()[-1]
    assert re.fullmatch(r"stopped by SIGTERM; \d+ of 49 assets done; run again to go on", last)
    assert "Traceback" not in err
    assert not (tmp_path / "out" / ".shadowzarr" / "staging").exists()
    flow_run = last_flow_run()
    assert (flow_run.state.type.value, flow_run.state.message) == ("CRASHED", "stopped by SIGTERM")


def last_flow_run():
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.sorting import FlowRunSort

    with get_client(sync_client=True) as client:
        return client.read_flow_runs(sort=FlowRunSort.START_TIME_DESC, limit=1)[0]


def start_run(config: Path, prefect_server: str, **options) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PREFECT_API_URL": prefect_server}
    command = [sys.executable, "-m", "flows", "run", str(config)]
    return subprocess.Popen(command, cwd=root, env=environment, start_new_session=True, text=True, **options)


def wait_for_records(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    while len(list(folder.rglob("*.record.json"))) < count:
        assert process.poll() is None, "the run ended before it could be disturbed"
        time.sleep(0.005)


def test_killed_in_the_middle_and_run_again_gives_the_same_tree(run, write_config, prefect_server, tmp_path):
    config = write_config()
    with start_run(config, prefect_server) as process:
        wait_for_records(process, tmp_path / "out", 3)
        os.killpg(process.pid, signal.SIGKILL)
    # The bad ones may have failed before it was killed.
    assert run(config, ["redo.quarantine_days=0"]).outcome_counts["failed"] == 2
    index_without_prefect(load_config(config, changes=[f"output={tmp_path}/undisturbed"]).request)
    assert tree(tmp_path / "out") == tree(tmp_path / "undisturbed")
