"""The command as a user runs it: exit codes, messages, and what help imports."""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest

from shadowzarr.cli import main
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
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("shadowzarr: error: ")
    return lines[0].removeprefix("shadowzarr: error: ")


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
        file.create_dataset("regions", shape=(1,), dtype=h5py.regionref_dtype)[0] = file["x"].regionref[:3]
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


def test_help_names_every_verb_and_option():
    text = call("--help").stdout
    assert all(verb in text for verb in ("generate", "info", "verify", "archive"))
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
    assert re.search(r", [1-9][0-9]* requests?$", result.stdout.strip())


def test_generate_names_what_it_leaves_out(made, tmp_path):
    result = call("generate", made / "partly.h5", tmp_path / "out.json")
    assert result.returncode == 3
    assert "left out: dataset /regions: " in result.stdout
    assert (tmp_path / "out.json").exists()


def test_generate_with_error_leaves_nothing(made, tmp_path):
    result = call("generate", made / "partly.h5", tmp_path / "out.json", "--on-unsupported", "error")
    assert result.returncode == 1
    assert "/regions" in error_of(result)
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
    out.write_text("mine")
    result = run("generate", made / "good.h5", out)
    assert result.returncode == 1
    assert "--force" in error_of(result)
    assert out.read_text() == "mine"
    assert run("generate", made / "good.h5", out, "--force").returncode == 0
    assert json.loads(out.read_text())["refs"]


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
        (["generate", "a"], "--out"),
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
    assert "left out: /regions" in result.stdout
    assert call("verify", tmp_path / "out.json", "--strict").returncode == 1


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
    assert "data  4,000 × 10 int16  chunks 400 × 10" in result.stdout
    assert "link → /wave" in result.stdout
    assert "good.h5" in result.stdout
    assert "\x1b[" not in result.stdout


def test_info_shows_how_chunks_lie(made):
    text = call("info", made / "good", "wave/data").stdout
    assert "10 chunks" in text
    assert "in order" in text
    assert "█" in text
    assert '@unit  "mV"' in text


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
