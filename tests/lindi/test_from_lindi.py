"""LINDI's files made ours: equal to the HDF5 file, and what is odd left out by name."""

import json
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, lindi_to_rfs, open_rfs, verify_rfs
from shadowzarr.errors import InvalidReferencesError, UsageError

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "lindi"


@pytest.fixture(scope="module")
def document():
    return json.loads((GOLDEN / "sample.lindi.json").read_text())


def test_what_lindi_wrote_equals_the_hdf5_file():
    rfs = lindi_to_rfs(GOLDEN / "sample.lindi.json")
    report = verify_rfs(rfs, GOLDEN / "sample.h5", mode="full")
    assert report.equal, report.differences
    assert report.counts["arrays"] >= 34
    assert report.left_out == []
    assert rfs.get("skipped", []) == []


def test_it_reads_as_generated_references_do():
    ours, generated = (
        open_rfs(lindi_to_rfs(GOLDEN / "sample.lindi.json")),
        open_rfs(generate_rfs(GOLDEN / "sample.h5")),
    )
    names = {name for name, _ in generated.members(max_depth=None)}
    assert {name for name, _ in ours.members(max_depth=None)} == names
    for name in names:
        assert repr(dict(ours[name].attrs)) == repr(dict(generated[name].attrs))  # NaN is not itself
        if hasattr(generated[name], "shape"):
            assert ours[name].dtype == generated[name].dtype, name
            assert ours[name].shape == generated[name].shape
            np.testing.assert_array_equal(ours[name][...], generated[name][...], err_msg=name)


def test_an_archive_holds_chunks_of_its_own():
    rfs = lindi_to_rfs(GOLDEN / "sample.lindi.tar")
    np.testing.assert_array_equal(open_rfs(rfs)["held"][...], np.arange(5000.0))
    report = verify_rfs(rfs, GOLDEN / "sample.h5", mode="full")
    assert [(d.path, d.kind) for d in report.differences] == [("/held", "extra")]


def test_many_chunks_become_an_index():
    rfs = lindi_to_rfs(GOLDEN / "sample.lindi.json", chunk_index_threshold=20)
    assert list(rfs["indexes"]) == ["numbers/many"]
    assert verify_rfs(rfs, GOLDEN / "sample.h5", mode="full").equal


def test_external_links_may_be_kept_and_never_show_fill_values():
    rfs = lindi_to_rfs(GOLDEN / "sample.lindi.json", follow_external_arrays=False)
    (left_out,) = rfs["skipped"]
    assert (left_out["path"], left_out["kind"]) == ("/numbers/many", "dataset")
    kept = open_rfs(rfs)["numbers/many"]
    assert not hasattr(kept, "shape")
    assert kept.attrs["_EXTERNAL_ARRAY_LINK"]["name"] == "numbers/many"


def test_a_link_that_cannot_be_followed_is_named(document):
    link = document["refs"]["numbers/many/.zattrs"]["_EXTERNAL_ARRAY_LINK"]
    for wrong, reason in (
        ({"url": "/nowhere.h5"}, "no such file"),
        ({"url": str(GOLDEN / "sample.h5"), "name": "gone"}, "no dataset"),
    ):
        refs = {**document["refs"], "numbers/many/.zattrs": {"_EXTERNAL_ARRAY_LINK": {**link, **wrong}}}
        rfs = lindi_to_rfs({**document, "refs": refs}, describe_sources=False)
        assert [(e["path"], reason in e["reason"]) for e in rfs["skipped"]] == [("/numbers/many", True)]


def test_chunks_that_skip_filters_are_right_where_the_file_is_read(tmp_path):
    values = np.random.default_rng(1).integers(0, 2**31, 3000)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        data = file.create_dataset("x", data=values, chunks=(100,), compression="gzip")
        data.id.write_direct_chunk((200,), values[200:300].tobytes(), filter_mask=1)
    refs = {
        ".zgroup": {"zarr_format": 2},
        "x/.zarray": {
            "shape": [3000],
            "chunks": [100],
            "dtype": "<i8",
            "filters": [{"id": "zlib"}],
            "fill_value": 0,
        },
        "x/.zattrs": {"_EXTERNAL_ARRAY_LINK": {"link_type": "hdf5_dataset", "url": "x.h5", "name": "x"}},
    }
    (tmp_path / "x.lindi.json").write_text(json.dumps({"version": 1, "refs": refs}))
    assert verify_rfs(lindi_to_rfs(tmp_path / "x.lindi.json"), tmp_path / "x.h5", mode="full").equal


def small(**refs):
    return {"version": 1, "refs": {".zgroup": {"zarr_format": 2}, **refs}}


def held(dtype, values, codec="json2"):
    return {
        "shape": [len(values)],
        "chunks": [len(values)],
        "dtype": dtype,
        "filters": [{"id": codec}],
        "fill_value": 0,
    }


