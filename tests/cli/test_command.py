"""The command as a user runs it: exit codes, messages, and what help imports."""

import contextlib
import importlib
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest

from shadowzarr.access import archives
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.cli import main
from shadowzarr.cli.command import VERBS, _app
from shadowzarr.testing import RangeServer

HEAVY = {"zarr", "h5py", "numpy", "prefect", "obstore", "httpx", "pydantic", "numcodecs"}


def run(*arguments, cwd=None):
    code = "import sys; from shadowzarr.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
    )


def call(*arguments):
    """The same in this process, which is faster and loads the libraries once."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(each) for each in arguments])
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def error_of(result):
    """The one line on the standard error stream."""
    *notices, line = result.stderr.splitlines()
    assert all(notice.endswith(" tries)") for notice in notices), result.stderr
    assert line.startswith("shadowzarr: error: ")
    return line.removeprefix("shadowzarr: error: ")


def add_times(file, name):
    """Add a dataset that h5py cannot read, so that references leave it out."""
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.UNIX_D32LE, h5py.h5s.create_simple((1,)))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An HDF5 file, one with something that has no form, and references of both."""
    folder = tmp_path_factory.mktemp("files")
    with h5py.File(folder / "good.h5", "w") as file:
        data = np.arange(40_000, dtype="<i2").reshape(4000, 10)
        file.create_dataset("wave/data", data=data, chunks=(400, 10))
        file["wave/data"].attrs["unit"] = "mV"
        file["name"] = "a name"
        file["link"] = h5py.SoftLink("/wave")
    with h5py.File(folder / "partly.h5", "w") as file:
        file["x"] = np.arange(500.0)
        add_times(file, "times")
    (folder / "text.h5").write_text("this is no HDF5 file\n" * 100)
    (folder / "cut.h5").write_bytes((folder / "good.h5").read_bytes()[:3000])
    assert call("generate", folder / "good.h5", folder / "good").returncode == 0
    return folder


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


# --- help ---------------------------------------------------------------------


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


def test_help_says_of_every_verb_what_it_does():
    text = re.sub(r"[│\s]+", " ", call("--help").stdout)
    for verb, line in VERBS.items():
        assert f"{verb} {line}" in text
        name = verb.replace("-", "_")
        function = getattr(importlib.import_module(f"shadowzarr.cli.{name}"), name)
        assert function.__doc__.splitlines()[0] == line


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
    for name in shared - {"source"}:
        assert command[name].default == function[name].default, name


# --- generate -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.json", "out"])
def test_generate_says_what_it_made(made, tmp_path, name):
    result = call("generate", made / "good.h5", tmp_path / name)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("\n") == 1
    for part in ("2 groups", "2 arrays", "11 chunks", "inline", "written in", " s"):
        assert part in result.stdout


def test_generate_says_how_many_requests_a_url_took(made, tmp_path):
    with RangeServer(made) as server:
        result = call("generate", server.url("good.h5"), tmp_path / "out.json")
    assert result.returncode == 0, result.stderr
    last = result.stdout.splitlines()[-1]
    assert re.fullmatch(
        r"took [1-9]\d* requests?, [\d.]+ k?B read; [1-9]\d* nodes of metadata in \d+ rounds?", last
    )


def test_generate_names_what_it_leaves_out(made, tmp_path):
    result = call("generate", made / "partly.h5", tmp_path / "out.json")
    assert result.returncode == 3
    assert "left out: dataset /times: " in result.stdout
    assert (tmp_path / "out.json").exists()


def test_many_objects_left_out_are_shortened(tmp_path):
    with h5py.File(tmp_path / "many.h5", "w") as file:
        file["x"] = np.arange(500.0)
        for number in range(25):
            add_times(file, f"t{number:02}")
    for out, where in (("out", "out/refs.json"), ("out.json", "out.json")):
        lines = call("generate", tmp_path / "many.h5", tmp_path / out).stdout.splitlines()
        assert len(lines) == 22
        assert lines[-1] == f'... and 5 more; see "skipped" in {tmp_path / where}'
    lines = call("info", tmp_path / "out").stdout.splitlines()
    assert lines[-1] == "... and 5 more; --json shows all"
    assert len(json.loads(call("info", tmp_path / "out", "--json").stdout)["skipped"]) == 25


def test_generate_with_error_leaves_nothing(made, tmp_path):
    result = call("generate", made / "partly.h5", tmp_path / "out.json", "--on-unsupported", "error")
    assert result.returncode == 1
    assert "/times" in error_of(result)
    assert listed(tmp_path) == []


def test_generate_with_a_threshold(made, tmp_path):
    result = call("generate", made / "good.h5", tmp_path / "few", "--chunk-index-threshold", "5")
    assert result.returncode == 0, result.stderr
    assert list(json.loads((tmp_path / "few" / "refs.json").read_text())["indexes"]) == ["wave/data"]
    result = call("generate", made / "good.h5", tmp_path / "none", "--chunk-index-threshold", "none")
    assert result.returncode == 0, result.stderr
    assert "indexes" not in json.loads((tmp_path / "none" / "refs.json").read_text())


