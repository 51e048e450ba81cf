"""``shadowzarr materialize``: what it prints and shows, how it ends, and what it refuses."""

import json

import h5py
import numpy as np
import pytest
import zarr
from command_line import Terminal, add_times, call, error_of, listed, run

from shadowzarr import generate_rfs, write_rfs
from shadowzarr.cli.command import main
from shadowzarr.cli.materialize import _Progress
from shadowzarr.export.materialize import MaterializeProgress
from shadowzarr.testing import Fault, RangeServer


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.h5"
    with h5py.File(path, "w") as file:
        data = np.arange(6000, dtype="i2").reshape(1000, 6)
        file.create_dataset("x", data=data, chunks=(50, 6), compression="gzip")
    return path


@pytest.fixture
def refs(source, tmp_path):
    write_rfs(generate_rfs(source), tmp_path / "refs")
    return tmp_path / "refs"


def values(place):
    return zarr.open_group(place, mode="r")["x"][:]


@pytest.mark.parametrize("layout", ["default", "ephys", "imaging"])
def test_it_writes_the_store(refs, tmp_path, layout):
    out = tmp_path / "out.zarr"
    result = call("materialize", refs, out, "--layout", layout, "--verify", "--threads", 1, "--max-memory", 2)
    assert result.returncode == 0, result.stderr
    first, line, took = result.stdout.splitlines()
    assert first.startswith(f"{out}: 1 group, 1 array; 12 kB of values in ")
    assert first.endswith(", read back and equal")
    assert line.startswith("rewritten: /x: [1000, 6] int16, chunks [1000, 6]; 12 kB in ")
    assert took.startswith("took ")
    assert result.stderr == ""
    assert np.array_equal(values(out), np.arange(6000).reshape(1000, 6))


def test_a_zip_file_and_the_report_as_json(refs, tmp_path):
    result = call("materialize", refs, tmp_path / "out.zip", "--json", "--scratch", tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["arrays"][0]["written"] == 1
    with zarr.storage.ZipStore(tmp_path / "out.zip", mode="r") as store:
        assert values(store)[-1, -1] == 5999


def test_something_left_out_ends_with_3(source, tmp_path):
    with h5py.File(source, "a") as file:
        add_times(file, "t")
    write_rfs(generate_rfs(source), tmp_path / "refs")
    result = call("materialize", tmp_path / "refs", tmp_path / "out")
    assert result.returncode == 3
    assert "left out: dataset /t: " in result.stdout
    assert "t" not in zarr.open_group(tmp_path / "out", mode="r")


def test_nothing_that_is_there_is_replaced(refs, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    result = call("materialize", refs, out)
    assert (result.returncode, result.stdout) == (1, "")
    assert error_of(result) == f"{out} exists; remove it, or name another place"
    assert listed(tmp_path) == ["out", "refs", "source.h5"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--layout", "ephis"), "ephis"),
        (("--max-memory", "0"), "max_memory is 0 bytes; expected 1,048,576 or more"),
        (("--threads", "0"), "threads is 0; expected 1 or more"),
    ],
)
def test_what_cannot_be_asked_for(refs, tmp_path, arguments, words):
    result = call("materialize", refs, tmp_path / "out", *arguments)
    assert result.returncode in (1, 2)
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert listed(tmp_path) == ["refs", "source.h5"]


def test_references_that_are_not_there(tmp_path):
    result = call("materialize", tmp_path / "none", tmp_path / "out")
    assert result.returncode == 1
    assert "none" in error_of(result)
    assert listed(tmp_path) == []


def test_a_changed_source(source, refs, tmp_path):
    """One message, in a process of its own, where nothing else may be said at its end either."""
    good = source.read_bytes()
    source.write_bytes(good + b"more")
    result = run("materialize", refs, tmp_path / "out")
    assert (result.returncode, result.stdout) == (1, "")
    assert "source.h5" in error_of(result)
    assert result.stderr.count("\n") == 1
    source.write_bytes(good)
    assert call("materialize", refs, tmp_path / "out").returncode == 0
    assert listed(tmp_path) == ["out", "refs", "source.h5"]


def test_a_source_that_fails_in_the_middle(source, tmp_path):
    with RangeServer(source.parent) as server:
        write_rfs(generate_rfs(server.url(source.name)), tmp_path / "refs")
        server.faults.add(Fault(status=403))
        result = run("materialize", tmp_path / "refs", tmp_path / "out")
    assert (result.returncode, result.stdout) == (1, "")
    assert "source.h5" in error_of(result)
    assert result.stderr.count("\n") == 1


def test_progress_on_a_terminal():
    shown = Terminal()
    with _Progress(shown) as progress:
        progress(MaterializeProgress("a/x", 5_000_000, 20_000_000, 1, 7))
        progress(MaterializeProgress("a/y", 6_000_000, 20_000_000, 2, 7))  # too soon after the other
    assert "5 MB of 20 MB, 1 of 7 arrays: /a/x" in shown.text
    assert "a/y" not in shown.text
    assert shown.text.rstrip("\r").endswith(" ")  # cleared


def test_no_progress_elsewhere(capsys):
    with _Progress() as progress:
        progress(MaterializeProgress("a/x", 5, 20, 1, 7))
    assert capsys.readouterr().err == ""


def test_an_interruption_is_told(refs, tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_Progress, "__call__", interrupted)
    assert main(["materialize", str(refs), str(tmp_path / "out")]) == 130
    assert "shadowzarr: interrupted; " in capsys.readouterr().err
    monkeypatch.undo()
    assert call("materialize", refs, tmp_path / "out").returncode == 0
    assert listed(tmp_path) == ["out", "refs", "source.h5"]


def test_attributes_as_they_are_stored(source, tmp_path):
    with h5py.File(source, "a") as file:
        file["x"].attrs["_FillValue"] = np.array([-1], "i2")
        file["t"], file["c"] = np.arange(1000), np.arange(6)
        for n, name in enumerate("tc"):
            file[name].make_scale(name)
            file["x"].dims[n].attach_scale(file[name])
    write_rfs(generate_rfs(source), tmp_path / "refs")
    for out, flag, value in (("a", "--cf-attributes", -1), ("b", "--no-cf-attributes", [-1])):
        assert call("materialize", tmp_path / "refs", tmp_path / out, flag).returncode == 0
        assert zarr.open_group(tmp_path / out, mode="r")["x"].attrs["_FillValue"] == value
