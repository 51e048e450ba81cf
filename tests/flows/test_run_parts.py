"""A run in parts: two workers share the work at a server on PostgreSQL and Redis, and one is killed.

``SPLIT_ASSETS=1000`` for an archive of three dandisets with a thousand assets.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from archive_trees import tree
from served_prefect import process, served_prefect

from benchmarks.mixed_archive import DANDISETS, MixedArchive, build, config_text
from flows.index_config import IndexDandisetsConfig
from flows.load_config import load_config
from shadowzarr.catalog.index_run import RunLog, output_session
from shadowzarr.catalog.index_run import index_dandisets as index_without_prefect
from shadowzarr.catalog.parts import clear_parts, held_in_parts, held_part, is_at_work, taken_over
from shadowzarr.errors import ConfigError, OutputBusyError
from shadowzarr.testing import Fault

from ..conftest import system_program

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

ROOT = Path(__file__).resolve().parents[2]
ASSETS = int(os.environ.get("SPLIT_ASSETS", "0"))
NAMES = DANDISETS if ASSETS else DANDISETS[:2]
POOL = "parts"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The API of a served Prefect, with a work pool and the deployment of parts; two may run at once."""
    pytest.importorskip("prefect_redis", reason="prefect-redis is not installed")
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.settings import PREFECT_API_URL, temporary_settings

    here = {"prefect.deployments.steps.set_working_directory": {"directory": str(ROOT)}}
    with (
        served_prefect(system_program, tmp_path_factory.mktemp("served")) as api_url,
        temporary_settings({PREFECT_API_URL: api_url}),
    ):
        with get_client(sync_client=True) as client:
            client.create_work_pool(WorkPoolCreate(name=POOL, type="process"))
            client.create_deployment(
                client.create_flow_from_name("index-part"),
                "part",
                work_pool_name=POOL,
                entrypoint="flows.index_part.index_part",
                pull_steps=[here],
                concurrency_limit=2,
            )
        yield api_url


def test_two_workers_share_a_run_and_one_is_killed(served, tmp_path, monkeypatch, capsys):
    from flows import run_parts
    from flows.index_dandisets import index_dandisets

    monkeypatch.setattr(run_parts, "GONE_SECONDS", 4.0)
    made, output = build(tmp_path / "files", ASSETS or 16, bad=3, dandisets=NAMES), tmp_path / "out"
    with made.server as server:
        config = tmp_path / "config.yaml"
        text = config_text(server.api_url, output, concurrency=1, dandisets=NAMES)
        config.write_text(text + "split: {start_seconds: 120}\n")
        with worker("one", served), worker("two", served), watching(output, made) as seen:
            summary = index_dandisets(load_config(config))
        assert seen.at_once == 2
        assert seen.killed
        assert summary.not_started == 0
        assert "broke off (its process is gone)" in capsys.readouterr().err
        plain = load_config(config, changes=[f"output={tmp_path}/plain", "split=null"])
        single = index_without_prefect(plain.request)
    assert summary.outcome_counts == single.outcome_counts
    assert tree(output, but="parts") == tree(tmp_path / "plain")
    states = ended_runs()
    assert sorted(states) == ["COMPLETED"] * len(NAMES) + ["CRASHED"]
    assert taken_slots() == 0


@contextlib.contextmanager
def worker(name: str, api_url: str):
    """A worker that takes one run at a time."""
    options = ["--pool", POOL, "--type", "process", "--name", name, "--limit", "1"]
    command = [sys.executable, "-m", "prefect", "worker", "start", *options]
    settings = {"PREFECT_API_URL": api_url, "PREFECT_WORKER_QUERY_SECONDS": "2"}
    with process(command, environment=settings) as running:
        WORKERS.append(running)
        yield running


WORKERS: list = []


@contextlib.contextmanager
def watching(output: Path, made: MixedArchive):
    """See how many parts are at work at once, and end a worker that is, with all that it has started.

    Until then no part comes to its end, as requests for its last asset are kept waiting.
    """
    seen, ended = SimpleNamespace(at_once=0, killed=[]), threading.Event()
    layout = SimpleNamespace(workings=output / ".shadowzarr")
    server, last = made.server, dict(sorted([*made.good, *made.bad]))
    for place in last.items():
        path = server.object_path(server.archive.asset_at(*place))
        server.store.faults.add(Fault(path=path, action=lambda: ended.wait(240)))

    def watch() -> None:
        while not ended.wait(0.01):
            at_work = [name for name in NAMES if is_at_work(layout, name)]
            seen.at_once = max(seen.at_once, len(at_work))
            if len(at_work) == 2 and len(list(output.rglob("*.record.json"))) > 4:
                seen.killed = kill_with_children(WORKERS[-1].pid)
                ended.set()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def kill_with_children(number: int) -> list[int]:
    """As a machine goes down: nothing gets to tell anybody."""
    root = psutil.Process(number)
    root.send_signal(signal.SIGSTOP)
    ending = [root, *root.children(recursive=True)]
    for each in ending:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    return [each.pid for each in ending]


