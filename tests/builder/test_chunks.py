"""Where chunks are: one by one, evenly spaced, in one piece, as a table or an index."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr import RfsBuilder
from shadowzarr.errors import UsageError
from shadowzarr.refs import gen

MISSING = 2**64 - 1
ADDERS = {
    "add_chunk": lambda builder: builder.add_chunk("b", (0,), "f"),
    "add_chunks": lambda builder: builder.add_chunks(
        "b", url="f", coordinates=[[0]], offsets=[0], nbytes=[1]
    ),
    "add_inline_chunk": lambda builder: builder.add_inline_chunk("b", (0,), b""),
    "add_index": lambda builder: builder.add_index("b", "f", np.zeros((1, 2), np.uint64)),
    "add_strided_chunks": lambda builder: builder.add_strided_chunks(
        "b", ndim=1, url="f", start=0, stride=1, length=1, count=1
    ),
    "add_contiguous_chunks": lambda builder: builder.add_contiguous_chunks(
        "b", url="f", start=0, shape=[1], chunk_shape=[1], itemsize=1
    ),
    "add_selection": lambda builder: builder.add_selection("b", 1, [[0, 1]]),
}


@pytest.mark.parametrize("method", ADDERS)
def test_chunks_of_an_array_that_is_not_there(method, with_array):
    with pytest.raises(UsageError, match="'b' is no array yet"):
        ADDERS[method](with_array())


class TestOne:
    @pytest.mark.parametrize(
        ("coordinates", "message"),
        [
            ((3, 0), r"coordinates \(3, 0\) lie outside of the chunk grid \(3, 1\) of array 'a'"),
            ((0, 1), "outside"),
            ((-1, 0), "negative"),
            ((0,), "one for each of its 2 axes"),
            ((0, 0, 0), "one for each of its 2 axes"),
            ((0.0, 0), "whole numbers"),
            (0, "whole numbers"),
        ],
    )
    def test_chunks_outside_the_grid(self, coordinates, message, with_array):
        with pytest.raises(UsageError, match=message):
            with_array().add_chunk("a", coordinates, "f", 0, 16)
        with pytest.raises(UsageError, match=message):
            with_array().add_inline_chunk("a", coordinates, bytes(16))

    @pytest.mark.parametrize(
        ("place", "message"),
        [
            (("f", -1, 16), "offset of array 'a' .*negative"),
            (("f", 0, -1), "length of array 'a' .*negative"),
            (("f", 0, 1.5), "length of array 'a' .*whole"),
            (("f", 2**63 - 8, 16), "ends at 9223372036854775816, which no file has"),
            (("f", 5), "has offset alone"),
            (("f", None, 5), "has length alone"),
            (("", 0, 16), "url of array 'a' is ''"),
            ((None, 0, 16), "url of array 'a' is None"),
        ],
    )
    def test_places_that_are_none(self, place, message, with_array):
        with pytest.raises(UsageError, match=message):
            with_array().add_chunk("a", (0, 0), *place)

    def test_a_chunk_is_added_once(self, with_array):
        builder = with_array()
        builder.add_chunk("a", (0, 0), "f", 0, 16)
        with pytest.raises(UsageError, match=r"chunk \(0, 0\) of array 'a' was added already"):
            builder.add_chunk("a", [0, 0], "g", 0, 16)

    def test_inline_values_are_bytes(self, with_array):
        with pytest.raises(UsageError, match="data of chunk .* is a str; expected bytes"):
            with_array().add_inline_chunk("a", (0, 0), "text")

    @pytest.mark.parametrize(
        ("coordinates", "length", "takes"),
        [
            ((0, 0), 15, "it takes 16"),
            ((0, 0), 17, "it takes 16"),
            ((2, 0), 7, "8 to 16"),
            ((2, 0), 17, "8 to 16"),
        ],
    )
    def test_lengths_that_plain_chunks_cannot_have(self, coordinates, length, takes, with_array):
        builder = with_array()
        builder.add_chunk("a", coordinates, "f", 0, length)
        with pytest.raises(UsageError, match=rf"length: chunk .* of array 'a' has {length} bytes; .*{takes}"):
            builder.build()
        builder = with_array()
        builder.add_inline_chunk("a", coordinates, bytes(length))
        with pytest.raises(UsageError, match=f"data: chunk .* of array 'a' has {length} bytes"):
            builder.build()

    def test_short_last_chunks_and_chunks_of_codecs_have_other_lengths(self, with_array):
        builder = with_array()
        builder.add_chunk("a", (2, 0), "f", 0, 8)
        builder.build()
        codecs = [
            {"name": "bytes", "configuration": {"endian": "big"}},
            {"name": "gzip", "configuration": {"level": 1}},
        ]
        builder = with_array(codecs=codecs)
        builder.add_chunk("a", (0, 0), "f", 0, 99)
        builder.add_inline_chunk("a", (1, 0), b"1")
        builder.build()


class TestContiguous:
    def build(self, shape, chunk_shape, **options):
        builder = RfsBuilder()
        builder.add_array("a", shape=shape, data_type="int16", chunk_shape=chunk_shape)
        builder.add_contiguous_chunks(
            "a",
            **{
                "url": "f",
                "start": 100,
                "shape": shape,
                "chunk_shape": chunk_shape,
                "itemsize": 2,
                **options,
            },
        )
        return builder

    def test_one_slab_is_one_reference(self):
        assert self.build([5, 3], [5, 3]).build()["refs"]["a/c/0/0"] == ["{{u0}}", 100, 30]

    def test_a_scalar(self):
        assert self.build([], []).build()["refs"]["a/c"] == ["{{u0}}", 100, 2]

    def test_several_slabs_are_one_rule_and_the_last_is_whole(self):
        (entry,) = self.build([5, 3], [2, 3]).build()["gen"]
        assert (entry["offset"], entry["length"]) == ("{{100 + i * 12}}", "12")
        assert entry["dimensions"] == {"i": {"stop": 3}}

    def test_rows_with_bytes_between_them(self):
        builder = self.build([5, 3], [2, 3], row_bytes=10)
        builder.add_selection("a", 10, [[0, 6]])
        (entry,) = builder.build()["gen"]
        assert (entry["offset"], entry["length"]) == ("{{100 + i * 20}}", "20")

    def test_rows_with_bytes_between_them_need_a_selection(self):
        with pytest.raises(
            UsageError, match=r"length: chunk \(0, 0\) of array 'a' has 20 bytes; it takes 12"
        ):
            self.build([5, 3], [2, 3], row_bytes=10).build()

    def test_nothing_to_refer_to(self):
        assert list(self.build([0, 3], [1, 3]).build()["refs"]) == ["zarr.json", "a/zarr.json"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"shape": [6, 3]}, r"shape \(6, 3\): array 'a' was added with \(5, 3\)"),
            ({"chunk_shape": [3, 3]}, r"chunk_shape \(3, 3\): array 'a' was added with \(2, 3\)"),
            ({"start": -1}, "start of array 'a' .*negative"),
            ({"itemsize": 0}, "itemsize of array 'a' .*at least 1"),
            ({"row_bytes": 0}, "row_bytes of array 'a' .*at least 1"),
            ({"start": 2**63 - 20}, "which no file has"),
        ],
    )
    def test_what_cannot_be(self, options, message):
        builder = RfsBuilder()
        builder.add_array("a", shape=[5, 3], data_type="int16", chunk_shape=[2, 3])
        given = {"url": "f", "start": 100, "shape": [5, 3], "chunk_shape": [2, 3], "itemsize": 2}
        with pytest.raises(UsageError, match=message):
            builder.add_contiguous_chunks("a", **{**given, **options})

    def test_later_axes_cannot_be_cut(self):
        with pytest.raises(UsageError, match="later axis"):
            self.build([4, 4], [2, 2])


class TestSpaced:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"count": 4}, r"count: chunks \(0, 0\) to \(3, 0\) leave the chunk grid \(3, 1\) of array 'a'"),
            ({"axis": 1, "count": 2}, "leave the chunk grid"),
            ({"axis": 2}, "axis 2: array 'a' has 2 axes"),
            ({"axis": -1}, "axis of array 'a' is .* must not be negative"),
            ({"axis": 1.0}, "axis of array 'a' is .* whole numbers"),
            ({"ndim": 1}, "ndim 1: array 'a' has 2 axes"),
            ({"start": -1}, "start of array 'a'"),
            ({"length": -1}, "length of array 'a'"),
            ({"count": -1}, "count of array 'a'"),
            ({"stride": -10, "start": 19}, "start and stride: chunks of array 'a' lie from -1 to 35"),
            ({"stride": 2**62}, "which no file has"),
            ({"stride": 1.5}, "stride of array 'a' .*whole"),
        ],
    )
    def test_runs_outside_the_grid_or_the_file(self, options, message, with_array):
        run = {"ndim": 2, "url": "f", "start": 0, "stride": 16, "length": 16, "count": 3, **options}
        with pytest.raises(UsageError, match=message):
            with_array().add_strided_chunks("a", **run)

    def test_lengths(self, with_array):
        builder = with_array()
        builder.add_strided_chunks("a", ndim=2, url="f", start=0, stride=16, length=8, count=3)
        with pytest.raises(UsageError, match=r"length: chunk \(0, 0\) of array 'a' has 8 bytes; it takes 16"):
            builder.build()

    def test_no_chunks(self, with_array):
        builder = with_array()
        builder.add_strided_chunks("a", ndim=2, url="f", start=0, stride=16, length=16, count=0)
        assert "gen" not in builder.build()

    @given(st.data())
    def test_the_rule_gives_the_places(self, data):
        grid = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
        first = [data.draw(st.integers(0, extent - 1)) for extent in grid]
        counts = [data.draw(st.integers(1, extent - at)) for extent, at in zip(grid, first, strict=True)]
        strides = [data.draw(st.integers(-9, 9)) for _ in grid]
        builder = RfsBuilder()
        builder.add_array("x", shape=grid, data_type="uint8", chunk_shape=[1] * len(grid))
        builder.add_spaced_chunks(
            "x", url="f", start=200, length=1, counts=counts, strides=strides, first=first
        )
        rfs = builder.build()
        found = {key: place.offset for key, place in gen.expand(rfs["gen"][0], rfs["templates"])}
        places = {}
        for step in np.ndindex(*counts):
            coordinates = [at + n for at, n in zip(first, step, strict=True)]
            key = "/".join(map(str, ["x", "c", *coordinates]))
            places[key] = 200 + sum(n * stride for n, stride in zip(step, strides, strict=True))
        assert found == places


class TestOverlaps:
    def test_rules_that_give_a_chunk_twice(self, with_array):
        builder = with_array()
        run = {"ndim": 2, "url": "f", "start": 0, "stride": 16, "length": 16}
        builder.add_strided_chunks("a", **run, count=3)
        builder.add_strided_chunks("a", **run, count=1)
        with pytest.raises(UsageError, match=r"count: chunks \(0, 0\) to .* of array 'a' .* in common"):
            builder.build()

    @given(st.data())
    def test_like_a_grid_that_is_marked(self, data):
        grid = (6, 5)
        builder, marked = RfsBuilder(), np.zeros(grid, int)
        builder.add_array("a", shape=grid, data_type="uint8", chunk_shape=[1, 1])
        for _ in range(data.draw(st.integers(0, 5))):
            first = [data.draw(st.integers(0, n - 1)) for n in grid]
            counts = [data.draw(st.integers(1, n - at)) for n, at in zip(grid, first, strict=True)]
            builder.add_spaced_chunks(
                "a", url="f", start=0, length=1, counts=counts, strides=[5, 1], first=first
            )
            marked[tuple(slice(at, at + n) for at, n in zip(first, counts, strict=True))] += 1
        if marked.max() > 1:
            with pytest.raises(UsageError, match="in common"):
                builder.build()
        else:
            builder.build()

    def test_an_array_without_axes(self):
        builder = RfsBuilder()
        builder.add_array("a", shape=[], data_type="uint8", chunk_shape=[])
        for _ in range(2):
            builder.add_spaced_chunks("a", url="f", start=0, length=1, counts=[], strides=[])
        with pytest.raises(UsageError, match="in common"):
            builder.build()

    def test_a_chunk_that_is_held_twice(self, with_array):
        builder = with_array()
        builder.add_inline_chunk("a", (0, 0), bytes(16))
        with pytest.raises(UsageError, match=r"chunk \(0, 0\) of array 'a' is held already"):
            builder.add_inline_chunk("a", (0, 0), bytes(16))


class TestTables:
    def table(self, count):
        return {
            "url": "f",
            "coordinates": np.stack([np.arange(count), np.zeros(count, int)], axis=1),
            "offsets": np.arange(count) * 16,
            "nbytes": np.full(count, 16),
        }

    def test_few_are_listed(self, with_array):
        builder = with_array()
        builder.add_chunks("a", **self.table(3))
        assert builder.build()["refs"]["a/c/2/0"] == ["{{u0}}", 32, 16]

    def test_many_have_an_index(self, with_array):
        builder = with_array(shape=[4004, 2])
        builder.add_chunks("a", **self.table(1001))
        rfs = builder.build()
        assert rfs["indexes"]["a"]["index"][[0, 1000], 0].tolist() == [[0, 16], [16000, 16]]
        assert list(rfs["refs"]) == ["zarr.json", "a/zarr.json"]

    def test_of_a_second_file_they_are_listed(self, with_array):
        builder, table = with_array(shape=[40, 2]), self.table(10)
        first = {**table, "coordinates": table["coordinates"][:5], "offsets": range(5), "nbytes": [16] * 5}
        second = {**first, "url": "g", "coordinates": table["coordinates"][5:]}
        builder.add_chunks("a", **first, chunk_index_threshold=3)
        builder.add_chunks("a", **second, chunk_index_threshold=3)
        rfs = builder.build()
        assert rfs["indexes"]["a"]["index"][:, 0, 1].tolist() == [16] * 5 + [MISSING] * 5
        assert rfs["refs"]["a/c/9/0"] == ["{{u0}}", 4, 16]

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"coordinates": [[0, 0], [1, 0], [3, 0]]}, r"coordinates \(3, 0\) lie outside"),
            ({"coordinates": [[0, 0], [1, 0], [-1, 0]]}, "coordinates of array 'a': .* not negative"),
            ({"coordinates": [[0, 0], [1, 0], [1, 2**64]]}, "coordinates of array 'a'"),
            ({"coordinates": [[0, 0], [1.5, 0], [2, 0]]}, "coordinates of array 'a': expected whole numbers"),
            ({"nbytes": [1.9, 16, 16]}, "nbytes of array 'a': expected whole numbers"),
            ({"nbytes": [-1, 16, 16]}, "nbytes of array 'a': .* not negative"),
            ({"nbytes": 16}, r"nbytes of array 'a' have shape \(\)"),
            ({"offsets": [[0], [1, 2], [3]]}, "offsets of array 'a': expected whole numbers"),
            ({"chunk_index_threshold": 1.5}, "chunk_index_threshold of array 'a'"),
            ({"coordinates": [[0], [1], [2]]}, r"shape \(3, 1\); expected \(chunks, 2\)"),
            ({"offsets": [0, 1]}, r"offsets of array 'a' have shape \(2,\); .* 3 coordinates"),
            ({"offsets": [0, 16, 2**63]}, "offsets of array 'a': .* below"),
            ({"offsets": [0, 16, 2**63 - 1]}, "no file has"),
        ],
    )
    def test_what_cannot_be(self, changes, message, with_array):
        with pytest.raises(UsageError, match=message):
            with_array().add_chunks("a", **{**self.table(3), **changes})


@pytest.mark.parametrize(("offset", "nbytes"), [(2**63, 1), (0, 2**64 - 1), (5, 2**64 - 1), (2**63 - 9, 10)])
def test_a_table_with_a_range_that_no_file_has(offset, nbytes):
    builder = RfsBuilder()
    builder.add_array("a", shape=(4,), data_type="string", chunk_shape=(2,), codecs=[{"name": "vlen-utf8"}])
    offsets, lengths = np.array([0, offset], np.uint64), np.array([1, nbytes], np.uint64)
    with pytest.raises(UsageError, match=r"which no file has|below 2\*\*63"):
        builder.add_chunks("a", url="/f", coordinates=[[0], [1]], offsets=offsets, nbytes=lengths)


class TestIndexes:
    @pytest.mark.parametrize(
        "index", [np.zeros((3, 2), np.uint64), np.zeros((3, 1, 2), np.int64), [[[0, 16]]] * 3]
    )
    def test_of_another_shape_or_type(self, index, with_array):
        with pytest.raises(UsageError, match=r"the index of 'a' has .* asks for \(3, 1, 2\) and uint64"):
            with_array().add_index("a", "f", index)

    def test_halves_of_entries(self, with_array):
        index = np.zeros((3, 1, 2), np.uint64)
        index[1, 0, 0] = MISSING
        with pytest.raises(UsageError, match=r"alone at \(1, 0\)"):
            with_array().add_index("a", "f", index)

    def test_an_array_has_one(self, with_array):
        builder, index = with_array(), np.full((3, 1, 2), 16, np.uint64)
        builder.add_index("a", "f", index)
        with pytest.raises(UsageError, match="a chunk index already"):
            builder.add_index("a", "g", index)


class TestSelections:
    def test_entry(self, with_array):
        builder = with_array()
        builder.add_selection("a", 7, [(5, 7), (0, 2)])
        builder.add_chunk("a", (0, 0), "f", 0, 28)
        builder.add_chunk("a", (2, 0), "f", 28, 14)
        assert builder.build()["selections"] == {"a": {"record_size": 7, "keep": [[5, 7], [0, 2]]}}

    def test_it_may_come_after_the_chunks(self, with_array):
        builder = with_array()
        builder.add_chunk("a", (0, 0), "f", 0, 28)
        builder.add_selection("a", 7, [(5, 7), (0, 2)])
        builder.build()

    @pytest.mark.parametrize(
        ("coordinates", "length", "takes"), [((0, 0), 21, "16"), ((0, 0), 35, "16"), ((2, 0), 7, "8 to 16")]
    )
    def test_chunks_hold_whole_records(self, coordinates, length, takes, with_array):
        builder = with_array()
        builder.add_selection("a", 7, [(5, 7), (0, 2)])
        builder.add_chunk("a", coordinates, "f", 0, length)
        with pytest.raises(
            UsageError, match=f"has {length} bytes and gives {length // 7 * 4}; it takes {takes}"
        ):
            builder.build()

    @pytest.mark.parametrize(
        ("record_size", "keep", "message"),
        [
            (7, [], "array 'a': a selection keeps"),
            (7, [[0, 8]], "array 'a': a selection keeps .* of records of 7 bytes"),
            (7, [[2, 2]], "array 'a'"),
            (7, [[3, 2]], "array 'a'"),
            (7, [[-1, 2]], "keep of array 'a' .*negative"),
            (0, [[0, 1]], "record_size of array 'a' .*at least 1"),
            (7, [[0, 3]], "keep: a record gives 3 bytes, and a chunk of array 'a' has 16"),
            (7, [[0, 1, 2]], "keep of array 'a'"),
            (7, 3, "keep of array 'a'"),
            (7, [0, 3], "keep of array 'a'"),
            (7.5, [[0, 2]], "record_size of array 'a'"),
        ],
    )
    def test_what_cannot_be(self, record_size, keep, message, with_array):
        with pytest.raises(UsageError, match=message):
            with_array().add_selection("a", record_size, keep)

    @pytest.mark.parametrize(
        "codecs",
        [
            [{"name": "bytes", "configuration": {}}, {"name": "zstd", "configuration": {}}],
            [
                {"name": "transpose", "configuration": {"order": [1, 0]}},
                {"name": "bytes", "configuration": {}},
            ],
        ],
    )
    def test_of_compressed_or_transposed_bytes(self, codecs, with_array):
        with pytest.raises(UsageError, match="'a' is compressed or transposed .*plain bytes"):
            with_array(codecs=codecs).add_selection("a", 4, [[0, 2]])

    def test_of_text(self, with_array):
        with pytest.raises(UsageError, match="variable length"):
            with_array(data_type="string").add_selection("a", 4, [[0, 2]])


def test_a_chunk_costs_the_same_whatever_is_there_already(with_array):
    """Generators add chunks by the thousand: no check looks at the others."""
    builder = with_array(shape=[4000, 2])

    def calls(number):
        counted = 0

        def count(frame, event, _):
            nonlocal counted
            counted += event == "call" and "shadowzarr" in frame.f_code.co_filename

        sys.setprofile(count)
        try:
            builder.add_chunk("a", (number, 0), "f", 0, 16)
        finally:
            sys.setprofile(None)
        return counted

    calls(0)  # works out the grid, once
    counts = [calls(number) for number in range(1, 1000)]
    assert min(counts[:100]) == min(counts[-100:])  # the least: what is collected meanwhile calls too
