"""``shadowzarr to-hdf5``: what it prints, how it ends, and what it refuses."""

import json

import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, write_rfs
from shadowzarr.cli import main


@pytest.fixture
def refs(tmp_path):
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file.create_dataset("x", data=np.arange(1000), chunks=(100,))
    write_rfs(generate_rfs(tmp_path / "source.h5"), tmp_path / "refs")
    return tmp_path / "refs"


def test_it_writes_the_file(refs, tmp_path, capsys):
    out = tmp_path / "made.h5"
    assert main(["to-hdf5", str(refs), str(out)]) == 0
    assert "1 datasets" in capsys.readouterr().out
    with h5py.File(out) as file:
        assert file["x"][-1] == 999


def test_the_report_as_json(refs, tmp_path, capsys):
    assert main(["to-hdf5", str(refs), str(tmp_path / "made.h5"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["chunks_copied"] == 10


def test_a_file_that_exists_needs_force(refs, tmp_path, capsys):
    out = tmp_path / "made.h5"
    out.touch()
    assert main(["to-hdf5", str(refs), str(out)]) == 1
    assert "exists" in capsys.readouterr().err
    assert main(["to-hdf5", str(refs), str(out), "--force"]) == 0
    assert h5py.is_hdf5(out)


def test_something_left_out_ends_with_3(refs, tmp_path, capsys):
    document = json.loads((refs / "refs.json").read_text())
    document["hdf5"].setdefault("objects", {}).setdefault("/x", {})["maxdims"] = [7]
    (refs / "refs.json").write_text(json.dumps(document))
    assert main(["to-hdf5", str(refs), str(tmp_path / "made.h5")]) == 3
    assert "left out: /x" in capsys.readouterr().out