def ended_runs() -> list[str]:
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        runs = client.read_flow_runs()
    return [run.state.type.value for run in runs if run.deployment_id is not None]


def taken_slots() -> int:
    """Places that runs of the deployment hold at the server, once those that ended are given back."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name("index-part/part")
        for _ in range(50):
            limit = client.read_global_concurrency_limit_by_name(f"deployment:{deployment.id}")
            if not limit.active_slots:
                break
            time.sleep(0.2)
    return limit.active_slots


def test_locks_of_a_run_in_parts(tmp_path):
    whole = load_request(tmp_path)
    layout = whole.public
    with held_in_parts(layout):
        with pytest.raises(OutputBusyError), held_in_parts(layout):
            pass
        with pytest.raises(OutputBusyError), layout.store.held():
            pass
        with held_part(layout, "000001"), taken_over([layout], ["000001", "000002"]) as free:
            assert free == {"000002"}
            assert is_at_work(layout, "000001")
        assert not is_at_work(layout, "000001")
        assert not is_at_work(layout, "000003")
    with held_part(layout, "000001"), pytest.raises(OutputBusyError), layout.store.held():
        pass
    left = layout.workings / "parts" / "000001" / "staging" / "x"
    left.mkdir(parents=True)
    with layout.store.held():
        with pytest.raises(OutputBusyError), held_part(layout, "000001"):
            pass
        clear_parts(layout)
    assert not left.exists()


def load_request(folder: Path, more: str = ""):
    path = folder / "config.yaml"
    path.write_text(f"flow: index_dandisets\ndandisets: ['000006']\noutput: {folder}/out\n{more}")
    return load_config(path).request


def test_a_whole_run_clears_what_parts_left_and_parts_that_of_their_own(tmp_path):
    whole = load_request(tmp_path)
    left = whole.public.workings / "parts" / "000006" / "staging" / "x"
    left.mkdir(parents=True)
    with output_session(load_request(tmp_path, "split: {}\n")):
        assert left.exists()
    with output_session(whole):
        assert not left.exists()


def test_a_part_has_no_secrets_and_absolute_places(tmp_path, monkeypatch):
    from flows.run_parts import part_config

    monkeypatch.chdir(tmp_path)
    (tmp_path / "stacks").mkdir()
    path = tmp_path / "config.yaml"
    path.write_text(
        "flow: index_dandisets\narchive: dandi\ndandisets: ['000006', {id: '000409', include: 'a/*'}]\n"
        "folders: [stacks]\noutput: {folder: out, private_output: private}\nsplit: {}\nicechunk: {}\n"
        "notify: {webhook: 'https://a.test/hidden'}\nrun: {timeout: 60, concurrency: 3}\n"
    )
    config = load_config(path)
    log = RunLog(
        versions=[SimpleNamespace(dandiset="000409", version="0.240101.1200")]
        + [SimpleNamespace(dandiset=name, version="draft") for name in ("000006", "stacks")]
    )
    dandiset = part_config(config, log, "000409")
    assert "hidden" not in str(dandiset)
    assert "notify" not in dandiset
    part = IndexDandisetsConfig.model_validate(dandiset)
    (wanted,) = part.request.wanted
    assert (wanted.dandiset, wanted.version, wanted.rules.include) == ("000409", "0.240101.1200", ("a/*",))
    assert (part.request.output, part.run, part.split) == (tmp_path / "out", config.run, None)
    assert part.request.private_output == tmp_path / "private"
    (stacks,) = IndexDandisetsConfig.model_validate(part_config(config, log, "stacks")).request.wanted
    assert stacks == config.request.folders[0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("output: s3://bucket/a\nsplit: {}\n", "needs an output in a folder, and not in a bucket"),
        ("output: out\nsplit: {deployment: part}\n", "split.deployment"),
        ("output: out\nsplit: {}\nbudget: {seconds: 5}\n", "expected no split: a budget is that of one run"),
    ],
)
def test_what_cannot_be_split_is_refused(tmp_path, more, message):
    flow = "backfill" if "budget" in more else "index_dandisets"
    path = tmp_path / "config.yaml"
    path.write_text(f"flow: {flow}\ndandisets: ['000006']\n{more}")
    with pytest.raises(ConfigError, match=message):
        load_config(path)
