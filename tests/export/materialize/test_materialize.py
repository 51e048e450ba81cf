"""What is written equals what the references give, in every layout, and the report says so."""

import json
import pickle

import h5py
import numpy as np
import pytest
import zarr
from materialized import chunk_files, differences

from shadowzarr import generate_rfs, materialize, open_rfs
from shadowzarr.errors import OutputError, UnsupportedError, UnsupportedNodesError, UsageError


def opened(folder):
    return zarr.open_group(folder, mode="r", use_consolidated=False)


@pytest.mark.parametrize("layout", [None, "default", "ephys", "imaging"])
def test_named_layouts(recording, tmp_path, layout):
    rfs = generate_rfs(recording)
    report = materialize(rfs, tmp_path / "out.zarr", layout=layout, verify=True)
    assert differences(rfs, opened(tmp_path / "out.zarr")) == []
    assert report.verified
    assert {array.path for array in report.arrays} == {"wave/data", "wave/times"}
    assert report.nbytes == 4000 * 24 * 2 + 4000 * 8
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.zarr", "recording.h5"]


@pytest.mark.parametrize(
    "chunks", [(100, 24), (4000, 1), (11, 24), (999, 5), (300, 7), (600, 14), (5000, 100)]
)
def test_any_cut(recording, tmp_path, chunks):
    rfs = generate_rfs(recording)
    layout = {"chunks": chunks}
    materialize(
        rfs, tmp_path / "out", layout=lambda path, _: layout if path == "wave/data" else {}, threads=3
    )
    root = opened(tmp_path / "out")
    assert differences(rfs, root) == []
    assert root["wave/data"].chunks == tuple(min(pair) for pair in zip(chunks, (4000, 24), strict=True))


def test_shards_and_codecs(recording, tmp_path):
    rfs = generate_rfs(recording)

    def layout(path, array):
        if path != "wave/data":
            return None
        codec = zarr.codecs.BloscCodec(cname="zstd", clevel=5, shuffle="shuffle")
        return {"chunks": (100, 8), "shards": (1000, 16), "compressors": codec}

    report = materialize(rfs, tmp_path / "out", layout=layout, verify=True)
    root = opened(tmp_path / "out")
    assert differences(rfs, root) == []
    assert root["wave/data"].shards == (1000, 16)
    assert root["wave/data"].compressors[0].to_dict()["name"] == "blosc"
    by_path = {array.path: array for array in report.arrays}
    assert by_path["wave/data"].shards == (1000, 16)
    assert (by_path["wave/data"].written, by_path["wave/data"].how) == (8, "rewritten")
    assert by_path["wave/times"].how == "copied"  # None: the chunks stay as they are
    assert root["wave/times"].chunks == open_rfs(rfs)["wave/times"].chunks


def test_stored_sizes_are_those_of_the_files(recording, tmp_path):
    report = materialize(generate_rfs(recording), tmp_path / "out")
    for array in report.arrays:
        folder = tmp_path / "out" / array.path
        sizes = [(folder / name).stat().st_size for name in chunk_files(tmp_path / "out", array.path)]
        assert (array.stored_nbytes, array.written) == (sum(sizes), len(sizes))
    assert json.loads(report.to_json())["arrays"][0]["path"] == "wave/data"
    assert "2 groups, 4 arrays" in report.summary()


def test_values_in_the_references_are_copied_as_they_are(recording, tmp_path):
    rfs = generate_rfs(recording)
    materialize(rfs, tmp_path / "out")
    for path in ("words", "scale"):
        assert json.loads((tmp_path / "out" / path / "zarr.json").read_text()) == json.loads(
            rfs["refs"][f"{path}/zarr.json"]
        )


def test_it_opens_without_the_library_and_the_sources(recording, tmp_path):
    rfs = generate_rfs(recording)
    values = open_rfs(rfs)["wave/data"][:]
    materialize(rfs, tmp_path / "out")
    recording.unlink()
    root = zarr.open_group(tmp_path / "out", mode="r")
    assert np.array_equal(root["wave/data"][:], values)
    assert root.metadata.consolidated_metadata is not None
    assert "shadowzarr." not in (tmp_path / "out" / "zarr.json").read_text()


def test_attributes_that_are_not_finite_stay_strings(recording, tmp_path):
    materialize(generate_rfs(recording), tmp_path / "out")
    node = json.loads(
        (tmp_path / "out" / "wave" / "data" / "zarr.json").read_text(), parse_constant=pytest.fail
    )
    assert node["attributes"]["resolution"] == "NaN"


def test_the_section_of_hdf5_travels(recording, tmp_path):
    rfs = generate_rfs(recording)
    materialize(rfs, tmp_path / "out")
    kept = json.loads((tmp_path / "out" / "zarr.json").read_text())["shadowzarr"]
    assert kept["hdf5"] == json.loads(json.dumps(rfs["hdf5"]))
    assert kept["must_understand"] is False


