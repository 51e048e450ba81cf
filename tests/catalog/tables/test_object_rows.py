"""Rows of groups and arrays, and what a file tells of its session."""

import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, load_rfs, write_rfs
from shadowzarr.catalog.tables.columns import ASSETS, OBJECTS
from shadowzarr.catalog.tables.object_rows import object_rows, session_facts
from shadowzarr.errors import InvalidReferencesError


@pytest.fixture(scope="module")
def document(tmp_path_factory, write_nwb_file):
    folder = tmp_path_factory.mktemp("rows")
    write_rfs(
        generate_rfs(write_nwb_file(folder / "a.nwb"), chunk_index_threshold=2), folder / "a.shadowzarr"
    )
    return load_rfs(folder / "a.shadowzarr")


@pytest.fixture(scope="module")
def rows(document):
    return {row["path"]: row for row in object_rows(document)}


def test_every_group_and_array_has_a_row(rows, document):
    nodes = [key.rpartition("/")[0] for key in document["refs"] if key.endswith("zarr.json")]
    assert sorted(rows) == sorted(nodes)
    assert set().union(*rows.values()) <= {column.name for column in OBJECTS}


def test_a_series_says_what_its_members_hold(rows):
    series = rows["acquisition/wide"]
    assert series == {
        "path": "acquisition/wide",
        "kind": "group",
        "neurodata_type": "ElectricalSeries",
        "namespace": "core",
        "parent_type": "NWBFile",
        "unit": "volts",
        "conversion": 2e-7,
        "description": "broadband",
        "rate": 30_000.0,
        "channels": 4,
        "samples": 600,
        "seconds": 600 / 30_000,
    }
    pose = rows["processing/pose/nose"]
    assert (pose["rate"], pose["channels"], pose["samples"], pose["seconds"]) == (None, None, 300, None)
    assert pose["parent_type"] == "PoseEstimation"


def test_an_array_says_how_it_is_stored(rows, tmp_path_factory):
    data = rows["acquisition/wide/data"]
    assert {name: data[name] for name in ("shape", "dtype", "chunk_shape", "codecs", "parent_type")} == {
        "shape": [600, 4],
        "dtype": "int16",
        "chunk_shape": [200, 4],
        "codecs": ["bytes", "shuffle", "zlib"],
        "parent_type": "ElectricalSeries",
    }
    assert (data["compression"], data["compression_level"]) == ("zlib", 4)
    assert (data["chunks_in"], data["chunk_count"], data["array_bytes"]) == ("index", 3, 4800)
    assert 0 < data["stored_bytes"] < 4800
    start = rows["acquisition/wide/starting_time"]
    assert (start["chunks_in"], start["inline_count"], start["stored_bytes"]) == ("inline", 1, 8)
    assert rows["identifier"]["array_bytes"] is None


def test_stored_bytes_are_those_that_hdf5_tells(tmp_path, write_nwb_file):
    path = write_nwb_file(tmp_path / "a.nwb")
    with h5py.File(path) as file:
        dataset = file["acquisition/wide/data"].id
        told = sum(dataset.get_chunk_info(number).size for number in range(dataset.get_num_chunks()))
    for threshold in (2, None):
        (row,) = (
            row
            for row in object_rows(generate_rfs(path, chunk_index_threshold=threshold))
            if row["path"] == "acquisition/wide/data"
        )
        assert row["stored_bytes"] == told


def test_chunks_of_a_rule_are_counted_by_arithmetic(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["block"] = np.zeros((4096, 128), "i2")
    rfs = generate_rfs(tmp_path / "a.h5", contiguous_chunk_bytes=65536)
    (row,) = (row for row in object_rows(rfs) if row["path"] == "block")
    assert (row["chunks_in"], row["chunk_count"], row["stored_bytes"]) == ("gen", 16, 2**20)
    replaced = {**rfs, "refs": {**rfs["refs"], "block/c/3/0": "base64:AAAA"}}
    (row,) = (row for row in object_rows(replaced) if row["path"] == "block")
    assert (row["chunks_in"], row["chunk_count"], row["inline_count"]) == ("gen+inline", 16, 1)
    assert row["stored_bytes"] == 15 * 65536 + 3


def test_a_reference_to_a_whole_file_has_no_known_size():
    array = (
        '{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"int8","chunk_grid":{"name":"regular",'
        '"configuration":{"chunk_shape":[4]}},"chunk_key_encoding":{"name":"default"},"fill_value":0,'
        '"codecs":[{"name":"bytes"}]}'
    )
    (row,) = object_rows({"version": 1, "refs": {"a/zarr.json": array, "a/c/0": ["https://x.test/a"]}})
    assert (row["chunk_count"], row["stored_bytes"]) == (1, None)


def test_what_a_file_tells_of_its_session(document):
    facts = session_facts(document)
    assert set(facts) <= {column.name for column in ASSETS}
    assert {name: value for name, value in facts.items() if value is not None} == {
        "nwb_version": "2.9.0",
        "identifier": "one",
        "session_start_time": "2026-03-02T09:30:00+00:00",
        "species": "Mus musculus",
        "subject_id": "01",
        "experimenters": ["Example, Ada", "Muster, Erik"],
    }


def test_other_files_tell_nothing_of_a_session(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["identifier"] = "no NWB"
    assert session_facts(generate_rfs(tmp_path / "a.h5")) == {}


def test_a_document_that_holds_no_nodes_is_refused():
    with pytest.raises(InvalidReferencesError, match="node_type"):
        object_rows({"version": 1, "refs": {"zarr.json": '{"node_type": "tree"}'}})
