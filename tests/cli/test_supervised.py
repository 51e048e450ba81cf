"""Verbs that read HDF5 files run in a process of their own: a crash of HDF5 is one message."""

import signal
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from shadowzarr.cli import supervised

CODE = "import sys; from shadowzarr.cli import main; sys.exit(main())"


def run(*arguments: object, code: str = CODE) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with h5py.File(tmp_path / "x.h5", "w") as made:
        made["d"] = [1, 2]
    return tmp_path / "x.h5"


def test_only_verbs_that_read_hdf5_are_supervised() -> None:
    assert supervised.is_wanted(["generate", "a", "b"])
    assert supervised.is_wanted(["verify", "a"])
    for arguments in ([], ["info", "a"], ["--help"], ["generate", "--help"], ["verify", "-h"]):
        assert not supervised.is_wanted(arguments)


def test_output_and_exit_code_are_those_of_the_other_process(file: Path) -> None:
    done = run("generate", file, file.with_suffix(".json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "1 array" in done.stdout
    assert run("verify", file.with_suffix(".json")).stdout.startswith("equal")
    again = run("generate", file, file.with_suffix(".json"))
    assert again.returncode == 1
    assert again.stderr.startswith("shadowzarr: error: ")
    assert run("generate", file).returncode == 2


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT"])
def test_a_crash_is_one_message(file: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    start = f"import os, signal; os.kill(os.getpid(), signal.{name})"
    code = f"from shadowzarr.cli import supervised; supervised._START = {start!r}; {CODE}"
    done = run("generate", file, file.with_suffix(".json"), code=code)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"{file}: the process reading it crashed ({name})" in done.stderr
    assert not file.with_suffix(".json").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_other_process_ends_with_this_one(file: Path, number: int) -> None:
    start = "import time; from shadowzarr.cli import supervised; supervised.is_wanted([]);"
    start += "print('ready', flush=True); time.sleep(90)"
    code = f"from shadowzarr.cli import supervised; supervised._START = {start!r}; {CODE}"
    command = [sys.executable, "-c", code, "generate", str(file), "out"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        process.communicate(timeout=30)  # the pipes close when both have ended
    assert process.returncode != 0