class TestFillValues:
    """A chunk of fill values need not be written; one that merely equals them must be."""

    def made(self, tmp_path, values, fill, **layout):
        path = tmp_path / "x.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=values, chunks=(200,), fillvalue=fill)
        rfs = generate_rfs(path)
        report = materialize(
            rfs, tmp_path / "out", layout=lambda *_: {"chunks": (400,), **layout}, verify=True
        )
        assert differences(rfs, opened(tmp_path / "out")) == []
        return report.arrays[0], chunk_files(tmp_path / "out", "x")

    def test_fill_values_are_not_written(self, tmp_path):
        array, files = self.made(tmp_path, np.repeat([0, 1, 0], 400).astype("f4"), 0)
        assert (files, array.empty, array.written) == (["c/1"], 2, 1)

    def test_negative_zero_is(self, tmp_path):
        values = np.zeros(1200, "f4")
        values[500] = -0.0
        assert self.made(tmp_path, values, 0)[1] == ["c/1"]

    def test_nan_with_a_payload_is(self, tmp_path):
        values = np.full(1200, np.nan, "f8")
        values.view("u8")[900] = 0x7FF8000000000123
        assert self.made(tmp_path, values, np.nan)[1] == ["c/2"]
        assert opened(tmp_path / "out")["x"][:].view("u8")[900] == 0x7FF8000000000123

    def test_in_shards_too(self, tmp_path):
        values = np.zeros(1200, "f4")
        values[500] = -0.0
        assert self.made(tmp_path, values, 0, shards=(1200,))[1] == ["c/0"]
        assert np.signbit(opened(tmp_path / "out")["x"][:]).tolist() == [n == 500 for n in range(1200)]


