"""The command as a user calls it: help, completion, wrong calls, and what ends it."""

import importlib
import logging
import os
import re
import signal
import subprocess
import sys

import pytest
from command_line import call, error_of, run

from shadowzarr.access import archives
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.cli import exit_codes
from shadowzarr.cli.command import _app
from shadowzarr.cli.verbs import VERBS

HEAVY = {"zarr", "h5py", "numpy", "prefect", "obstore", "httpx", "pydantic", "numcodecs"}


@pytest.mark.parametrize(
    "arguments", [["--help"], [], ["generate", "--help"], ["verify", "-h"], ["--version"]]
)
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys; from shadowzarr.cli import main; code = main();"
        "print('LOADED', *{m.partition('.')[0] for m in sys.modules}); sys.exit(code)"
    )
    result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert result.returncode == 0
    loaded = set(result.stdout.rpartition("LOADED")[2].split())
    assert "shadowzarr" in loaded
    assert loaded & HEAVY == set()


def test_help_of_every_verb_imports_nothing_heavy():
    code = (
        "import sys; from shadowzarr.cli import main; from shadowzarr.cli.verbs import VERBS;"
        "codes = {main([verb, '--help']) for verb in VERBS};"
        "print('LOADED', *{m.partition('.')[0] for m in sys.modules}); sys.exit(max(codes))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0
    assert set(result.stdout.rpartition("LOADED")[2].split()) & HEAVY == set()


def test_help_says_of_every_verb_what_it_does():
    text = re.sub(r"[│\s]+", " ", call("--help").stdout)
    for verb, said in VERBS.items():
        assert f"{verb} {said.line}" in text
        name = verb.replace("-", "_")
        function = getattr(importlib.import_module(f"shadowzarr.cli.{name}"), name)
        assert function.__doc__.splitlines()[0] == said.line


def test_help_of_generate_says_how_it_ends():
    text = call("generate", "--help").stdout
    assert all(f"with {code}" in text for code in (0, 1, 2, 3))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_every_verb_and_its_options(shell):
    text = _app([]).generate_completion(prog_name="shadowzarr", shell=shell)
    for word in (*VERBS, "--timeout", "--allow-external", "--json", "--api-port"):
        assert word.lstrip("-") in text


def test_completion_is_installed_where_the_shell_looks(tmp_path):
    code = (
        "from shadowzarr.cli import main; raise SystemExit(main(['--install-completion', '--shell', 'bash']))"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "SHELL": "/bin/bash"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert any("to-hdf5" in path.read_text() for path in tmp_path.rglob("*") if path.is_file())


def test_it_runs_as_a_module(made):
    command = [sys.executable, "-m", "shadowzarr", "info", "missing"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=made)
    assert result.returncode == 1
    assert "no references at" in error_of(result)


def test_help_names_every_option():
    text = call("generate", "--help").stdout
    for option in (
        "--local-hdf5-path",
        "--chunk-index-threshold",
        "--contiguous-chunk-bytes",
        "--on-unsupported",
        "--inline-limit",
        "--force",
    ):
        assert option in text


def test_the_options_have_the_defaults_of_the_function():
    import inspect

    from shadowzarr.cli.generate import generate
    from shadowzarr.formats.hdf5.generate import generate_rfs

    command, function = inspect.signature(generate).parameters, inspect.signature(generate_rfs).parameters
    shared = set(command) & set(function)
    assert {"chunk_index_threshold", "contiguous_chunk_bytes", "on_unsupported", "inline_limit"} <= shared
    by_format = {"contiguous_chunk_bytes": 4 * 2**20, "on_unsupported": "copy"}  # as the help says
    for name, default in by_format.items():
        assert command[name].default is None  # not given: other formats have another one, or none
        assert function[name].default == default
    for name in shared - {"source", *by_format}:
        assert command[name].default == function[name].default, name


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["generate", "a", "b", "--chunk-index-treshold", "5"], "--chunk-index-threshold"),
        (["generat", "a"], "generate"),
        (["generate", "a"], "generate needs OUT (see shadowzarr generate --help)"),
        (["info"], "info needs REFS (see shadowzarr info --help)"),
        (["generate", "a", "b", "--inline-limit"], "--inline-limit"),
        (["generate", "a", "b", "--inline-limit", "much"], "--inline-limit"),
        (["generate", "a", "b", "--inline-limit", "-1"], "--inline-limit"),
        (["generate", "a", "b", "--chunk-index-threshold", "few"], "few"),
        (["generate", "a", "b", "--on-unsupported", "guess"], "copy"),
        (["verify", "a", "--seed", "x"], "--seed"),
        (["verify", "a", "b", "c"], "b"),
    ],
)
def test_wrong_usage_ends_with_2_and_names_the_right_option(arguments, says):
    result = call(*arguments)
    assert result.returncode == 2
    assert says in error_of(result)


def test_an_unknown_option_ends_the_process_with_2():
    result = run("generate", "a", "b", "--forse")
    assert result.returncode == 2
    assert "--force" in error_of(result)
    assert result.stdout == ""


def test_a_long_wait_is_told(tmp_path, monkeypatch):
    from shadowzarr.access import http_client

    monkeypatch.setattr(http_client, "TOLD_AFTER", 0.0)
    monkeypatch.setattr(http_client, "DEFAULT_RETRIES", RetryPolicy(attempts=3, first_pause=0.001))
    monkeypatch.setattr(archives, "_registered", dict(archives._registered))
    archives.register_archive("http://127.0.0.1:1/api", name="nowhere")
    result = call("generate", "dandi://nowhere/000001/a.nwb", tmp_path / "out")
    assert result.returncode == 1
    notice, _ = result.stderr.splitlines()
    assert notice.startswith("shadowzarr: http://127.0.0.1:1/api")
    assert notice.endswith("still trying (1 of 3 tries)")
    assert "cannot be reached" in error_of(result)
    assert logging.getLogger("shadowzarr.waiting").handlers == []


def test_debug_shows_the_causes_that_are_hidden_without(made):
    assert "FileNotFoundError" not in call("info", made / "missing").stderr
    assert "FileNotFoundError" in call("info", made / "missing", "--debug").stderr


def test_debug_shows_where(made, tmp_path):
    result = run("generate", made / "missing.h5", tmp_path / "out", "--debug")
    assert result.returncode == 1
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("shadowzarr: error: ")


def test_a_closed_pipe_is_quiet(made):
    code = "import sys; from shadowzarr.cli import main; sys.exit(main())"
    command = f"{sys.executable} -c '{code}' info {made / 'good'} | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert result.stderr == ""


def test_ctrl_c_is_one_line_that_says_how_to_go_on(tmp_path):
    code = (
        "import sys, time; from shadowzarr.cli import main; import shadowzarr.store.load_rfs as module;"
        "module.load_rfs = lambda *_, **__: (print('ready', flush=True), time.sleep(60));"
        "sys.exit(main(['info', 'x']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, out) == (exit_codes.INTERRUPTED, "")
    assert errors == "shadowzarr: interrupted; nothing is written by info; the same command begins anew\n"


PENDING = """
import asyncio, sys
from zarr.core.sync import _get_loop
from shadowzarr.cli import main

asyncio.run_coroutine_threadsafe(asyncio.sleep(600), _get_loop())
sys.argv = ["shadowzarr", "info", "gone.json"]
sys.exit(main())
"""


def test_what_is_still_read_after_a_failure_ends_quietly():
    done = subprocess.run([sys.executable, "-c", PENDING], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
