"""What the document looks like: versions, templates, groups, attributes, inline chunks."""

import math

import numpy as np
import pytest
from numcodecs import Zstd

from shadowzarr import RfsBuilder, open_rfs
from shadowzarr.errors import UsageError
from shadowzarr.refs.inline import decode_inline

ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
PLAIN = {"name": "bytes", "configuration": {"endian": "little"}}


def test_the_example_of_the_documentation():
    builder = RfsBuilder()
    builder.add_group("")
    builder.add_array("data", shape=[10_000, 16], data_type="int16", chunk_shape=[1000, 16])
    builder.add_strided_chunks(
        "data", ndim=2, url="raw.bin", start=12, stride=32_000, length=32_000, count=10
    )
    rfs = builder.build()
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


def test_groups_above_something_exist_by_themselves(metadata):
    builder = RfsBuilder()
    builder.add_array("a/b/c", shape=[], data_type="bool", chunk_shape=[])
    rfs = builder.build()
    assert [metadata(rfs, path)["node_type"] for path in ("", "a", "a/b", "a/b/c")] == ["group"] * 3 + [
        "array"
    ]


def test_attributes_can_come_after_the_group_was_made_for_a_child(metadata):
    builder = RfsBuilder()
    builder.add_array("g/x", shape=[], data_type="bool", chunk_shape=[])
    builder.add_group("g", {"unit": "V"})
    builder.set_attributes("g/x", {"unit": "A"})
    rfs = builder.build()
    assert metadata(rfs, "g")["attributes"] == {"unit": "V"}
    assert metadata(rfs, "g/x")["attributes"] == {"unit": "A"}


def test_attributes_are_encoded(metadata):
    builder = RfsBuilder()
    builder.add_group("", {"resolution": math.nan})
    attributes = metadata(builder.build(), "")["attributes"]
    assert attributes["resolution"] == "NaN"
    assert attributes["zarr_conventions"][0]["name"] == "non-finite-attributes"


def test_attributes_that_are_no_json_are_named(with_array):
    with pytest.raises(UsageError, match="'a': its metadata is no strict JSON: attribute 'x'"):
        with_array(attributes={"x": object()}).build()


def test_small_inline_chunks_stay_as_they_are(metadata):
    builder = RfsBuilder()
    builder.add_array("a", shape=[4], data_type="uint8", chunk_shape=[4])
    builder.add_inline_chunk("a", (0,), b"abcd")
    rfs = builder.build()
    assert decode_inline(rfs["refs"]["a/c/0"]) == b"abcd"
    assert [codec["name"] for codec in metadata(rfs)["codecs"]] == ["bytes"]


def large_inline(codecs=None):
    builder = RfsBuilder()
    builder.add_array("a", shape=[2, 4096], data_type="uint8", chunk_shape=[1, 4096], codecs=codecs)
    builder.add_inline_chunk("a", (1, 0), b"y" * 4096 if codecs is None else Zstd().encode(b"y" * 5000))
    return builder


def test_large_inline_chunks_are_compressed_by_a_codec_of_the_array(metadata):
    builder = large_inline()
    builder.add_inline_chunk("a", (0, 0), b"x" * 4096)
    rfs = builder.build()
    assert [codec["name"] for codec in metadata(rfs)["codecs"]] == ["bytes", "zstd"]
    assert Zstd().decode(decode_inline(rfs["refs"]["a/c/1/0"])) == b"y" * 4096


def test_chunks_that_were_compressed_so_already_are_not_compressed_again(metadata):
    values = np.random.default_rng(0).integers(0, 256, 8000, np.uint8)
    builder = RfsBuilder()
    builder.add_array("a", shape=[8000], data_type="uint8", chunk_shape=[8000], codecs=[PLAIN, ZSTD])
    builder.add_inline_chunk("a", (0,), Zstd().encode(values))
    rfs = builder.build()
    assert [codec["name"] for codec in metadata(rfs)["codecs"]] == ["bytes", "zstd"]
    np.testing.assert_array_equal(open_rfs(rfs)["a"][:], values)


@pytest.mark.parametrize("how", ["chunk", "index", "gen"])
def test_inline_chunks_beside_references_keep_the_codecs_of_the_file(how, metadata):
    builder = large_inline()
    if how == "chunk":
        builder.add_chunk("a", (0, 0), "f", 0, 4096)
    elif how == "index":
        builder.add_index("a", "f", np.array([[[0, 4096]], [[0, 4096]]], np.uint64))
    else:
        builder.add_strided_chunks("a", ndim=2, url="f", start=0, stride=4096, length=4096, count=1)
    rfs = builder.build()
    assert [codec["name"] for codec in metadata(rfs)["codecs"]] == ["bytes"]
    assert decode_inline(rfs["refs"]["a/c/1/0"]) == b"y" * 4096


def test_what_is_deferred_is_added_once_when_the_document_is_built(with_array):
    builder, calls = with_array(), []

    def add(to):
        calls.append(to)
        to.add_chunk("a", (0, 0), "f", 0, 16)

    builder.defer(add)
    assert calls == []
    assert builder.build()["refs"]["a/c/0/0"] == ["{{u0}}", 0, 16]
    assert builder.build()["refs"]["a/c/0/0"] == ["{{u0}}", 0, 16]
    assert calls == [builder]
