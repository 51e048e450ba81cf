"""What has not run in time, by a served API and by the age of files."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from flows.__main__ import main
from flows.load_config import load_config
from shadowzarr.errors import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture
def deployments(prefect_server):
    """Two deployments: one has completed a run, the latest run of the other crashed."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import DeploymentScheduleCreate
    from prefect.client.schemas.schedules import CronSchedule
    from prefect.states import Completed, Crashed

    ended = {"good": Completed(), "bad": Crashed(message="the disk is full")}
    with get_client(sync_client=True) as client:
        flow = client.create_flow_from_name("watched")
        for name, state in ended.items():
            schedule = DeploymentScheduleCreate(schedule=CronSchedule(cron="0 0 * * *"), active=False)
            deployment = client.create_deployment(flow, name, entrypoint="a.b", schedules=[schedule])
            run = client.create_flow_run_from_deployment(deployment, name=f"run-of-{name}")
            client.set_flow_run_state(run.id, state, force=True)


def write(folder, *, hours: float, more: str = ""):
    path = folder / "watch.yaml"
    names = ", ".join(f"{{name: watched/{name}, within_hours: {hours}}}" for name in ("good", "bad", "none"))
    path.write_text(f"flow: watch_deployments\ndeployments: [{names}]\n{more}")
    return path


def test_what_has_not_run_in_time_is_told(deployments, prefect_server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PREFECT_API_URL", prefect_server)
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("")
    outputs = f"outputs: [{{folder: {out}, within_hours: 1}}, {{folder: {out}/none, within_hours: 1}}]\n"
    assert main(["run", str(write(tmp_path, hours=1.0, more=outputs))]) == 1
    printed = capsys.readouterr()
    well, of_output = printed.out.splitlines()[-2:]
    assert well.startswith("well    watched/good: completed a run ")
    assert of_output.startswith(f"well    {out}: report.html was written ")
    assert printed.err.splitlines()[-3:] == [
        "missing watched/bad: completed no run; the latest run, run-of-bad, is Crashed: the disk is full; "
        "it has no active schedule",
        "missing watched/none: there is no such deployment at Prefect's server",
        f"missing {out}/none: there is no report.html",
    ]


def test_the_run_that_later_ones_are_cancelled_for_is_named(deployments, prefect_server, monkeypatch):
    from prefect.client.orchestration import get_client
    from prefect.states import Cancelled, Running

    from flows.last_runs import last_run
    from flows.watch_config import DeploymentSection

    monkeypatch.setenv("PREFECT_API_URL", prefect_server)
    with get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name("watched/bad")
        for name, state in {"hangs": Running(), "next": Cancelled(message="limit reached")}.items():
            run = client.create_flow_run_from_deployment(deployment.id, name=name)
            client.set_flow_run_state(run.id, state, force=True)
        began = next(each for each in client.read_flow_runs() if each.name == "hangs").start_time
        text = last_run(client, DeploymentSection(name="watched/bad", within_hours=1.0)).text
    assert text.startswith(
        f"completed no run; the run hangs is Running since {began:%Y-%m-%d %H:%M} UTC; "
        "the latest run, next, is Cancelled: limit reached; "
    )


def test_a_deployment_just_made_has_time(deployments, prefect_server, monkeypatch):
    from prefect.client.orchestration import get_client
    from prefect.states import Crashed, Running

    from flows.last_runs import last_run
    from flows.watch_config import DeploymentSection

    monkeypatch.setenv("PREFECT_API_URL", prefect_server)
    found, hour = [], DeploymentSection(name="watched/new", within_hours=1.0)
    with get_client(sync_client=True) as client:
        deployment = client.create_deployment(
            client.create_flow_from_name("watched"), "new", entrypoint="a.b"
        )
        found.append(last_run(client, hour))
        run = client.create_flow_run_from_deployment(deployment, name="first")
        client.set_flow_run_state(run.id, Running(), force=True)
        found += [last_run(client, each) for each in (hour, hour.model_copy(update={"within_hours": 1e-6}))]
        client.set_flow_run_state(run.id, Crashed(message="the disk is full"), force=True)
        found.append(last_run(client, hour))
    assert [each.is_missing for each in found] == [False, False, True, True]
    assert found[0].text.startswith("completed no run, and was deployed ")
    assert found[0].text.endswith(" ago (within 1 h)")
    assert found[3].text.startswith("completed no run; the latest run, first, is Crashed: the disk is full")


def test_a_run_too_long_ago(deployments, prefect_server, tmp_path):
    from flows.watch_deployments import watch_deployments

    state = watch_deployments(load_config(write(tmp_path, hours=1e-6)), return_state=True)
    assert (state.name, state.message) == (
        "CompletedWithFailures",
        "3 of 3 deployments and outputs missed a run.",
    )


def test_a_file_that_is_too_old_or_not_there(tmp_path, object_store):
    from flows.last_runs import last_written
    from flows.watch_config import WatchedOutput

    long_ago = (datetime.now(UTC) - timedelta(hours=3)).timestamp()
    (tmp_path / "report.html").write_text("")
    os.utime(tmp_path / "report.html", (long_ago, long_ago))
    object_store.put_object(Bucket="sources", Key="out/report.html", Body=b"")

    def found(folder, hours):
        return last_written(WatchedOutput(folder=str(folder), within_hours=hours)).is_missing

    assert [found(tmp_path, 2.0), found(tmp_path, 4.0), found(tmp_path / "none", 4.0)] == [True, False, True]
    assert [found("s3://sources/out", 1.0), found("s3://sources/none", 1.0)] == [False, True]


def test_a_server_is_needed_for_deployments_and_something_to_look_at(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    path = write(tmp_path, hours=1.0)
    assert main(["run", str(path)]) == 1
    assert "name it by PREFECT_API_URL" in capsys.readouterr().err
    assert main(["plan", str(path)]) == 0
    assert "watched/good: a run completed within 1 h" in capsys.readouterr().out
    path.write_text("flow: watch_deployments\n")
    with pytest.raises(ConfigError, match="expected at least one entry in deployments or outputs"):
        load_config(path)