def test_generate_does_not_replace_unless_told(made, tmp_path):
    out = tmp_path / "out.json"
    out.write_text('{"version": 1, "refs": {}}')
    result = run("generate", made / "good.h5", out)
    assert result.returncode == 1
    assert "--force" in error_of(result)
    assert json.loads(out.read_text())["refs"] == {}
    assert run("generate", made / "good.h5", out, "--force").returncode == 0
    assert json.loads(out.read_text())["refs"]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_generate_never_replaces_another_file(made, tmp_path, force):
    for name in ("out.json", "out"):
        (tmp_path / name).write_text("mine")
        result = call("generate", made / "good.h5", tmp_path / name, *force)
        assert result.returncode == 1
        assert "only references are replaced" in error_of(result)
        assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_generate_never_writes_to_its_source(made, tmp_path, force):
    source = tmp_path / "session.json"
    source.write_bytes((made / "good.h5").read_bytes())
    (tmp_path / "link").symlink_to(source)
    for arguments in ([source, source], [source, tmp_path / "link"], [f"file://{source}", source]):
        result = call("generate", *arguments, *force)
        assert result.returncode == 1
        assert "is the source itself" in error_of(result)
    local = ["http://127.0.0.1:1/x", source, "--local-hdf5-path", source]
    assert "is the source itself" in error_of(call("generate", *local, *force))
    assert source.read_bytes() == (made / "good.h5").read_bytes()


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_generate_never_replaces_what_is_no_document_directory(made, tmp_path, force):
    out = tmp_path / "precious"
    out.mkdir()
    (out / "data.txt").write_text("mine")
    result = call("generate", made / "good.h5", out, *force)
    assert result.returncode == 1
    error_of(result)
    assert (out / "data.txt").read_text() == "mine"


BAD_SOURCES = {
    "missing.h5": "missing.h5",
    ".": "directory",
    "text.h5": "HDF5",
    "cut.h5": "truncated",
    "http://127.0.0.1:1/file.h5": "127.0.0.1:1",
    "ftp://somewhere/file.h5": "ftp",
}


@pytest.mark.parametrize("source", sorted(BAD_SOURCES))
def test_a_bad_source_is_one_message(made, tmp_path, source):
    result = run("generate", source, tmp_path / "out", cwd=made)
    assert result.returncode == 1
    assert BAD_SOURCES[source] in error_of(result)
    assert result.stdout == ""
    assert listed(tmp_path) == []


def test_an_output_that_cannot_be_written(made, tmp_path):
    result = run("generate", made / "good.h5", tmp_path / "no" / "such" / "folder" / "out.json")
    assert result.returncode == 1
    assert "no directory" in error_of(result)
    (tmp_path / "file").write_text("")
    result = run("generate", made / "good.h5", tmp_path / "file" / "out.json")
    assert result.returncode == 1
    error_of(result)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_an_output_folder_without_permission(made, tmp_path):
    tmp_path.chmod(0o500)
    result = call("generate", made / "good.h5", tmp_path / "out.json")
    tmp_path.chmod(0o700)
    assert result.returncode == 1
    assert "not writable" in error_of(result)


# --- usage --------------------------------------------------------------------


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


# --- verify -------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--full"], ["--seed", "3"], ["--strict"]])
def test_verify_equal_references(made, options):
    result = call("verify", made / "good", *options)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("equal")


def test_verify_against_another_file(made, tmp_path):
    other = tmp_path / "other.h5"
    other.write_bytes((made / "good.h5").read_bytes())
    with h5py.File(other, "r+") as file:
        file["wave/data"][3999, 9] = -1
    result = call("verify", made / "good", "--against", other)
    assert result.returncode == 1
    assert "/wave/data: values" in result.stdout
    assert result.stderr == ""


def test_verify_as_json(made):
    result = call("verify", made / "good", "--full", "--json")
    report = json.loads(result.stdout)
    assert report["equal"] is True
    assert report["mode"] == "full"
    assert report["counts"]["arrays"] == 2


def test_strict_counts_what_is_left_out(made, tmp_path):
    call("generate", made / "partly.h5", tmp_path / "out.json")
    result = call("verify", tmp_path / "out.json")
    assert result.returncode == 0
    assert "left out: /times" in result.stdout
    assert call("verify", tmp_path / "out.json", "--strict").returncode == 1


def test_verify_of_a_replaced_original_is_one_line(made, tmp_path):
    (tmp_path / "x.h5").write_bytes((made / "good.h5").read_bytes())
    call("generate", tmp_path / "x.h5", tmp_path / "x")
    with (tmp_path / "x.h5").open("ab") as file:
        file.write(b"more")
    result = call("verify", tmp_path / "x")
    assert result.returncode == 1
    (line,) = result.stdout.splitlines()
    assert "x.h5 is not the file that was indexed" in line


