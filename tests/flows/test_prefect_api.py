import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from flows import prefect_api
from flows.temporary_server import TemporaryServer
from shadowzarr.errors import ChildStartError, UsageError

ROOT = Path(__file__).resolve().parents[2]


def test_the_end_of_a_temporary_server_is_noticed():
    server = TemporaryServer()
    said, told = [], threading.Event()
    server.watch(lambda how: (said.append(how), told.set()))
    server._process.kill()
    assert told.wait(30)
    assert said == ["it was ended by SIGKILL"]
    server.stop()


def test_a_server_that_is_stopped_is_not_missed():
    server = TemporaryServer()
    said = []
    server.watch(said.append)
    server.stop()
    time.sleep(0.2)
    assert said == []


def test_a_server_that_cannot_start_says_why(tmp_path, monkeypatch):
    (tmp_path / "uvicorn.py").write_text("raise SystemExit('out of order')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = TemporaryServer()
    with pytest.raises(
        ChildStartError, match="could not be started: it ended with exit code 1: out of order"
    ):
        server.wait_until_ready()
    server.stop()


def test_a_server_ends_with_a_killed_run():
    script = (
        "from flows.temporary_server import TemporaryServer\n"
        "server = TemporaryServer(); print(server._process.pid, flush=True)\n"
        "import time; time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        server = int(process.stdout.readline())
        time.sleep(1)
        os.kill(process.pid, signal.SIGKILL)
    for _ in range(200):
        if not is_alive(server):
            break
        time.sleep(0.05)
    assert not is_alive(server)


def is_alive(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(("answers", "is_lost"), [([True], False), ([False], True), ([False, True], False)])
def test_a_served_api_may_be_away_for_a_while(monkeypatch, answers, is_lost):
    """The last answer stays; one silence in between is forgiven."""
    given = iter(answers)
    last = answers[-1]
    monkeypatch.setattr(prefect_api, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(prefect_api, "SILENT_SECONDS", 0.2)
    monkeypatch.setattr(prefect_api, "answers", lambda: next(given, last))
    lost = threading.Event()
    with prefect_api.watched(lambda reason: lost.set()):
        assert lost.wait(5 if is_lost else 0.5) == is_lost


def test_a_home_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UsageError, match="Not a directory; name another folder by PREFECT_HOME"),
        prefect_api._one_at_a_time(tmp_path / "file" / "home"),
    ):
        pytest.fail("it was locked")


def test_whether_a_served_api_answers(prefect_server, monkeypatch):
    from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

    assert prefect_api.answers()
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:1/api", PREFECT_CLIENT_MAX_RETRIES: 0}):
        assert not prefect_api.answers()


def test_an_api_that_the_settings_name_is_used(prefect_server):
    with prefect_api.prefect_api(lambda reason: None) as is_temporary:
        assert not is_temporary
