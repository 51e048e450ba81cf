"""``shadowzarr icechunk``: a repository made, added to and replaced, and what is said of it."""

import re
import sys

import h5py
import numpy as np
import pytest
from command_line import Terminal, add_times, call, error_of, listed

icechunk = pytest.importorskip("icechunk")


@pytest.fixture(scope="module")
def refs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("icechunk")
    with h5py.File(folder / "good.h5", "w") as file:
        data = np.arange(40_000, dtype="<i2").reshape(4000, 10)
        file.create_dataset("wave/data", data=data, chunks=(400, 10), compression="gzip")
    assert call("generate", folder / "good.h5", folder / "good").returncode == 0
    with h5py.File(folder / "partly.h5", "w") as file:
        file["x"] = np.arange(500.0)
        add_times(file, "times")
    assert call("generate", folder / "partly.h5", folder / "partly").returncode == 3
    return folder


def opened(place, *files, **at):
    from shadowzarr.icechunk import open_repository

    return open_repository(place, [file.as_uri() for file in files]).readonly_session(
        **(at or {"branch": "main"})
    )


def values(session, path):
    import zarr

    return zarr.open_array(session.store, path=path, mode="r")[:]


def test_a_repository_is_made_and_added_to(refs, tmp_path):
    made = call("icechunk", refs / "good", tmp_path / "repo", "--group", "sub-01/a", "--message", "the first")
    assert (made.returncode, made.stderr) == (0, "")
    line = re.fullmatch(
        r".*/repo, group sub-01/a: 2 groups, 1 array, 10 virtual chunks in 1 file, "
        r"0 native chunks of 0 B; snapshot (\w+) of branch main in [\d.]+ s\n",
        made.stdout,
    )
    assert line, made.stdout
    session = opened(tmp_path / "repo", refs / "good.h5")
    assert session.snapshot_id == line[1]
    expected = np.arange(40_000, dtype="<i2").reshape(4000, 10)
    assert np.array_equal(values(session, "sub-01/a/wave/data"), expected)
    assert call("icechunk", refs / "good", tmp_path / "repo", "--group=b", "--branch=new").returncode == 0
    session = opened(tmp_path / "repo", refs / "good.h5", branch="new")
    assert np.array_equal(values(session, "b/wave/data"), values(session, "sub-01/a/wave/data"))


def test_what_is_there_is_replaced_only_when_asked(refs, tmp_path):
    for _ in range(2):
        result = call("icechunk", refs / "good", tmp_path / "repo")
    assert result.returncode == 1
    assert error_of(result).startswith("'/' is in the repository already, with 'wave'")
    assert call("icechunk", refs / "good", tmp_path / "repo", "--replace").returncode == 0


def test_what_the_references_leave_out_is_told(refs, tmp_path):
    result = call("icechunk", refs / "partly", tmp_path / "repo")
    assert result.returncode == 3
    assert "left out: dataset /times" in result.stdout


def test_prefixes_move_files(refs, tmp_path):
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / "good.h5").write_bytes((refs / "good.h5").read_bytes())
    other = f"--url-prefix={refs}/g=/nowhere/{refs.name}"
    result = call("icechunk", refs / "good", tmp_path / "a", other)
    assert result.returncode == 1
    assert "cannot be found" in error_of(result)
    assert listed(tmp_path) == ["moved"]  # no repository for nothing
    both = [other, f"--url-prefix={refs}/good={tmp_path}/moved/good"]  # the longer one counts
    assert call("icechunk", refs / "good", tmp_path / "a", *both).returncode == 0
    session = opened(tmp_path / "a", tmp_path / "moved" / "good.h5")
    assert session.all_virtual_chunk_locations()[0] == (tmp_path / "moved" / "good.h5").as_uri()


def test_a_prefix_that_no_file_begins_with(refs, tmp_path):
    """It is misspelled, and would else be as if it were not given."""
    result = call("icechunk", refs / "good", tmp_path / "a", "--url-prefix=/elsewhere/=s3://bucket/")
    assert (result.returncode, result.stdout) == (1, "")
    assert "--url-prefix: no file of the references begins with '/elsewhere/'" in error_of(result)
    assert f"{refs}/good.h5" in error_of(result)
    assert listed(tmp_path) == []


@pytest.mark.parametrize("text", ["x", "=y", "x="])
def test_prefixes_that_say_nothing(refs, tmp_path, text):
    result = call("icechunk", refs / "good", tmp_path / "a", "--url-prefix", text)
    assert result.returncode == 2
    assert f"--url-prefix {text!r}: expected FROM=TO (see shadowzarr icechunk --help)" in result.stderr


def test_a_place_that_holds_something_else(refs):
    result = call("icechunk", refs / "good", refs)
    assert result.returncode == 1
    assert "holds other files and no Icechunk repository" in error_of(result)


def test_it_says_how_far_it_is_on_a_terminal(refs, tmp_path, monkeypatch):
    from shadowzarr.cli import icechunk as verb

    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    assert verb.icechunk(str(refs / "good"), str(tmp_path / "repo")) == 0
    assert "0 of 1 array: /wave/data" in shown.text
