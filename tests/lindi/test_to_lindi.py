"""Our references made LINDI's: what its own package reads, where that is installed, and what is left out."""

import json
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr import RfsBuilder, generate_rfs, lindi_to_rfs, rfs_to_lindi, verify_rfs, write_rfs
from shadowzarr.errors import UnsupportedError

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "lindi"
PYTHON = ROOT / "build" / "bench" / "lindi" / "bin" / "python"


def skipped(document):
    return {entry["path"]: entry["reason"] for entry in document["generationMetadata"]["skipped"]}


@pytest.fixture(scope="module")
def document():
    return rfs_to_lindi(generate_rfs(GOLDEN / "sample.h5"))


def test_there_and_back_equals_the_file(document):
    report = verify_rfs(lindi_to_rfs(json.loads(json.dumps(document))), GOLDEN / "sample.h5", mode="full")
    assert [(d.path, d.kind) for d in report.differences] == [("/attributes@texts", "attribute")]
    assert list(skipped(document)) == ["/attributes@texts"]


def test_a_directory_with_indexes_is_listed(document, tmp_path):
    write_rfs(
        generate_rfs(GOLDEN / "sample.h5", chunk_index_threshold=5, contiguous_chunk_bytes=2000),
        tmp_path / "refs",
    )
    again = rfs_to_lindi(tmp_path / "refs")
    many = [key for key in again["refs"] if key.startswith("numbers/many/") and key[-1].isdigit()]
    assert len(many) == 30
    assert verify_rfs(lindi_to_rfs(again), GOLDEN / "sample.h5", mode="full").differences[1:] == []


def test_references_carry_both_identifiers(document):
    assert document["refs"]["attributes/.zattrs"]["reference"] == {
        "_REFERENCE": {"object_id": "1", "path": "/numbers/gzip", "source": ".", "source_object_id": "0"}
    }
    assert document["refs"][".zattrs"][".specloc"]["_REFERENCE"]["path"] == "/specifications"
    assert document["refs"]["references/table/.zattrs"]["_COMPOUND_DTYPE"][2] == ["series", "<REFERENCE>"]
    assert document["refs"]["references/group/.zattrs"] == {"_SOFT_LINK": {"path": "/texts"}}


def test_codecs_that_lindi_cannot_run_are_links_into_the_file(document):
    link = document["refs"]["numbers/checked/.zattrs"]["_EXTERNAL_ARRAY_LINK"]
    assert (link["link_type"], link["name"]) == ("hdf5_dataset", "numbers/checked")
    assert not any(key.startswith("numbers/checked/0") for key in document["refs"])


def test_what_lindi_cannot_say_is_named(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))
        file["complex"] = np.zeros(3, "c8")
        file["nothing"] = h5py.Empty("f4")
        file.create_dataset("null", (2,), h5py.ref_dtype)
        file["nested"] = np.zeros(2, [("a", [("b", "i4")])])
        file["good"] = np.arange(5)
        file["good"].attrs["bytes"] = np.void(b"ab")
        file["good"].attrs["list"] = [file["good"].ref] * 2
        file["good"].attrs["empty"] = h5py.Empty("f4")
    rfs = generate_rfs(tmp_path / "x.h5")
    found = skipped(rfs_to_lindi(rfs))
    assert set(found) == {
        *("/ragged", "/complex", "/nothing", "/null", "/nested"),
        *("/good@bytes", "/good@list", "/good@empty"),
    }
    assert "null or lead nowhere" in found["/null"]
    with pytest.raises(UnsupportedError, match="LINDI cannot"):
        rfs_to_lindi(rfs, on_unsupported="error")


def test_arrays_that_are_no_hdf5_datasets():
    builder = RfsBuilder()
    zstd = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {}}]
    builder.add_array("zstd", shape=[4], data_type="int16", chunk_shape=[4], codecs=zstd)
    builder.add_chunk("zstd", (0,), "/f", 0, 8)
    builder.add_array("whole", shape=[4], data_type="int16", chunk_shape=[4])
    builder.add_chunk("whole", (0,), "/f")
    builder.add_array("sized", shape=[4], data_type="int16", chunk_shape=[4])
    builder.add_chunk("sized", (0,), "/g")
    builder.add_source("/g", 8)
    builder.add_array("s3", shape=[4], data_type="int16", chunk_shape=[4])
    builder.add_chunk("s3", (0,), "s3://bucket/key", 0, 8)
    builder.add_array("part", shape=[4], data_type="int16", chunk_shape=[4])
    builder.add_selection("part", 4, [[0, 2]])
    builder.add_chunk("part", (0,), "/f", 0, 16)
    turn = [{"name": "transpose", "configuration": {"order": [1, 0]}}, zstd[0]]
    builder.add_array("turned", shape=[2, 3], data_type="int16", chunk_shape=[2, 3], codecs=turn)
    builder.add_chunk("turned", (0, 0), "/f", 0, 12)
    document = rfs_to_lindi(builder.build())
    assert set(skipped(document)) == {"/zstd", "/whole", "/s3", "/part"}
    assert document["refs"]["sized/0"][1:] == [0, 8]
    assert document["refs"]["turned/.zarray"]["order"] == "F"


def test_a_kept_link_is_a_link_again():
    kept = lindi_to_rfs(GOLDEN / "sample.lindi.json", follow_external_arrays=False)
    again = rfs_to_lindi(kept)
    original = json.loads((GOLDEN / "sample.lindi.json").read_text())
    for key in ("numbers/many/.zarray", "numbers/many/.zattrs"):
        assert again["refs"][key] == original["refs"][key]


def test_lindi_itself_reads_it(document, tmp_path):
    if not PYTHON.exists():
        pytest.skip("LINDI's environment is not built (make bench-env)")
    (tmp_path / "x.lindi.json").write_text(json.dumps(document))
    program = [PYTHON, GOLDEN / "read_with_lindi.py", tmp_path / "x.lindi.json", GOLDEN / "sample.h5"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert report["compared"] >= 45
    assert report["only"] == ["/attributes@texts"]
    # A list of booleans is one of integers to LINDI, and a cached specification is a scalar to us.
    assert report["differ"] == ["/attributes@flags", "/specifications/core/1.0/namespace"]
