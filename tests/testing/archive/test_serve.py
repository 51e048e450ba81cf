"""Serving a folder from the command line: what is said, and how it ends."""

import os
import re
import signal
import threading

import httpx
import pytest

from shadowzarr.errors import UsageError
from shadowzarr.testing import RangeServer, serve_folder
from shadowzarr.testing.archive import api


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "000001").mkdir()
    (tmp_path / "000001" / "a.nwb").write_bytes(b"a")
    (tmp_path / "000001" / "empty.nwb").touch()
    return tmp_path


def test_announcement_and_end(folder):
    said, stop = [], threading.Event()
    before = set(threading.enumerate())

    def announce(text):
        said.append(text)
        url = re.search(r"http://\S+/api", text)[0]
        assert httpx.get(f"{url}/dandisets/000001/").status_code == 200
        stop.set()

    serve_folder(folder, announce=announce, stop=stop)
    (text,) = said
    assert "1 dandiset, 1 asset" in text
    assert "empty.nwb: the archive takes no empty files" in text
    assert re.search(r"^archive: http://127\.0\.0\.1:\d+/api$", text, re.MULTILINE)
    assert '  - id: "000001"' in text
    assert set(threading.enumerate()) == before


def test_faults_of_the_server_are_told_as_they_happen(folder, capsys, monkeypatch):
    def fail(context):
        raise KeyError("a fault of ours")

    monkeypatch.setattr(api, "_TABLE", [(re.compile("/api/info/"), ("GET",), fail)])
    stop, told = threading.Event(), []

    def announce(text):
        url = re.search(r"http://\S+/api", text)[0]
        assert httpx.get(f"{url}/info/").status_code == 500
        told.append(capsys.readouterr().err)
        stop.set()

    serve_folder(folder, announce=announce, stop=stop)
    (text,) = told
    assert text.startswith("the server failed on a request:\nTraceback")
    assert "KeyError: 'a fault of ours'" in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it(folder, number):
    before = signal.getsignal(signal.SIGTERM)
    threads = set(threading.enumerate())
    timer = threading.Timer(0.1, os.kill, (os.getpid(), number))

    def announce(_):
        timer.start()

    serve_folder(folder, announce=announce)
    timer.join()
    assert signal.getsignal(signal.SIGTERM) == before
    assert set(threading.enumerate()) == threads


def test_what_cannot_be_served(folder, tmp_path):
    with pytest.raises(UsageError, match="is not a folder"):
        serve_folder(tmp_path / "none", announce=pytest.fail)
    with RangeServer(folder) as other:
        for ports in ({"api_port": other.port}, {"store_port": other.port}):
            with pytest.raises(UsageError, match=f"port {other.port} of 127.*choose other ports") as caught:
                serve_folder(folder, announce=pytest.fail, **ports)
            assert "Errno" not in str(caught.value)
