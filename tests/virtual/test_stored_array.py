"""StoredArray: what an array is made of, what is refused, and what is known of its files."""

import json
from pathlib import Path

import numpy as np
import pytest

from shadowzarr import RfsBuilder, open_rfs, write_rfs
from shadowzarr.errors import SourceChangedError, UsageError
from shadowzarr.virtual import VirtualArray


def metadata(rfs):
    return json.loads(rfs["refs"]["a/zarr.json"])


@pytest.mark.parametrize("change", [b"xx", -200])
def test_a_file_that_was_replaced_is_noticed(tmp_path, change):
    path, out = tmp_path / "x.bin", tmp_path / "out"
    path.write_bytes(np.arange(200, dtype="<i2").tobytes())
    builder = RfsBuilder()
    VirtualArray.contiguous(str(path), shape=[100, 2], dtype="int16", chunk_shape=[10, 2]).add_to(
        builder, "a"
    )
    write_rfs(builder.build(), out)
    assert open_rfs(out)["a"][3].tolist() == [6, 7]
    stored = path.read_bytes()
    path.write_bytes(change + stored if isinstance(change, bytes) else stored[:change])
    with pytest.raises(SourceChangedError):
        open_rfs(out)["a"][3]


def test_files_that_are_elsewhere_or_not_there_yet_have_no_size(tmp_path):
    builder = RfsBuilder()
    for name, url in (("a", "https://host/x.bin"), ("b", str(tmp_path / "later.bin"))):
        VirtualArray.contiguous(url, shape=[4], dtype="int16").add_to(builder, name)
    assert "sources" not in builder.build()


@pytest.mark.parametrize("is_told_first", [True, False])
def test_what_the_builder_was_told_of_a_file_stays(tmp_path, is_told_first):
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(8))
    told = {"size": 6, "etag": '"e"', "linked": True}
    builder = RfsBuilder()
    if is_told_first:
        builder.add_source(str(path), 6, '"e"', linked=True)
    VirtualArray.contiguous(path, shape=[3], dtype="int16").add_to(builder, "a")
    if not is_told_first:
        builder.add_source(str(path), 6, '"e"', linked=True)
    assert builder.has_source(str(path))
    assert not builder.has_source("x.bin")
    assert builder.build()["sources"] == {str(path): told}


def test_slabs_are_those_of_a_contiguous_dataset():
    array = VirtualArray.contiguous("f", shape=[495_184_000, 160], dtype="int16")
    assert array.chunk_shape == (8_000, 160)
    assert VirtualArray.contiguous("f", shape=[1, 3_000_000, 2], dtype="<f8").chunk_shape == (1, 250_000, 2)
    assert VirtualArray.contiguous("f", shape=[3, 10**9], dtype="<f8").chunk_shape == (1, 10**9)
    # What lies between the rows counts: a slab is about 4 MiB of the file.
    assert VirtualArray.contiguous("f", shape=[10**6, 385], dtype="int16")[:, 384].chunk_shape == (5000,)


def test_slabs_that_would_read_past_the_file_are_cut_to_divide_the_array(tmp_path, read):
    """Columns, transposed: the last slab would be read up to rows that the file does not have."""
    values = np.random.default_rng(5).integers(-99, 99, (1031, 2048), dtype="<i2")
    values.tofile(tmp_path / "f")
    array = VirtualArray.contiguous(tmp_path / "f", shape=values.shape, dtype="<i2")
    assert array.chunk_shape == (1024, 2048)
    turned = array[:, ::1024].transpose()
    assert turned.chunk_shape == (2, 1)
    np.testing.assert_array_equal(read(turned[:, -20:]), values[-20:, ::1024].T)


def test_slabs_are_one_rule(built):
    array = VirtualArray.contiguous("/f", shape=[10**6, 385], dtype="int16")[1000:, :384]
    rfs = built(array)
    assert array.chunk_shape == (5400, 384)
    assert rfs["gen"] == [
        {
            "key": "a/c/{{i}}/0",
            "url": "{{u0}}",
            "offset": "{{770000 + i * 4158000}}",
            "length": str(5399 * 770 + 768),
            "dimensions": {"i": {"stop": 185}},
        }
    ]


