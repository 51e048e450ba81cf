import json
import math

import numpy as np
import pytest
from numcodecs import Zstd

from shadowzarr import RfsBuilder
from shadowzarr.errors import UsageError
from shadowzarr.refs.inline import decode_inline


def metadata(rfs, path):
    return json.loads(rfs["refs"][f"{path}/zarr.json" if path else "zarr.json"])


def raw_recording():
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("data", shape=[10_000, 16], data_type="int16", chunk_shape=[1000, 16])
    builder.add_strided_chunks(
        "data", ndim=2, url="raw.bin", start=12, stride=32_000, length=32_000, count=10
    )
    return builder


def test_the_example_of_the_documentation():
    rfs = raw_recording().build()
    assert (rfs["version"], rfs["requires"], rfs["templates"]) == (2, ["gen"], {"u0": "raw.bin"})
    assert rfs["gen"] == [
        {
            "key": "data/c/{{i}}/0",
            "url": "{{u0}}",
            "offset": "{{12 + i * 32000}}",
            "length": "32000",
            "dimensions": {"i": {"stop": 10}},
        }
    ]
    assert list(rfs["refs"]) == ["zarr.json", "data/zarr.json"]


def test_chunks_listed_one_by_one_make_version_1():
    builder = RfsBuilder()
    builder.add_array("a", shape=[3], data_type="uint8", chunk_shape=[2])
    builder.add_chunk("a", (0,), "https://h/x", 10, 2)
    builder.add_chunk("a", (1,), "whole.bin")
    builder.add_source("https://h/x", 99, '"e-1"')
    builder.add_source("whole.bin", 2)
    builder.add_source("unknown.bin", None)
    rfs = builder.build()
    assert rfs["version"] == 1
    assert "requires" not in rfs
    assert rfs["refs"]["a/c/0"] == ["{{u0}}", 10, 2]
    assert rfs["refs"]["a/c/1"] == ["{{u1}}"]
    assert rfs["sources"] == {"https://h/x": {"size": 99, "etag": '"e-1"'}, "whole.bin": {"size": 2}}


def test_groups_above_something_exist_by_themselves():
    builder = RfsBuilder()
    builder.add_array("a/b/c", shape=[], data_type="bool", chunk_shape=[])
    rfs = builder.build()
    assert [metadata(rfs, path)["node_type"] for path in ("", "a", "a/b", "a/b/c")] == ["group"] * 3 + [
        "array"
    ]


def test_attributes_can_come_after_the_group_was_made_for_a_child():
    builder = RfsBuilder()
    builder.add_array("g/x", shape=[], data_type="bool", chunk_shape=[])
    builder.add_group("g", {"unit": "V"})
    assert metadata(builder.build(), "g")["attributes"] == {"unit": "V"}


def test_attributes_are_encoded():
    builder = RfsBuilder()
    builder.add_group("", {"resolution": math.nan})
    attributes = metadata(builder.build(), "")["attributes"]
    assert attributes["resolution"] == "NaN"
    assert attributes["zarr_conventions"][0]["name"] == "non-finite-attributes"


@pytest.mark.parametrize(
    ("data_type", "zero"),
    [("float32", 0), ("bool", False), ("string", ""), ("complex64", [0, 0]), ("variable_length_bytes", "")],
)
def test_default_fill_values(data_type, zero):
    builder = RfsBuilder()
    builder.add_array("a", shape=[1], data_type=data_type, chunk_shape=[1])
    assert metadata(builder.build(), "a")["fill_value"] == zero


def test_small_inline_chunks_stay_as_they_are():
    builder = RfsBuilder()
    builder.add_array("a", shape=[4], data_type="uint8", chunk_shape=[4])
    builder.add_inline_chunk("a", (0,), b"abcd")
    rfs = builder.build()
    assert decode_inline(rfs["refs"]["a/c/0"]) == b"abcd"
    assert [codec["name"] for codec in metadata(rfs, "a")["codecs"]] == ["bytes"]


def test_large_inline_chunks_are_compressed_by_a_codec_of_the_array():
    builder = RfsBuilder()
    builder.add_array("a", shape=[2, 4096], data_type="uint8", chunk_shape=[1, 4096])
    builder.add_inline_chunk("a", (0, 0), b"x" * 4096)
    builder.add_inline_chunk("a", (1, 0), b"y" * 4096)
    rfs = builder.build()
    assert [codec["name"] for codec in metadata(rfs, "a")["codecs"]] == ["bytes", "zstd"]
    assert Zstd().decode(decode_inline(rfs["refs"]["a/c/1/0"])) == b"y" * 4096


