"""Verbs that read HDF5 files run in a process of their own: a crash of HDF5 is one message."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.cli import supervised

CODE = "import sys; from shadowzarr.cli import main; sys.exit(main())"


def run(*arguments: object, code: str = CODE) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def taken_for(file: Path) -> str:
    """What is said of a file before references are made."""
    return f"shadowzarr: {file} is an HDF5 file\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with h5py.File(tmp_path / "x.h5", "w") as made:
        made["d"] = [1, 2]
    return tmp_path / "x.h5"


def test_only_verbs_that_read_hdf5_are_supervised() -> None:
    assert supervised.is_wanted(["generate", "a", "b"])
    assert supervised.is_wanted(["verify", "a"])
    assert supervised.is_wanted(["to-hdf5", "a", "b"])
    for arguments in ([], ["info", "a"], ["--help"], ["generate", "--help"], ["verify", "-h"]):
        assert not supervised.is_wanted(arguments)


def test_output_and_exit_code_are_those_of_the_other_process(file: Path) -> None:
    done = run("generate", file, file.with_suffix(".json"))
    assert (done.returncode, done.stderr) == (0, taken_for(file))
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


def as_child(body: str) -> str:
    """Code of the command whose other process does this instead."""
    start = "import time; from shadowzarr.access import watched; from shadowzarr.cli import supervised\n"
    start += f"supervised.is_wanted([])\n{body}"
    return f"from shadowzarr.cli import supervised; supervised._START = {start.replace('{', '{{')!r}; {CODE}"


def test_a_process_that_stands_still_is_given_up_with_the_object_it_was_at(file: Path) -> None:
    body = "watched.working_on('/a'); watched.working_on('/a/b'); watched.allow(0.5)\nwhile True: pass"
    done = run("generate", file, "out", code=as_child(body))
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert f"{file}: nothing was read and no object was done for 0.5 s at /a/b, so it was given up" in line
    assert "--timeout" in line


@pytest.mark.parametrize(
    "gets_on",
    [
        "watched.working_on(str(number))",
        "watched.bytes_came()",
        pytest.param(
            "open('/dev/zero', 'rb').read(100)",
            marks=pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system counts no reads"),
        ),
    ],
)
def test_a_process_that_gets_on_is_let_be(file: Path, gets_on: str) -> None:
    body = f"watched.allow(2.5)\nfor number in range(12):\n    {gets_on}; time.sleep(0.5)\nprint('done')"
    done = run("verify", file, code=as_child(body))
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_files_that_a_killed_process_was_making_are_removed(file: Path) -> None:
    half = file.with_name("half")
    body = f"watched.making({str(half)!r}); open({str(half)!r}, 'w').close()\nimport os; os.abort()"
    done = run("to-hdf5", file, "out", code=as_child(body))
    assert done.returncode == 1
    assert "crashed (SIGABRT)" in done.stderr
    assert not half.exists()


def test_a_process_that_does_not_answer_is_ended_all_the_same(file: Path) -> None:
    body = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    body += "\nprint('ready', flush=True); time.sleep(90)"
    code = f"from shadowzarr.cli import supervised; supervised._GRACE = 0.2; {as_child(body)}"
    command = [sys.executable, "-c", code, "generate", str(file), "out"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "shadowzarr: interrupted; OUT is as it was before; the same command begins anew\n"


def test_an_end_that_hdf5_spoils_is_no_end_of_ours(file: Path) -> None:
    code = "import atexit, os; from shadowzarr.cli import supervised; supervised._START = "
    start = (
        "import atexit, os; atexit.register(os.abort); from shadowzarr.cli.supervised import serve; serve()"
    )
    done = run("generate", file, file.with_suffix(".json"), code=f"{code}{start!r}; {CODE}")
    assert (done.returncode, done.stderr) == (0, taken_for(file))


def test_the_timeout_is_an_option_of_every_verb_that_is_watched(file: Path) -> None:
    for verb in supervised.RISKY:
        assert "--timeout" in run(verb, "--help").stdout
    assert run("generate", file, "out", "--timeout", "-1").returncode == 2
    done = run("generate", file, file.with_suffix(".json"), "--timeout", "0")
    assert (done.returncode, done.stderr) == (0, taken_for(file))


def test_what_cannot_be_printed_is_one_message(file: Path) -> None:
    for redirection, message in (
        (">/dev/full", "standard output: No space left on device"),
        (">&-", "standard output is closed; give it a place, such as /dev/null"),
    ):
        for arguments in ("--help", f"generate {file} {file.with_suffix('.json')} --force"):
            command = f"{sys.executable} -c '{CODE}' {arguments} {redirection}"
            done = subprocess.run(
                command, shell=True, capture_output=True, text=True, timeout=120, check=False
            )
            said = done.stderr.removeprefix(taken_for(file))
            assert (done.returncode, said) == (1, f"shadowzarr: error: {message}\n")


def test_a_terminal_that_knows_ascii_alone(file: Path) -> None:
    with h5py.File(file, "r+") as made:
        made["ä😀"] = 1
    refs = file.with_suffix(".json")
    assert run("generate", file, refs).returncode == 0
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for options in ([], ["--json"]):
        command = [sys.executable, "-c", CODE, "info", str(refs), *options]
        done = subprocess.run(command, capture_output=True, env=environment, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert rb"\u00e4\ud83d\ude00" in done.stdout
    assert "/ä😀" in {node["path"] for node in json.loads(done.stdout)["nodes"]}


@pytest.mark.parametrize("limit", [0, 3000, 400_000])
def test_to_hdf5_on_a_disk_that_is_full(file: Path, limit: int) -> None:
    with h5py.File(file, "r+") as made:
        made.create_dataset("big", data=np.random.default_rng(0).integers(0, 255, 500_000, "u1"))
        for number in range(300):
            made.create_group(f"g{number}").attrs["a"] = "x" * 50
        made.create_dataset("chunked", data=np.random.default_rng(0).random(60_000), chunks=(1000,))
    refs, out = file.with_suffix(".json"), file.with_name("out.h5")
    assert run("generate", file, refs).returncode == 0
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); {CODE}"
    done = run("to-hdf5", refs, out, code=code)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"shadowzarr: error: cannot write {out}: File too large\n"
    assert sorted(path.name for path in file.parent.iterdir()) == ["x.h5", "x.json"]