class TestConstructors:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"shape": [-1, 2]}, "shape has -1"),
            ({"shape": 5}, "shape is '5'; expected whole numbers"),
            ({"shape": [1.5]}, "shape has '1.5'"),
            ({"offset": -1}, "offset has -1"),
            ({"offset": 2**63}, "offset has"),
            ({"shape": [2**62, 2]}, "are in no file"),
            ({"chunk_shape": [0, 1]}, "chunk_shape has 0"),
            ({"chunk_shape": [1]}, r"chunk_shape \(1,\) has 1 edges for the 2 axes"),
            ({"dtype": "object"}, "dtype object: Zarr has no data type"),
            ({"dtype": "S0"}, r"Zarr has no data type"),
            ({"dtype": "nonsense"}, "dtype 'nonsense' is no data type"),
            ({"dtype": "(2,)i4"}, "give its base and the array more axes"),
            ({"dtype": [("a", "<i2"), ("b", ">i2")]}, "parts of both byte orders"),
            ({"dtype": [("a", "<i2", 3)]}, "field 'a' is an array"),
            ({"dtype": np.dtype([("a", "u1"), ("b", "<i2")], align=True)}, "bytes between its fields"),
            ({"path": 5}, "'5' is no file"),
            ({"path": ""}, "'' is no file"),
            ({"path": b"f"}, "no file"),
        ],
        ids=str,
    )
    def test_what_cannot_be(self, options, message):
        given = {"path": "f", "shape": [4, 2], "dtype": "int16", **options}
        with pytest.raises(UsageError, match=message):
            VirtualArray.contiguous(given.pop("path"), **given)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"record_size": 11}, "record_size 11: a row has 8 bytes after 4 that are skipped"),
            ({"record_size": 0}, "record_size has 0"),
            ({"skip": -1}, "skip has -1"),
            ({"shape": []}, "no rows"),
        ],
    )
    def test_records_that_cannot_be(self, options, message):
        given = {"shape": [4, 2], "dtype": "int32", "record_size": 12, "skip": 4, **options}
        with pytest.raises(UsageError, match=message):
            VirtualArray.records("f", **given)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"chunk_shape": [2, 60]},
                "blocks follow one another along axis 1, so along axis 0 a chunk has all 3",
            ),
            ({"record_size": 300}, "record_size 300: a chunk has 360 bytes after 0"),
            ({"axis": 2}, "axis 2: there are 2 axes"),
            ({"chunk_shape": [3]}, "1 edges for the 2 axes"),
        ],
    )
    def test_blocks_that_cannot_be(self, options, message):
        given = {
            "shape": [3, 150],
            "chunk_shape": [3, 60],
            "dtype": "int16",
            "record_size": 400,
            "axis": 1,
            **options,
        }
        with pytest.raises(UsageError, match=message):
            VirtualArray.blocks("f", **given)

    @pytest.mark.parametrize(
        ("chunks", "message"),
        [
            (["f"], r"1 chunks; the chunk grid \(2, 1\) .* has 2"),
            ({(2, 0): "f"}, r"chunk \(2, 0\) lies outside of the chunk grid \(2, 1\)"),
            ({(0,): "f"}, "lies outside"),
            ({(0, 0): ("f", 0)}, r"expected a file, or \(file, offset, length\)"),
            ({(0, 0): 5}, "expected a file"),
            ({(0, 0): ("f", -1, 8)}, r"the offset of chunk \(0, 0\) has -1"),
            ({(0, 0): ("f", 0, 9)}, r"the length of chunk \(0, 0\) is 9; a whole chunk has 8 bytes"),
        ],
    )
    def test_chunks_that_cannot_be(self, chunks, message):
        with pytest.raises(UsageError, match=message):
            VirtualArray.from_chunks(chunks, shape=[3, 2], dtype="int16", chunk_shape=[2, 2])

    def test_a_chunk_that_is_too_short_is_named_when_the_document_is_built(self, built):
        array = VirtualArray.from_chunks(
            [("f", 0, 7), ("f", 8, 4)], shape=[3, 2], dtype="int16", chunk_shape=[2, 2]
        )
        with pytest.raises(UsageError, match=r"length: chunk \(0, 0\) of array 'a' has 7 bytes; it takes 8"):
            built(array)

    def test_local_paths_are_absolute_and_urls_stay(self, built):
        for given, written in [
            ("f", str(Path.cwd() / "f")),
            ("https://h/f?x=1", "https://h/f?x=1"),
            ("s3://b/f", "s3://b/f"),
        ]:
            assert built(VirtualArray.contiguous(given, shape=[2], dtype="u1"))["templates"] == {
                "u0": written
            }

    def test_attributes_come_along(self, raw, built):
        array = raw.array(attributes={"rate": 30_000, "gain": [1.0, float("nan")]})
        assert array[:5].transpose().attributes["rate"] == 30_000
        rfs = built(array.with_attributes({"rate": 25_000}), attributes={"unit": "V"})
        assert metadata(rfs)["attributes"] == {"rate": 25_000, "unit": "V"}
        array.attributes["rate"] = 0
        assert array.attributes["rate"] == 30_000