@pytest.mark.parametrize("how", ["chunk", "index", "gen"])
def test_inline_chunks_beside_references_keep_the_codecs_of_the_file(how):
    builder = RfsBuilder()
    builder.add_array("a", shape=[2, 4096], data_type="uint8", chunk_shape=[1, 4096])
    if how == "chunk":
        builder.add_chunk("a", (0, 0), "f", 0, 4096)
    elif how == "index":
        builder.add_index("a", "f", np.zeros((2, 1, 2), np.uint64))
    else:
        builder.add_strided_chunks("a", ndim=2, url="f", start=0, stride=4096, length=4096, count=1)
    builder.add_inline_chunk("a", (1, 0), b"y" * 4096)
    rfs = builder.build()
    assert [codec["name"] for codec in metadata(rfs, "a")["codecs"]] == ["bytes"]
    assert decode_inline(rfs["refs"]["a/c/1/0"]) == b"y" * 4096


class TestContiguous:
    def build(self, shape, chunk_shape, **options):
        builder = RfsBuilder()
        builder.add_array("a", shape=shape, data_type="int16", chunk_shape=chunk_shape)
        builder.add_contiguous_chunks(
            "a", url="f", start=100, shape=shape, chunk_shape=chunk_shape, itemsize=2, **options
        )
        return builder.build()

    def test_one_slab_is_one_reference(self):
        assert self.build([5, 3], [5, 3])["refs"]["a/c/0/0"] == ["{{u0}}", 100, 30]

    def test_a_scalar(self):
        assert self.build([], [])["refs"]["a/c"] == ["{{u0}}", 100, 2]

    def test_several_slabs_are_one_rule_and_the_last_is_whole(self):
        (entry,) = self.build([5, 3], [2, 3])["gen"]
        assert (entry["offset"], entry["length"]) == ("{{100 + i * 12}}", "12")
        assert entry["dimensions"] == {"i": {"stop": 3}}

    def test_rows_with_bytes_between_them(self):
        (entry,) = self.build([5, 3], [2, 3], row_bytes=10)["gen"]
        assert (entry["offset"], entry["length"]) == ("{{100 + i * 20}}", "20")

    def test_nothing_to_refer_to(self):
        assert list(self.build([0, 3], [1, 3])["refs"]) == ["zarr.json", "a/zarr.json"]

    def test_later_axes_cannot_be_cut(self):
        with pytest.raises(UsageError, match="later axis"):
            self.build([4, 4], [2, 2])


class TestRefused:
    def test_chunks_of_an_array_that_is_not_there(self):
        with pytest.raises(UsageError, match="no array yet"):
            RfsBuilder().add_chunk("a", (0,), "f")

    def test_an_index_of_another_shape(self):
        builder = RfsBuilder()
        builder.add_array("a", shape=[4], data_type="uint8", chunk_shape=[2])
        with pytest.raises(UsageError, match=r"\(2, 2\)"):
            builder.add_index("a", "f", np.zeros((3, 2), np.uint64))

    def test_a_selection_of_compressed_bytes(self):
        builder = RfsBuilder()
        builder.add_array(
            "a",
            shape=[4],
            data_type="uint8",
            chunk_shape=[2],
            codecs=[{"name": "bytes", "configuration": {}}, {"name": "zstd", "configuration": {}}],
        )
        with pytest.raises(UsageError, match="plain bytes"):
            builder.add_selection("a", 4, [[0, 2]])

    def test_a_node_inside_an_array(self):
        builder = RfsBuilder()
        builder.add_array("a", shape=[], data_type="bool", chunk_shape=[])
        with pytest.raises(UsageError, match="inside the array 'a'"):
            builder.add_group("a/b")

    def test_a_group_and_an_array_of_one_name(self):
        builder = RfsBuilder()
        builder.add_group("a")
        with pytest.raises(UsageError, match="is a group already"):
            builder.add_array("a", shape=[], data_type="bool", chunk_shape=[])
        builder.add_array("b", shape=[], data_type="bool", chunk_shape=[])
        with pytest.raises(UsageError, match="is an array already"):
            builder.add_group("b")

    def test_a_fill_value_that_is_no_json(self):
        builder = RfsBuilder()
        builder.add_array("a", shape=[1], data_type="float32", chunk_shape=[1], fill_value=math.nan)
        with pytest.raises(UsageError, match="strict JSON"):
            builder.build()

    @pytest.mark.parametrize(
        ("shape", "chunk_shape", "message"),
        [([2], [0], "at least 1"), ([2, 2], [1], "length"), ([-1], [1], "negative")],
    )
    def test_shapes_that_zarr_does_not_know(self, shape, chunk_shape, message):
        with pytest.raises(ValueError, match=message):
            RfsBuilder().add_array("a", shape=shape, data_type="uint8", chunk_shape=chunk_shape)

    def test_types_without_a_zero(self):
        with pytest.raises(UsageError, match="give one"):
            RfsBuilder().add_array("a", shape=[1], data_type={"name": "raw_bytes"}, chunk_shape=[1])