@pytest.mark.parametrize("verb", ["info", "verify"])
def test_an_hdf5_file_in_place_of_references(made, verb):
    result = call(verb, made / "good.h5")
    assert result.returncode == 1
    assert "is an HDF5 file" in error_of(result)
    assert f"shadowzarr generate {made / 'good.h5'} OUT" in error_of(result)


@pytest.mark.parametrize("refs", ["missing", "text.h5", "."])
def test_verify_without_references(made, refs):
    result = run("verify", refs, cwd=made)
    assert result.returncode == 1
    error_of(result)


def test_verify_when_the_original_is_gone(made, tmp_path):
    result = call("verify", made / "good", "--against", tmp_path / "gone.h5")
    assert result.returncode == 1
    assert "gone.h5" in error_of(result)


# --- info ---------------------------------------------------------------------


def test_info_shows_the_tree(made):
    result = call("info", made / "good")
    assert (result.returncode, result.stderr) == (0, "")
    assert "├─ " in result.stdout
    assert "data  4,000 × 10 int16  10 chunks of 400 × 10" in result.stdout
    assert "link → /wave" in result.stdout
    assert "good.h5" in result.stdout
    assert "\x1b[" not in result.stdout


def test_info_shows_how_chunks_lie(made):
    text = call("info", made / "good", "wave/data").stdout
    assert "chunks      10 chunks of 400 × 10" in text
    assert "in order" in text
    assert "█" in text
    assert '@unit  "mV"' in text


def test_info_as_json(made):
    record = json.loads(call("info", made / "good", "--json").stdout)
    nodes = {node["path"]: node for node in record["nodes"]}
    assert set(nodes) == {"/", "/wave", "/wave/data", "/name"}
    assert nodes["/"]["links"] == {"link": "/wave"}
    assert nodes["/wave/data"] == {
        "path": "/wave/data",
        "node_type": "array",
        "shape": [4000, 10],
        "data_type": "int16",
        "chunk_shape": [400, 10],
        "chunk_count": 10,
        "codecs": [],
        "where": "10 listed",
    }
    (source,) = record["sources"]
    assert source == str(made / "good.h5")
    below = json.loads(call("info", made / "good", "wave", "--json").stdout)
    assert [node["path"] for node in below["nodes"]] == ["/wave", "/wave/data"]


def test_info_of_an_array_as_json(made):
    record = json.loads(call("info", made / "good", "wave/data", "--json").stdout)
    assert record["attributes"]["unit"] == "mV"
    places = record["places"]
    assert (places["file"], places["stored_chunks"]) == (str(made / "good.h5"), 10)
    assert places["stored_bytes"] == 80_000
    record = json.loads(call("info", made / "good", "name", "--json").stdout)
    assert (record["chunk_count"], record["places"]["inline_chunks"], record["places"]["file"]) == (
        1,
        1,
        None,
    )


def test_info_of_a_path_that_is_not_there(made):
    result = call("info", made / "good", "wave/dat")
    assert result.returncode == 1
    assert "did you mean wave/data?" in error_of(result)


def test_a_closed_pipe_is_quiet(made):
    code = "import sys; from shadowzarr.cli import main; sys.exit(main())"
    command = f"{sys.executable} -c '{code}' info {made / 'good'} | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert result.stderr == ""


# --- archive ------------------------------------------------------------------


def test_archive_serves_until_interrupted(made, tmp_path):
    folder = tmp_path / "000001"
    folder.mkdir()
    (folder / "a.nwb").write_bytes((made / "good.h5").read_bytes())
    code = "import sys; from shadowzarr.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "archive", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert "1 dandisets, 1 assets" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, errors) == (0, "")


def test_archive_on_a_busy_port(made, tmp_path):
    folder = tmp_path / "000001"
    folder.mkdir()
    (folder / "a.nwb").write_bytes((made / "good.h5").read_bytes())
    with RangeServer(made) as other:
        port = other.port
        result = call("archive", tmp_path, "--api-port", port)
    assert result.returncode == 1
    assert f"port {port} of 127.0.0.1: Address already in use" in error_of(result)
    assert "Errno" not in result.stderr


def test_archive_of_nothing(tmp_path):
    result = call("archive", tmp_path / "missing")
    assert result.returncode == 1
    assert "missing" in error_of(result)


def test_ctrl_c_is_quiet(tmp_path):
    code = (
        "import sys, time; from shadowzarr.cli import main; import shadowzarr.store.load_rfs as module;"
        "module.load_rfs = lambda *_: (print('ready', flush=True), time.sleep(60));"
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
    assert (process.returncode, out, errors) == (130, "", "")