def test_links_that_lead_nowhere_are_named_and_chains_followed():
    refs = {"a/.zgroup": {"zarr_format": 2}}
    for name, target in {"one": "/two", "two": "a", "gone": "/b", "round": "/round", "a/in": "/one"}.items():
        refs[f"{name}/.zgroup"] = {"zarr_format": 2}
        refs[f"{name}/.zattrs"] = {"_SOFT_LINK": {"path": target}}
    rfs = lindi_to_rfs(small(**refs))
    root = open_rfs(rfs)
    assert root.attrs["_LINKS"] == [
        {"name": "one", "source": ".", "path": "/a"},
        {"name": "two", "source": ".", "path": "/a"},
    ]
    assert root["a"].attrs["_LINKS"] == [{"name": "in", "source": ".", "path": "/a"}]
    assert [e["path"] for e in rfs["skipped"]] == ["/gone", "/round"]


def test_references_that_lead_nowhere():
    reference = {"_REFERENCE": {"source": ".", "path": "/gone", "object_id": None, "source_object_id": None}}
    text = json.dumps([reference, "|O", [1]])
    rfs = lindi_to_rfs(small(**{"x/.zarray": held("|O", [1]), "x/0": text, ".zattrs": {"to": reference}}))
    assert open_rfs(rfs)["x"][...].tolist() == [""]
    assert rfs["skipped"] == [
        {"path": "/@to", "kind": "attribute", "reason": "it refers to /gone, which is left out"}
    ]
    assert "1" in rfs["converted"][0]["what"]


def test_words_for_numbers_among_texts_are_texts():
    rfs = lindi_to_rfs(
        small(**{".zattrs": {"a": ["NaN", "b"], "b": ["NaN", 1.0], "c": [["NaN"]], "_DTYPE": "x"}})
    )
    attributes = dict(open_rfs(rfs).attrs)
    assert attributes["a"] == ["NaN", "b"]
    assert np.isnan(attributes["b"][0])
    assert np.isnan(attributes["c"][0][0])
    assert rfs["skipped"][0]["path"] == "/@_DTYPE"


@pytest.mark.parametrize(
    ("zarray", "attributes", "chunk", "reason"),
    [
        (held("|O", [1], "pickle"), {}, "x", "encoded by 'pickle'"),
        (held("|O", [1]), {}, '[5,"|O",[1]]', "neither all text nor all references"),
        (held("|O", [1]), {}, ["file", 0, 5], "in another file"),
        (held("|O", [1]), {"_COMPOUND_DTYPE": [["a", "nonsense"]]}, '[[1],"|O",[1]]', "is not understood"),
        (
            held("|O", [1]),
            {"_COMPOUND_DTYPE": [["a", "int8"]]},
            '[[1,2],"|O",[1]]',
            "does not have its 1 fields",
        ),
        (held("|O", [1]), {"_COMPOUND_DTYPE": [["a", "int8"]]}, '[[300],"|O",[1]]', "is none of int8"),
        (held("|O", [1, 2]), {"_SCALAR": True}, '["a","b","|O",[2]]', "a scalar of shape"),
        ({"shape": [4], "chunks": [4], "dtype": "<i2"}, {}, ["file", 0, 5], "has 5 bytes; it takes 8"),
        ({"shape": [4], "chunks": [4], "dtype": "<f16"}, {}, ["file", 0, 64], "no form"),
    ],
)
def test_one_odd_array_is_left_out_by_name(zarray, attributes, chunk, reason):
    refs = {
        "odd/.zarray": zarray,
        "odd/.zattrs": attributes,
        "odd/0": chunk,
        "good/.zgroup": {"zarr_format": 2},
    }
    rfs = lindi_to_rfs(small(**refs), describe_sources=False)
    (entry,) = rfs["skipped"]
    assert (entry["path"], entry["kind"]) == ("/odd", "dataset")
    assert reason in entry["reason"]
    assert "good" in open_rfs(rfs)


def test_a_directory_of_an_archive_s_content(tmp_path, document):
    folder = tmp_path / "x.lindi.d"
    folder.mkdir()
    shutil.copy(GOLDEN / "sample.h5", folder)
    (folder / "lindi.json").write_text(json.dumps(document))
    rfs = lindi_to_rfs(folder)
    assert str(folder / "sample.h5") in rfs["sources"]
    assert verify_rfs(rfs, folder / "sample.h5", mode="full").equal


def test_damaged_archives_and_other_files_are_named(tmp_path):
    (tmp_path / "x.tar").write_bytes(b"\0" * 4096)
    with pytest.raises(InvalidReferencesError, match="no index of a .lindi.tar"):
        lindi_to_rfs(tmp_path / "x.tar")
    data = (GOLDEN / "sample.lindi.tar").read_bytes()
    (tmp_path / "y.tar").write_bytes(data.replace(b'"n": "lindi.json"', b'"n": "lindi.jsox"'))
    with pytest.raises(InvalidReferencesError, match="without lindi.json"):
        lindi_to_rfs(tmp_path / "y.tar")
    with pytest.raises(InvalidReferencesError, match="HDF5 file"):
        lindi_to_rfs(GOLDEN / "sample.h5")


def test_a_signed_url_is_refused():
    url = "https://bucket.s3.amazonaws.com/x?X-Amz-Signature=00"
    refs = {"x/.zarray": {"shape": [4], "chunks": [4], "dtype": "<i2"}, "x/0": [url, 0, 8]}
    with pytest.raises(UsageError, match="URL with a signature"):
        lindi_to_rfs(small(**refs))
