"""``shadowzarr to-hdf5``: what it prints, how it ends, and what it refuses."""

import json

import h5py
import numpy as np
import pytest

from shadowzarr import RfsBuilder, generate_rfs, write_rfs
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
    said = capsys.readouterr().out
    assert "0 groups beside the root, 1 dataset, 0 attributes; 10 chunks copied as stored" in said
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


def test_attributes_that_no_hdf5_file_can_have_are_left_out_with_the_reason(tmp_path, capsys):
    builder = RfsBuilder()
    builder.add_group(
        "", attributes={"ome": {"pixels": 4}, "axes": [{"name": "x"}], "plain": [1, 2], "none": []}
    )
    write_rfs(builder.build(), tmp_path / "refs.json")
    assert main(["to-hdf5", str(tmp_path / "refs.json"), str(tmp_path / "made.h5")]) == 3
    said = capsys.readouterr().out.splitlines()
    assert "0 datasets, 1 attribute;" in said[0]
    reason = "and the references name no HDF5 datatype for it"
    assert [line.partition(reason)[:2] for line in sorted(said[1:])] == [
        ("left out: /@axes: it is a list of JSON objects, ", reason),
        ("left out: /@none: it is an empty list, ", reason),
        ("left out: /@ome: it is a JSON object, ", reason),
    ]