class TestFromChunks:
    def test_short_last_chunks_and_whole_files_read(self, tmp_path, read):
        values = np.arange(35, dtype="<i4").reshape(7, 5)
        (tmp_path / "one").write_bytes(b"head" + values[:3].tobytes())
        (tmp_path / "two").write_bytes(values[3:6].tobytes())
        (tmp_path / "three").write_bytes(values[6:].tobytes())
        chunks = [(tmp_path / "one", 4, 60), tmp_path / "two", (tmp_path / "three",)]
        array = VirtualArray.from_chunks(chunks, shape=[7, 5], dtype="<i4", chunk_shape=[3, 5])
        np.testing.assert_array_equal(read(array), values)
        np.testing.assert_array_equal(read(array[3:]), values[3:])
        np.testing.assert_array_equal(read(array[3:5]), values[3:5])

    def test_what_a_mapping_leaves_out_is_zero(self, tmp_path, read):
        (tmp_path / "f").write_bytes(bytes([7, 8]))
        chunks = {(2,): (tmp_path / "f", 0, 1)}
        array = VirtualArray.from_chunks(chunks, shape=[5], dtype="u1", chunk_shape=[2])
        assert read(array).tolist() == [0, 0, 0, 0, 7]

    def test_thousands_have_an_index(self, tmp_path, built, read):
        values = np.random.default_rng(1).integers(0, 256, (1500, 4), np.uint8)
        order = np.random.default_rng(2).permutation(1500)
        (tmp_path / "f").write_bytes(values[order].tobytes())
        places = {(int(row), 0): (tmp_path / "f", 4 * at, 4) for at, row in enumerate(order)}
        array = VirtualArray.from_chunks(places, shape=[1500, 4], dtype="u1", chunk_shape=[1, 4])
        assert set(built(array)["indexes"]) == {"a"}
        np.testing.assert_array_equal(read(array), values)
        picked = [1499, 3, 3, 0]
        np.testing.assert_array_equal(read(array[picked]), values[picked])
        np.testing.assert_array_equal(read(array[::-7]), values[::-7])


class TestBlocks:
    @pytest.mark.parametrize("is_whole", [True, False])
    def test_a_header_and_some_samples_over_and_over(self, tmp_path, read, is_whole):
        """The last record is cut after the last sample of the array, or not."""
        values = np.random.default_rng(3).integers(0, 2**16, (3, 50), dtype="<u2")
        data = b"file header"
        for begin in range(0, 50, 8):
            block = np.zeros((3, 8), "<u2")
            part = values[:, begin : begin + 8]
            block[:, : part.shape[1]] = part
            data += b"head" + block.tobytes() + b"tail"
        path = tmp_path / "f"
        path.write_bytes(data if is_whole else data[: -4 - 2 * 6])
        stored = VirtualArray.blocks(
            path, shape=[3, 50], chunk_shape=[3, 8], dtype="<u2", record_size=56, skip=4, offset=11, axis=1
        )
        np.testing.assert_array_equal(read(stored), values)
        signal = stored.transpose(1, 0)
        np.testing.assert_array_equal(read(signal), values.T)
        np.testing.assert_array_equal(read(signal[16:40]), values.T[16:40])

    def test_blocks_are_one_rule(self, built):
        array = VirtualArray.blocks(
            "/f",
            shape=[192, 6_000_000],
            chunk_shape=[192, 60],
            dtype="uint16",
            record_size=24372,
            offset=100,
            axis=1,
        )
        rfs = built(array.transpose(1, 0))
        assert rfs["gen"][0]["key"] == "a/c/{{i}}/0"
        assert rfs["gen"][0]["dimensions"] == {"i": {"stop": 100_000}}
        assert metadata(rfs)["codecs"][0] == {"name": "transpose", "configuration": {"order": [1, 0]}}


class TestRecords:
    def test_packets_with_headers(self, tmp_path, read, built):
        packets = np.zeros(50, [("header", "u1", 13), ("samples", "<i2", 6)])
        packets["samples"] = np.random.default_rng(4).integers(-99, 99, (50, 6))
        packets["header"] = 255
        (tmp_path / "f").write_bytes(b"start" + packets.tobytes())
        array = VirtualArray.records(
            tmp_path / "f", shape=[50, 6], dtype="<i2", record_size=25, skip=13, offset=5
        )
        np.testing.assert_array_equal(read(array), packets["samples"])
        np.testing.assert_array_equal(read(array[::4, [5, 1]]), packets["samples"][::4, [5, 1]])
        assert built(array)["selections"]["a"] == {"record_size": 25, "keep": [[0, 12]]}

    def test_records_without_gaps_are_in_one_piece(self, built):
        array = VirtualArray.records("/f", shape=[50, 6], dtype="<i2", record_size=12)
        assert "selections" not in built(array)
        assert built(array)["refs"]["a/c/0/0"] == ["{{u0}}", 0, 600]