def test_arrays_of_all_shapes_and_types(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["scalar"] = np.float32(3)
        file.create_dataset("big scalar", data=b"x" * 5000)
        file.create_dataset("nothing", shape=(0, 5), dtype="i4", chunks=(10, 5), maxshape=(None, 5))
        file.create_dataset("unwritten", shape=(1000, 1000), dtype="f8", chunks=(100, 100), fillvalue=7.0)
        structs = np.zeros(3000, [("a", "<i4"), ("b", "<f8")])
        structs["a"], structs["b"] = np.arange(3000), np.linspace(0, 1, 3000)
        file.create_dataset("structs", data=structs, chunks=(700,), compression="gzip")
        file.create_dataset("lzf structs", data=structs, chunks=(700,), compression="lzf")
        file.create_dataset("fixed", data=np.array([b"ab", b"c"] * 2000), chunks=(1000,))
        file.create_dataset("big", data=np.arange(5000, dtype=">i8").reshape(50, 100), chunks=(20, 30))
        file.create_dataset("bool", data=np.arange(5000) % 3 == 0, chunks=(800,))
        file.create_dataset("complex", data=np.arange(3000) * 1j, chunks=(800,))
        file.create_dataset("lzf", data=np.arange(9000.0), chunks=(800,), compression="lzf")
        file.create_dataset("f16", data=np.arange(3000, dtype="f2"), chunks=(800,), fletcher32=True)
        file["texts"] = np.array([f"text {n}" for n in range(5000)], dtype=h5py.string_dtype())
    rfs = generate_rfs(path)
    report = materialize(rfs, tmp_path / "out", verify=True)
    assert differences(rfs, opened(tmp_path / "out")) == []
    how = {array.path: array.how for array in report.arrays}
    assert how["structs"] == "copied"
    assert how["lzf structs"] == "rewritten"  # nobody else has that codec
    assert how["lzf"] == "rewritten"
    assert "unwritten" not in how
    assert chunk_files(tmp_path / "out", "unwritten") == []


def test_a_few_chunks_of_a_huge_array(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        huge = file.create_dataset("huge", shape=(2**40, 2**20), dtype="i2", chunks=(100, 1000), fillvalue=-1)
        huge[250:260, 1990:2010] = 5
        huge[2**40 - 7 :, 77] = 6
    rfs = generate_rfs(path)
    layout = {"chunks": (64, 4096), "shards": (128, 8192)}
    report = materialize(rfs, tmp_path / "out", layout=lambda *_: layout, verify=True)
    found, wanted = opened(tmp_path / "out")["huge"], open_rfs(rfs)["huge"]
    for region in [np.s_[200:400, 1900:2100], np.s_[-300:, :300], np.s_[:10, :10]]:
        assert np.array_equal(found[region], wanted[region])
    assert 0 < report.arrays[0].written < 10


class TestChunksThatStayAsTheyAre:
    """Equal cut and codecs: bytes are copied."""

    def test_bytes_are_copied(self, tmp_path):
        path = tmp_path / "x.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=np.arange(5000, dtype="i4"), chunks=(1000,))
        rfs = generate_rfs(path)
        report = materialize(
            rfs, tmp_path / "out", layout=lambda *_: {"chunks": (1000,), "compressors": None}, verify=True
        )
        assert report.arrays[0].how == "copied"
        assert differences(rfs, opened(tmp_path / "out")) == []

    def test_gzip_stays_gzip_when_asked_for(self, recording, tmp_path):
        rfs = generate_rfs(recording)
        materialize(rfs, tmp_path / "out", layout=lambda *_: None)
        names = [
            codec["name"] for codec in opened(tmp_path / "out")["wave/data"].metadata.to_dict()["codecs"]
        ]
        assert names == ["bytes", "numcodecs.zlib"]
        assert differences(rfs, opened(tmp_path / "out")) == []


class TestWrongLayouts:
    """Nothing is written, and the message names the array."""

    @pytest.mark.parametrize(
        ("layout", "message"),
        [
            ("ephis", "there is no layout 'ephis'; expected default, ephys, imaging or a function"),
            (
                lambda *_: {"shape": (5,)},
                "the layout gives shape for array '/wave/data'; it may say chunk_key_encoding, chunks,",
            ),
            (lambda *_: {"chunks": (5, 5, 5)}, "the layout of array '/wave/data' is none for zarr"),
            (lambda *_: {"chunks": (10, 10), "shards": (15, 10)}, "the layout of array '/wave/data' is none"),
            (lambda *_: {"chunks": (0, 4)}, "the layout of array '/wave/data' is none for zarr"),
            (lambda *_: {"chunks": (-5, 4)}, "the layout of array '/wave/data' is none for zarr"),
            (lambda *_: {"chunks": (2.5, 4)}, "the layout of array '/wave/data' is none for zarr"),
            (lambda *_: 5, "the layout gives 5 for array '/wave/data'; expected a mapping"),
        ],
    )
    def test_refused(self, recording, tmp_path, layout, message):
        with pytest.raises(UsageError, match=message.replace("(", r"\(")):
            materialize(generate_rfs(recording), tmp_path / "out", layout=layout)
        assert [path.name for path in tmp_path.iterdir()] == ["recording.h5"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"verfy": True}, "materialize has no option 'verfy'"),
        ({"max_memory": "1G"}, "max_memory is '1G'; expected a number of bytes"),
        ({"threads": 1.5}, "threads is 1.5; expected 1 or more"),
    ],
)
def test_wrong_options(recording, tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        materialize(generate_rfs(recording), tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../up", "a\\b", "x" * 300, "zarr.json", "a/./b"])
def test_names_that_no_folder_has(tmp_path, name):
    group = json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}})
    rfs = {"version": 1, "refs": {"zarr.json": group, f"{name}/zarr.json": group}}
    with pytest.raises(UnsupportedError):
        materialize(rfs, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


class TestSeveralNodesThatAreRefused:
    """All are named in one error, and nothing is written."""

    def test_names(self, tmp_path):
        group = json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}})
        names = [f"a{number}/.." for number in range(15)] + ["b\\c", "fine"]
        rfs = {"version": 1, "refs": {f"{name}/zarr.json": group for name in names} | {"zarr.json": group}}
        with pytest.raises(UnsupportedNodesError, match=r"16 nodes .*'/a8/\.\.'; and 6 more$") as caught:
            materialize(rfs, tmp_path / "out")
        assert set(caught.value.nodes) == set(names) - {"fine"}
        assert "b\\\\c" in caught.value.nodes["b\\c"]
        assert pickle.loads(pickle.dumps(caught.value)).nodes == caught.value.nodes
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("layout", [{"chunks": (0, 0)}, {"chunks": (10,)}, {"shape": 5}])
    def test_layouts(self, tmp_path, layout):
        with h5py.File(tmp_path / "x.h5", "w") as file:
            for name in ("a", "b"):
                file.create_dataset(name, data=np.zeros((40, 50), "i4"), chunks=(10, 10))
        with pytest.raises(UnsupportedNodesError) as caught:
            materialize(generate_rfs(tmp_path / "x.h5"), tmp_path / "out", layout=lambda *_: layout)
        assert list(caught.value.nodes) == ["a", "b"]
        assert all(f"'/{path}'" in reason for path, reason in caught.value.nodes.items())

    def test_memory(self, tmp_path):
        with h5py.File(tmp_path / "x.h5", "w") as file:
            for name in ("a", "b", "c"):
                size = 10 if name == "c" else 2**20
                file.create_dataset(name, data=np.ones(size, "i4"), chunks=(size,), compression="gzip")
        with pytest.raises(UnsupportedNodesError, match="2 nodes .* array '/a'.* array '/b'"):
            materialize(generate_rfs(tmp_path / "x.h5"), tmp_path / "out", max_memory=2**20)
        assert not (tmp_path / "out.partial").exists()


def test_an_output_that_exists(recording, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match="out exists; remove it, or name another place"):
        materialize(generate_rfs(recording), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
