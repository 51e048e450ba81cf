"""to_hdf5: a file written again, whole or not at all, and a report that names what is not as it was."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowzarr import RfsBuilder, generate_rfs, to_hdf5, write_rfs
from shadowzarr.errors import InvalidReferencesError, OutputError, ReadError, SourceError
from shadowzarr.testing import RangeServer

spec = importlib.util.spec_from_file_location("h5compare", Path(__file__).with_name("h5compare.py"))
h5compare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(h5compare)
spec = importlib.util.spec_from_file_location("root_conftest", Path(__file__).parents[1] / "conftest.py")
root_conftest = importlib.util.module_from_spec(spec)
spec.loader.exec_module(root_conftest)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.h5"
    with h5py.File(path, "w", userblock_size=512, track_order=True) as file:
        file.create_dataset(
            "z", data=np.arange(4000, dtype=">i2"), chunks=(500,), compression="gzip", shuffle=True
        )
        file["a/text"] = ["one", "zwei"]
        file["a/ref"] = np.array([file["z"].ref, h5py.Reference()], h5py.ref_dtype)
        file["second"] = file["z"]
        file["soft"] = h5py.SoftLink("/z")
        file.attrs["unit"] = np.bytes_("mV")
        file["list"] = np.array([np.array([1, 2], ">i4"), np.array([], ">i4")], h5py.vlen_dtype(">i4"))
        file.create_dataset("empty", dtype="f8", shape=(10**9, 1000), chunks=(1000, 1000), fillvalue=-1)
        file.create_dataset("empty_text", dtype=h5py.string_dtype(), shape=(0, 3))
        file["null"] = h5py.Empty("i4")
    with path.open("r+b") as file:
        file.write(b"a user block")
    return path


def test_a_file_comes_back(source, tmp_path):
    made = tmp_path / "made.h5"
    report = to_hdf5(generate_rfs(source), made)
    assert h5compare.compare(source, made) == []
    assert report.is_whole
    assert (report.chunks_copied, report.changed) == (8, [])
    assert made.read_bytes()[:512] == source.read_bytes()[:512]
    assert made.stat().st_size < 100_000


@pytest.mark.parametrize("name", ["refs.json", "refs"])
def test_through_a_document_on_disk(source, tmp_path, name):
    write_rfs(generate_rfs(source, chunk_index_threshold=3, contiguous_chunk_bytes=64), tmp_path / name)
    to_hdf5(tmp_path / name, tmp_path / "made.h5")
    assert h5compare.compare(source, tmp_path / "made.h5") == []


def test_from_a_server(source, tmp_path):
    with RangeServer(source.parent) as server:
        to_hdf5(generate_rfs(server.url(source.name)), tmp_path / "made.h5")
    assert h5compare.compare(source, tmp_path / "made.h5") == []


def test_h5diff_agrees(source, tmp_path):
    h5diff = root_conftest.system_program("h5diff")
    to_hdf5(generate_rfs(source), tmp_path / "made.h5")
    for name in ("/z", "/a/text", "/second"):
        done = subprocess.run([h5diff, source, tmp_path / "made.h5", name], capture_output=True, check=False)
        assert done.returncode == 0, done


def test_without_the_section_it_is_what_zarr_suggests(tmp_path):
    source, made = tmp_path / "s.h5", tmp_path / "made.h5"
    with h5py.File(source, "w") as file:
        file["x"] = np.arange(10, dtype=">f4")
        file["x"].attrs["name"] = "value"
        file["t"] = np.array([(1, "a")], [("n", "<i4"), ("s", h5py.string_dtype())])
    to_hdf5(generate_rfs(source, hdf5_section=False), made)
    assert h5compare.compare(source, made) == []


def test_a_file_that_exists_is_kept(source, tmp_path):
    made = tmp_path / "made.h5"
    made.write_bytes(b"precious")
    with pytest.raises(OutputError, match="exists"):
        to_hdf5(generate_rfs(source), made)
    with pytest.raises(OutputError, match="no HDF5 file"):
        to_hdf5(generate_rfs(source), made, overwrite=True)
    assert made.read_bytes() == b"precious"
    shutil.copy(source, made)
    to_hdf5(generate_rfs(source), made, overwrite=True)
    assert h5py.is_hdf5(made)


def test_the_source_is_never_replaced(source):
    before = source.read_bytes()
    with pytest.raises(OutputError, match="is the source of these references"):
        to_hdf5(generate_rfs(source), source, overwrite=True)
    assert source.read_bytes() == before


def test_no_directory(source, tmp_path):
    with pytest.raises(OutputError, match="no directory"):
        to_hdf5(generate_rfs(source), tmp_path / "nowhere" / "made.h5")


def test_a_source_that_changed_leaves_nothing_behind(source, tmp_path):
    rfs = generate_rfs(source)
    source.write_bytes(source.read_bytes() + b"more")
    with pytest.raises(SourceError):
        to_hdf5(rfs, tmp_path / "made.h5")
    assert sorted(tmp_path.iterdir()) == [source]


def test_a_source_that_is_gone_leaves_nothing_behind(source, tmp_path):
    rfs = generate_rfs(source)
    source.unlink()
    with pytest.raises((ReadError, SourceError)):
        to_hdf5(rfs, tmp_path / "made.h5")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_document_is_refused(tmp_path):
    with pytest.raises(InvalidReferencesError):
        to_hdf5({"version": 9}, tmp_path / "made.h5")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda section: section["objects"].setdefault("/second", {}).update(type={"class": "H5T_NOVELTY"}),
        lambda section: (
            section["objects"].setdefault("/second", {}).update(shape={"class": "H5S_SIMPLE", "dims": [7]})
        ),
        lambda section: section["objects"].setdefault("/second", {}).update(value="base64:!!"),
    ],
    ids=["an unknown type", "another shape", "no base64"],
)
def test_a_spoiled_section_costs_what_it_spoils(source, tmp_path, spoil):
    rfs = json.loads(json.dumps(generate_rfs(source)))
    spoil(rfs["hdf5"])
    report = to_hdf5(rfs, tmp_path / "made.h5")
    assert not report.is_whole
    with h5py.File(tmp_path / "made.h5") as file:
        assert "a" in file


def test_a_section_that_refers_to_nothing_is_refused(source, tmp_path):
    rfs = json.loads(json.dumps(generate_rfs(source)))
    rfs["hdf5"]["types"].clear()
    with pytest.raises(InvalidReferencesError, match="refers to number . of its 0 types"):
        to_hdf5(rfs, tmp_path / "made.h5")
    assert list(tmp_path.iterdir()) == [source]


def test_what_is_left_out_is_named(tmp_path):
    source = tmp_path / "s.h5"
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk((4,))
    properties.set_filter(30000, h5py.h5z.FLAG_OPTIONAL, (1,))  # registered to nobody
    with h5py.File(source, "w") as file:
        made = h5d.create(file.id, b"x", h5t.STD_I8LE, h5s.create_simple((4,)), dcpl=properties)
        made.write_direct_chunk((0,), b"abcd")
    report = to_hdf5(generate_rfs(source), tmp_path / "made.h5")
    assert [remark.path for remark in report.changed] == ["/x"]
    assert "/x" in [remark.path for remark in report.left_out]
    assert "left out: /x" in report.summary()
    assert json.loads(report.to_json())["left_out"][0]["path"] == "/x"


def test_what_is_not_described_is_in_the_report(source, tmp_path):
    rfs = json.loads(json.dumps(generate_rfs(source)))
    rfs["hdf5"]["notDescribed"] = [
        {"path": "/second", "what": "fill value", "reason": "because"},
        {"path": "/@gone", "what": "attribute", "reason": "because"},
        {"path": "/gone", "what": "object", "reason": "because"},
    ]
    report = to_hdf5(rfs, tmp_path / "made.h5")
    assert [remark.path for remark in report.changed] == ["/second"]
    assert [remark.path for remark in report.left_out] == ["/@gone", "/gone"]


def test_a_filter_that_would_change_values_again_is_not_used(tmp_path):
    source, made = tmp_path / "s.h5", tmp_path / "made.h5"
    with h5py.File(source, "w") as file:
        data = np.random.default_rng(3).normal(size=1000).astype("f4")
        file.create_dataset("x", data=data, chunks=(100,), scaleoffset=2)
        shown = file["x"][:]
    to_hdf5(generate_rfs(source), made)
    with h5py.File(made) as file:
        assert np.array_equal(file["x"][:], shown)


def test_a_virtual_dataset_is_written_with_its_values(tmp_path):
    with h5py.File(tmp_path / "part.h5", "w") as file:
        file["x"] = np.arange(5)
    source = tmp_path / "s.h5"
    with h5py.File(source, "w") as file:
        layout = h5py.VirtualLayout((5,), "i8")
        layout[:] = h5py.VirtualSource("part.h5", "x", (5,))
        file.create_virtual_dataset("v", layout)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    report = to_hdf5(generate_rfs(source), folder / "made.h5")
    with h5py.File(folder / "made.h5") as file:
        assert file["v"][:].tolist() == [0, 1, 2, 3, 4]
    assert "virtual" in report.changed[0].what


def test_links_of_a_group_that_tracks_the_order_of_its_attributes(tmp_path):
    """HDF5 2.0 loses them when the group is anonymous and leaves its cache."""
    source, made = tmp_path / "s.h5", tmp_path / "made.h5"
    with h5py.File(source, "w") as file:
        group = file.create_group("g", track_order=True)
        for number in range(9):
            group.create_group(f"m{number * 7 % 9}")
        for number in range(6000):
            file.create_group(f"other/{number}")
    to_hdf5(generate_rfs(source), made)
    with h5py.File(made) as file:
        assert list(file["g"]) == [f"m{number * 7 % 9}" for number in range(9)]
        assert list(file) == ["g", "other"]


NUMBERS = st.sampled_from(["<i1", ">u2", "<i4", ">i8", "<f2", ">f4", "<f8", "?", "S3", "V5", "<c8"])


@given(
    dtype=NUMBERS,
    shape=st.lists(st.integers(0, 7), max_size=3).map(tuple),
    chunked=st.booleans(),
    options=st.sampled_from([{}, {"compression": "gzip"}, {"shuffle": True, "fletcher32": True}]),
    seed=st.integers(0, 99),
)
@settings(max_examples=40)
def test_any_plain_dataset_comes_back(tmp_path_factory, dtype, shape, chunked, options, seed):
    folder = tmp_path_factory.mktemp("any")
    source, made = folder / "s.h5", folder / "made.h5"
    raw = np.random.default_rng(seed).integers(
        0, 2 if dtype == "?" else 200, (*shape, np.dtype(dtype).itemsize)
    )
    data = raw.astype("u1").view(dtype)[..., 0].reshape(shape)
    with h5py.File(source, "w") as file:
        if chunked and shape and 0 not in shape:
            chunks = tuple(max(1, extent // 2) for extent in shape)
            file.create_dataset("x", data=data, chunks=chunks, **options)
        else:
            file["x"] = data
        file["x"].attrs["same"] = data
    report = to_hdf5(generate_rfs(source), made)
    assert h5compare.compare(source, made) == [], report.summary()
    shutil.rmtree(folder)


def test_nothing_but_hdf5_is_replaced(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(500)
    rfs = generate_rfs(tmp_path / "a.h5")
    write_rfs(rfs, tmp_path / "refs.json")
    with pytest.raises(OutputError, match="no HDF5 file"):
        to_hdf5(tmp_path / "refs.json", tmp_path / "refs.json", overwrite=True)
    del rfs["sources"]
    with pytest.raises(OutputError, match="is the source"):
        to_hdf5(rfs, tmp_path / "a.h5", overwrite=True)
    assert json.loads((tmp_path / "refs.json").read_text())["version"] == 1


def claims(**changes):
    """References of one array that claim what cannot be."""
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("a", shape=[2**62], data_type="uint8", chunk_shape=[1])
    return {**builder.build(), "version": 2, **changes}


def rule(stop):
    return {
        "key": "a/c/{{i}}",
        "url": "raw",
        "offset": "0",
        "length": "1",
        "dimensions": {"i": {"stop": stop}},
    }


def test_rules_for_more_chunks_than_can_be_listed_are_refused(tmp_path):
    with pytest.raises(InvalidReferencesError, match="stands for 1,000,000,000,000,000,000 chunks"):
        to_hdf5(claims(gen=[rule(10**18)]), tmp_path / "out.h5")
    assert list(tmp_path.iterdir()) == []


def test_chunks_outside_of_the_array_are_not_written(tmp_path):
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("a", shape=[3], data_type="uint8", chunk_shape=[2])
    builder.add_inline_chunk("a", (1,), b"\x05\x06")
    rfs = builder.build()
    rfs["refs"] |= {"a/c/9": rfs["refs"]["a/c/1"], "a/c/1/1": rfs["refs"]["a/c/1"]}
    report = to_hdf5(rfs, tmp_path / "out.h5")
    assert report.left_out == []
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["a"][...].tolist() == [0, 0, 5]


def test_an_array_of_many_rows_without_chunks_takes_no_time(tmp_path):
    shape = {"shape": [2**50]}
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_group("a", {"_RAGGED": shape})
    builder.add_array("a/values", shape=[0], data_type="int32", chunk_shape=[1])
    builder.add_array("a/offsets", shape=[2**50 + 1], data_type="uint64", chunk_shape=[1])
    report = to_hdf5(builder.build(), tmp_path / "out.h5")
    assert report.datasets == 1


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"objects": []}, "hdf5: objects is of another form"),
        ({"objects": {"a": {}}}, r"hdf5: objects\['a'\] is of another form"),
        ({"objects": {"/a": {"attributes": 5}}}, r"objects\['/a'\]: attributes is of another form .*int"),
        ({"objects": {"/a": {"class": "link"}}}, "class"),
        ({"objects": {"/": {"links": {"x": 5}}}}, r"links\['x'\]"),
        ({"types": 5}, "hdf5: types"),
        ({"creations": [5]}, "hdf5: creations"),
        ({"orders": [5]}, r"hdf5: orders\[0\]"),
        ({"notDescribed": [{"path": "/a"}]}, r"hdf5: notDescribed\[0\]"),
        ({"file": {"userblock": {"size": 7, "bytes": "base64:"}}}, "cannot be written as an HDF5 file"),
        ({"objects": {"/a": {"type": 5}}}, "refers to number 5 of its 0 types"),
    ],
)
def test_a_section_of_another_form_is_refused_by_its_place(tmp_path, section, message):
    with pytest.raises(InvalidReferencesError, match=message):
        to_hdf5(claims(hdf5=section), tmp_path / "out.h5")
    assert list(tmp_path.iterdir()) == []


def test_a_source_whose_name_no_file_can_have(tmp_path):
    (tmp_path / "out.h5").touch()
    report = to_hdf5(claims(sources={"x" * 5000: {"size": 1}}), tmp_path / "out.h5", overwrite=True)
    assert report.datasets == 1


def test_chunks_that_are_too_large_for_hdf5_are_left_out_by_name(tmp_path):
    creation = {"layout": {"class": "H5D_CHUNKED", "dims": [2**63 - 1]}}
    section = {"creations": [creation], "usualCreations": {"dataset": 0}}
    report = to_hdf5(claims(hdf5=section), tmp_path / "out.h5")
    (remark,) = report.left_out
    assert remark.path == "/a"
    assert "chunks of 9,223,372,036,854,775,807 bytes; HDF5 has at most 4,294,967,295" in remark.what


@pytest.mark.parametrize("values", [None, [], [10], [-1], [1, 2], "4", [{}]])
def test_a_deflate_filter_that_would_fail_when_it_writes_is_left_off(tmp_path, values):
    filters = [{"class": "H5Z_FILTER_DEFLATE", "id": 1, "values": values, "flags": 0}]
    creation = {"layout": {"class": "H5D_CHUNKED", "dims": [2]}, "filters": filters}
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("a", shape=[2], data_type="uint8", chunk_shape=[2])
    builder.add_inline_chunk("a", (0,), b"\x05\x06")
    rfs = {**builder.build(), "hdf5": {"creations": [creation], "usualCreations": {"dataset": 0}}}
    report = to_hdf5(rfs, tmp_path / "out.h5")
    (remark,) = report.changed
    assert "deflate with the parameters" in remark.what
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["a"][...].tolist() == [5, 6]


def test_a_chunk_that_no_codec_understands_is_left_out_by_name(tmp_path):
    builder = RfsBuilder()
    builder.add_group("")
    zlib = {"name": "numcodecs.zlib", "configuration": {"level": 4}}
    endian = {"name": "bytes", "configuration": {"endian": "little"}}
    builder.add_array("a", shape=[2], data_type="int16", chunk_shape=[2], codecs=[endian, zlib])
    builder.add_inline_chunk("a", (0,), b"no zlib")
    report = to_hdf5(builder.build(), tmp_path / "out.h5")
    assert [remark.path for remark in report.left_out] == ["/a"]
    assert "cannot be decoded" in report.left_out[0].what
