"""Tasks that read files, run by workers of Dask and Ray; what they give is what threads give."""

import contextlib
import os
import signal
import sys
import threading

import psutil
import pytest
from archive_trees import tree

from flows.load_config import load_config
from shadowzarr.catalog.index_run import index_dandisets as index_without_prefect
from shadowzarr.errors import ConfigError, MissingDependencyError

pytestmark = [
    # distributed closes event loops and sockets in an order of its own
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

DASK = ["run.task_runner=dask"]


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of Dask; its address, as a configuration names it."""
    pytest.importorskip("prefect_dask", reason="prefect-dask is not installed")
    from distributed import LocalCluster

    from flows.submitting import _dask

    with LocalCluster(**_dask(None, 2).cluster_kwargs) as cluster:
        yield [*DASK, f"run.cluster={cluster.scheduler_address}"]


def test_two_workers_of_dask_one_of_them_killed(
    prefect_server, cluster, write_config, write_file, archive, tmp_path
):
    from flows.index_dandisets import index_dandisets

    for number in range(12):
        file = write_file(tmp_path / "more" / f"{number}.nwb", seed=100 + number)
        archive.archive.add_asset("000001", f"more/{number}.nwb", file)
    config = load_config(write_config(), changes=cluster)
    with killing_a_worker(tmp_path / "out") as killed:
        summary = index_dandisets(config)
    assert len(killed) == 1
    assert summary.outcome_counts == {"indexed": 19, "failed": 2}
    workers = {stage.worker for record in summary.records for stage in record.stages}
    assert len(workers - {None}) >= 2  # the one that takes the place of the killed may come too late
    assert not (tmp_path / "out" / ".shadowzarr" / "staging").exists()
    plain = load_config(write_config(), changes=[f"output={tmp_path}/plain"])
    index_without_prefect(plain.request)
    assert tree(tmp_path / "out") == tree(tmp_path / "plain")


@contextlib.contextmanager
def killing_a_worker(output):
    """Kill a worker that is reading a file, once some assets are done."""
    killed, ended = [], threading.Event()

    def kill() -> None:
        while not ended.wait(0.02) and not killed:
            if len(list(output.rglob("*.record.json"))) < 6:
                continue
            for process in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    if "shadowzarr.catalog.child_main" in process.cmdline():
                        worker = process.ppid()
                        if worker != os.getpid():
                            os.kill(worker, signal.SIGKILL)
                            killed.append(worker)
                            return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def test_checks_by_workers_of_dask(prefect_server, cluster, write_config, archive, tmp_path):
    from flows.verify_outputs import verify_outputs

    index_without_prefect(load_config(write_config(), changes=["dandisets.0.include=sub-[1-3]/*"]).request)
    path = tmp_path / "checks.yaml"
    path.write_text(f"flow: verify_outputs\narchive: {archive.api_url}\noutput: {tmp_path}/out\n")
    summary = verify_outputs(load_config(path, changes=cluster))
    assert summary.counts == {"equal": 3}


@pytest.mark.parametrize(("runner", "module"), [("dask", "prefect_dask"), ("ray", "prefect_ray")])
def test_what_is_not_installed_is_told_before_anything_is_done(
    prefect_server, write_config, tmp_path, monkeypatch, runner, module
):
    from flows.index_dandisets import index_dandisets

    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == module else name)
    with pytest.raises(MissingDependencyError, match=rf"{module}.*pip install .*\[{runner}\]"):
        index_dandisets(load_config(write_config(), changes=[f"run.task_runner={runner}"]))
    assert not (tmp_path / "out").exists()


def test_a_cluster_of_this_machine_has_a_worker_for_each_process():
    pytest.importorskip("prefect_dask", reason="prefect-dask is not installed")
    from flows.submitting import _dask

    options = _dask(None, 3).cluster_kwargs
    assert (options["n_workers"], options["threads_per_worker"]) == (3, 1)
    assert options["dashboard_address"] == ":0"  # the usual port is another cluster's, perhaps


def test_a_cluster_needs_a_runner(write_config):
    with pytest.raises(ConfigError, match="expected task_runner to be dask or ray, as there is a cluster"):
        load_config(write_config(), changes=["run.cluster=tcp://a:8786"])
    config = load_config(write_config(), changes=[*DASK, "run.cluster=tcp://a:8786"])
    assert config.run.is_elsewhere


def test_so_many_tasks_at_once_and_the_rest_in_order():
    from flows.submitting import Bounded

    begun, ended = [], []
    submit = Bounded(lambda task, arguments, tell: begun.append((arguments, tell)), 2)
    for number in range(12):
        submit("task", (number,), lambda future, number=number: ended.append((number, future)))
    assert [arguments for arguments, _ in begun] == [(0,), (1,)]
    begun[1][1]("b")
    assert [arguments for arguments, _ in begun] == [(0,), (1,), (2,)]
    for position in (0, 2, 3, 4):
        begun[position][1](position)
    assert [number for number, _ in ended] == [1, 0, 2, 3, 4]
    assert [arguments for arguments, _ in begun] == [(number,) for number in range(7)]
