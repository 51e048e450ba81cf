"""Arrays of documents: every way in which a document says where chunks are, placed in another document."""

import json
import zlib

import h5py
import numpy as np
import pytest

from shadowzarr import RfsBuilder, generate_rfs, load_rfs, open_rfs, write_rfs
from shadowzarr.errors import NeedsDataError, UsageError
from shadowzarr.virtual import VirtualArray, concatenate, stack

ZLIB = [
    {"name": "bytes", "configuration": {"endian": "big"}},
    {"name": "numcodecs.zlib", "configuration": {"level": 1}},
]


@pytest.fixture
def values():
    return np.random.default_rng(0).integers(-99, 99, (30, 8)).astype(">i4")


def compressed(tmp_path, values, how, edges=(5, 4)):
    """A document of compressed chunks; the first is missing."""
    builder = RfsBuilder()
    builder.add_array(
        "g/a", shape=values.shape, data_type="int32", chunk_shape=edges, codecs=ZLIB, fill_value=7
    )
    path, begin = tmp_path / "chunks", 0
    grid = tuple(-(-extent // edge) for extent, edge in zip(values.shape, edges, strict=True))
    index = np.full((*grid, 2), 2**64 - 1, np.uint64)
    with path.open("wb") as file:
        for at in np.ndindex(*grid):
            if not any(at):
                continue
            part = values[tuple(slice(c * e, (c + 1) * e) for c, e in zip(at, edges, strict=True))]
            data = zlib.compress(part.tobytes())
            file.write(data)
            if how == "held" or (how == "mixed" and at[0] == 2):
                builder.add_inline_chunk("g/a", at, data)
            elif how == "listed" or (how == "mixed" and at[0] == 1):
                builder.add_chunk("g/a", at, str(path), begin, len(data))
            else:
                index[at] = begin, len(data)
            begin += len(data)
    if how in ("index", "mixed"):
        builder.add_index("g/a", str(path), index)
    builder.add_source(str(path), begin)
    builder.add_source("/unrelated", 1)
    expected = values.copy()
    expected[: edges[0], : edges[1]] = 7
    return builder.build(), expected


@pytest.mark.parametrize("how", ["listed", "index", "held", "mixed"])
class TestCompressed:
    def test_placed(self, tmp_path, values, how, read, built):
        rfs, expected = compressed(tmp_path, values, how)
        array = VirtualArray.from_rfs(rfs, "g/a")
        assert (array.shape, array.dtype, array.chunk_shape) == ((30, 8), np.dtype(">i4"), (5, 4))
        np.testing.assert_array_equal(read(array), expected)
        sources = built(array).get("sources", {})
        assert set(sources) == (set() if how == "held" else {str(tmp_path / "chunks")})

    def test_cut_and_turned(self, tmp_path, values, how, read):
        rfs, expected = compressed(tmp_path, values, how)
        array = VirtualArray.from_rfs(rfs, "g/a")
        np.testing.assert_array_equal(read(array[5:20, 4:]), expected[5:20, 4:])
        np.testing.assert_array_equal(read(array[10:].T), expected[10:].T)
        np.testing.assert_array_equal(
            read(stack([array, array], axis=1)), np.stack([expected, expected], axis=1)
        )
        np.testing.assert_array_equal(
            read(concatenate([array[20:], array])), np.concatenate([expected[20:], expected])
        )
        with pytest.raises(NeedsDataError, match="axis 0 has chunks of 5"):
            array[1:]

    def test_pages(self, tmp_path, values, how, read):
        rfs, expected = compressed(tmp_path, values, how, edges=(1, 8))
        array = VirtualArray.from_rfs(rfs, "g/a")
        for index in (np.s_[::-2], [3, 3, 29, 0], 17, np.s_[4:9], np.s_[-1:5:-3]):
            np.testing.assert_array_equal(read(array[index]), expected[index])


class TestRules:
    @pytest.fixture
    def slabs(self, raw, built):
        return built(raw.array(chunk_shape=[50, 10]))

    def test_an_array_in_one_piece_is_one_again(self, slabs, raw, read, built):
        array = VirtualArray.from_rfs(slabs, "a")
        assert built(array) == slabs
        np.testing.assert_array_equal(read(array[33:500:2, [7, 1]]), raw.values[33:500:2, [7, 1]])

    def test_so_is_one_of_columns(self, raw, built, read):
        array = VirtualArray.from_rfs(built(raw.array(chunk_shape=[50, 10])[:, [4, 1, 0, 9]]), "a")
        np.testing.assert_array_equal(read(array[7:200, ::-1]), raw.values[7:200, [9, 0, 1, 4]])

    def test_and_one_chunk(self, raw, built, read):
        array = VirtualArray.from_rfs(built(raw.array().T), "a")
        np.testing.assert_array_equal(read(array[2:5, 7:]), raw.values.T[2:5, 7:])

    def test_chunks_that_are_listed_win(self, slabs, raw, read):
        slabs["refs"]["a/c/2/0"] = list(slabs["refs"].get("a/c/2/0", ["{{u0}}", 12, 1000]))
        array = VirtualArray.from_rfs(slabs, "a")
        expected = raw.values.copy()
        expected[100:150] = raw.values[:50]
        np.testing.assert_array_equal(read(array), expected)
        np.testing.assert_array_equal(read(array[50:200]), expected[50:200])
        with pytest.raises(NeedsDataError, match="chunks of 50"):
            array[3:]

    def test_a_rule_of_some_chunks_stays_one(self, slabs, raw, read, built):
        slabs["gen"][0]["dimensions"]["i"] = {"start": 2, "stop": 9}
        expected = raw.values.copy()
        expected[:100], expected[450:] = 0, 0
        array = VirtualArray.from_rfs(slabs, "a")
        np.testing.assert_array_equal(read(array), expected)
        np.testing.assert_array_equal(read(array[50:400]), expected[50:400])
        assert len(built(array[50:400])["gen"]) == 1

    @pytest.mark.parametrize(
        "changes",
        [
            {"offset": "{{12 + (i // 2) * 2000 + i % 2 * 1000}}"},
            {"dimensions": {"i": {"start": 0, "stop": 12, "step": 2}}},
        ],
    )
    def test_other_rules_are_looked_up(self, slabs, changes, raw, read):
        slabs["gen"][0].update(changes)
        expected = open_rfs(slabs)["a"][...]
        array = VirtualArray.from_rfs(slabs, "a")
        np.testing.assert_array_equal(read(array), expected)
        np.testing.assert_array_equal(read(array[100:300]), expected[100:300])

    def test_a_rule_and_an_index(self, slabs, raw, read):
        slabs["gen"][0]["dimensions"]["i"] = {"stop": 4}
        index = np.full((12, 1, 2), 2**64 - 1, np.uint64)
        index[3:6, 0] = [[12, 1000]] * 3
        slabs["indexes"] = {"a": {"url": str(raw.path), "index": index}}
        expected = open_rfs(slabs)["a"][...]
        assert (expected[200:250] == raw.values[:50]).all()
        np.testing.assert_array_equal(read(VirtualArray.from_rfs(slabs, "a")), expected)

    def test_a_rule_that_is_too_short_is_not_made_longer(self, raw, built):
        rfs = built(raw.array(shape=[600, 10]))
        rfs["refs"]["a/c/0/0"][2] = 500
        with pytest.raises(UsageError, match="has 500 bytes; it takes 12000"):
            built(VirtualArray.from_rfs(rfs, "a"))

    def test_pages_of_a_rule(self, raw, built, read):
        rfs = built(raw.array(shape=[60, 10, 10], chunk_shape=[1, 10, 10]))
        del rfs["refs"]["a/zarr.json"]
        node = json.loads(
            built(raw.array(shape=[60, 10, 10], chunk_shape=[1, 10, 10]))["refs"]["a/zarr.json"]
        )
        rfs["refs"]["a/zarr.json"] = json.dumps(node)
        array = VirtualArray.from_rfs(rfs, "a")
        values = raw.values.reshape(60, 10, 10)
        np.testing.assert_array_equal(read(array[[5, 50, 5]]), values[[5, 50, 5]])


def test_a_generated_file(tmp_path, read):
    rng = np.random.default_rng(0)
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["plain"] = rng.integers(0, 99, (2000, 3))
        file.create_dataset("chunked", data=rng.random((1500, 2)), chunks=(1, 2), compression="gzip")
        file["text"] = np.array(["ä", "b" * 5000], dtype=h5py.string_dtype())
    rfs = generate_rfs(tmp_path / "f.h5")
    with h5py.File(tmp_path / "f.h5") as file:
        plain = VirtualArray.from_rfs(rfs, "plain")
        np.testing.assert_array_equal(read(plain[5:, 1:]), file["plain"][5:, 1:])
        chunked = VirtualArray.from_rfs(rfs, "chunked")
        np.testing.assert_array_equal(read(chunked[::-1]), file["chunked"][...][::-1])
        text = VirtualArray.from_rfs(rfs, "text")
        assert read(text).tolist() == file["text"].asstr()[...].tolist()
        assert read(stack([text, text])).tolist() == [file["text"].asstr()[...].tolist()] * 2


def test_an_index_on_disk_is_read_where_it_is_asked_for(tmp_path, values, read):
    rfs, expected = compressed(tmp_path, values, "index")
    write_rfs(rfs, tmp_path / "x")
    array = VirtualArray.from_rfs(load_rfs(tmp_path / "x"), "g/a")
    with pytest.raises(UsageError, match=r"the chunk index of array 'g/a' is in files.*read_indexes=True"):
        read(array)
    np.testing.assert_array_equal(
        read(VirtualArray.from_rfs(load_rfs(tmp_path / "x", read_indexes=True), "g/a")), expected
    )
    assert isinstance(load_rfs(rfs, read_indexes=True)["indexes"]["g/a"]["index"], np.ndarray)


class TestWhatBelongsToIt:
    def test_attributes_and_names(self, raw, built):
        attributes = {"rate": float("nan"), "raw": b"\xff", "unit": "V"}
        rfs = built(raw.array(), attributes=attributes, dimension_names=["time", None])
        array = VirtualArray.from_rfs(rfs, "a")
        assert array.attributes["raw"] == b"\xff"
        assert np.isnan(array.attributes["rate"])
        assert array.dimension_names == ("time", None)
        assert built(array) == rfs

    @pytest.mark.parametrize(
        ("path", "message"),
        [("b", "no array 'b'"), ("", "'' is a group"), ("a/c", "no array 'a/c'")],
    )
    def test_no_array(self, raw, built, path, message):
        with pytest.raises(UsageError, match=message):
            VirtualArray.from_rfs(built(raw.array()), path)

    def test_no_references(self):
        with pytest.raises(UsageError, match="found a dict without them"):
            VirtualArray.from_rfs({}, "a")

    def test_an_irregular_grid(self, raw, built):
        rfs = built(raw.array())
        node = json.loads(rfs["refs"]["a/zarr.json"])
        node["chunk_grid"] = {"name": "rectilinear", "configuration": {"chunk_shapes": [[600], [10]]}}
        rfs["refs"]["a/zarr.json"] = json.dumps(node)
        with pytest.raises(UsageError, match="rectilinear chunk grid"):
            VirtualArray.from_rfs(rfs, "a")


class TestCodecsThatSeeTheShape:
    @pytest.fixture
    def array(self, raw, built):
        rfs = built(raw.array(shape=[60, 10, 10], chunk_shape=[1, 10, 10]))
        node = json.loads(rfs["refs"]["a/zarr.json"])
        node["codecs"] = [{"name": "imagecodecs_delta", "configuration": {"axis": -1}}, *node["codecs"]]
        rfs["refs"]["a/zarr.json"] = json.dumps(node)
        return VirtualArray.from_rfs(rfs, "a")

    def test_axes_are_not_added_or_dropped(self, array):
        with pytest.raises(NeedsDataError, match="codec 'imagecodecs_delta' sees the shape.*0:1 keeps"):
            array[0]
        with pytest.raises(NeedsDataError, match="codec 'imagecodecs_delta' cannot be stacked"):
            stack([array, array])

    def test_pages_are_taken_and_turned(self, array, built):
        node = json.loads(built(array[::-1].transpose(1, 0, 2))["refs"]["a/zarr.json"])
        assert [codec["name"] for codec in node["codecs"]] == ["transpose", "imagecodecs_delta", "bytes"]
        assert node["codecs"][0]["configuration"] == {"order": [1, 0, 2]}
