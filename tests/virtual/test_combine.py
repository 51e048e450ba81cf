"""stack and concatenate: what is joined, how it is written, and what is refused."""

import json

import numpy as np
import pytest

from shadowzarr.errors import NeedsDataError, UsageError
from shadowzarr.virtual import VirtualArray, concatenate, stack


def part(tmp_path, name, values, **options):
    path = tmp_path / name
    path.write_bytes(b"header" + values.tobytes())
    return VirtualArray.contiguous(
        path, **{"shape": values.shape, "dtype": values.dtype, "offset": 6, **options}
    )


@pytest.fixture
def channels(tmp_path):
    """Four files of one channel each, and what they hold."""
    values = np.random.default_rng(0).integers(-99, 99, (4, 500), dtype="<i2")
    return [part(tmp_path, f"{n}.bin", row) for n, row in enumerate(values)], values


class TestStack:
    @pytest.mark.parametrize("axis", [0, 1, -1])
    def test_one_file_per_channel(self, channels, read, axis):
        arrays, values = channels
        signal = stack(arrays, axis=axis)
        assert signal.shape == np.stack(list(values), axis=axis).shape
        np.testing.assert_array_equal(read(signal), np.stack(list(values), axis=axis))

    def test_what_the_parts_can_do_the_whole_can(self, channels, read):
        arrays, values = channels
        signal, expected = stack(arrays, axis=1), values.T
        for index in (
            np.s_[::-1, [2, 0]],
            np.s_[37:400:3, 1:],
            np.s_[5],
            np.s_[:, -1],
            np.s_[:, [3, 3, 0]],
            np.s_[:0],
        ):
            np.testing.assert_array_equal(read(signal[index]), expected[index])
        np.testing.assert_array_equal(read(signal.T[1:, 7:]), expected.T[1:, 7:])
        np.testing.assert_array_equal(read(stack([signal, signal[:, ::-1]])[1]), expected[:, ::-1])

    def test_columns_of_one_file_at_even_distances_are_one_rule(self, raw, built, read):
        stacked = stack([raw.array()[:, 2 * n] for n in range(5)], axis=0)
        rfs = built(stacked)
        assert rfs["selections"] == {"a": {"record_size": 20, "keep": [[0, 2]]}}
        (rule,) = rfs["gen"]
        assert (rule["key"], rule["offset"]) == ("a/c/{{i}}/0", "{{12 + i * 4}}")
        np.testing.assert_array_equal(read(stacked), raw.values[:, ::2].T)

    def test_large_files_are_a_rule_each(self, built):
        arrays = [VirtualArray.contiguous(f"/{n}", shape=[10**8], dtype="int16") for n in range(3)]
        rfs = built(stack(arrays, axis=1))
        assert [rule["key"] for rule in rfs["gen"]] == ["a/c/{{i}}/0", "a/c/{{i}}/1", "a/c/{{i}}/2"]
        assert len(rfs["refs"]) == 2

    def test_nothing_of_a_stack(self, channels, read):
        arrays, _ = channels
        assert read(stack(arrays)[:0]).shape == (0, 500)
        assert read(stack(arrays)[:0].T).shape == (500, 0)

    @pytest.mark.parametrize(
        ("others", "message"),
        [
            ({"shape": [9]}, r"stack: array 1 has shape \(9,\) and array 0 \(10,\)"),
            ({"dtype": ">i2"}, "array 1 has data type >i2 and array 0 int16"),
        ],
    )
    def test_what_differs(self, others, message):
        given = {"shape": [10], "dtype": "int16"}
        first = VirtualArray.contiguous("f", **given)
        other = VirtualArray.contiguous("g", **{**given, **others})
        with pytest.raises(UsageError, match=message):
            stack([first, other])

    def test_chunks_that_were_asked_for_are_those_of_all(self):
        given = {"shape": [10], "dtype": "int16"}
        free, three, two = (
            VirtualArray.contiguous("f", **given, chunk_shape=edge) for edge in (None, [3], [2])
        )
        assert stack([free, three]).chunk_shape == (1, 3)
        with pytest.raises(
            NeedsDataError, match=r"chunks of \(2,\) is joined with one with chunks of \(3,\)"
        ):
            stack([three, two])

    def test_what_is_stored_otherwise(self, raw):
        with pytest.raises(
            NeedsDataError,
            match="array 1 are stored otherwise .* 1 ranges of records of 20 bytes, and codecs bytes",
        ):
            stack([raw.array(shape=[600], offset=0), raw.array()[:, 0]])

    @pytest.mark.parametrize("arrays", [[], [5], "ab"])
    def test_no_arrays(self, arrays):
        with pytest.raises(UsageError, match="at least one|expected a VirtualArray"):
            stack(arrays)

    def test_no_such_axis(self, raw):
        with pytest.raises(UsageError, match="axis 3: there are 3 axes"):
            stack([raw.array()], axis=3)

    def test_attributes_that_all_have(self, raw):
        one = raw.array(attributes={"rate": 1, "name": "a", "gain": np.ones(3)})
        other = raw.array(attributes={"rate": 1, "name": "b", "gain": np.ones(3)})
        assert stack([one, other]).attributes == {"rate": 1}


class TestConcatenate:
    def test_recordings_one_after_another(self, tmp_path, read, built):
        values = np.random.default_rng(1).integers(-99, 99, (90, 6), dtype="<i2")
        arrays = [
            part(tmp_path, f"{n}", rows, chunk_shape=[10, 6])
            for n, rows in enumerate(np.split(values, [20, 60]))
        ]
        whole = concatenate([*arrays[:2], arrays[2][:25]])
        assert whole.shape == (85, 6)
        np.testing.assert_array_equal(read(whole), values[:85])
        rules = built(whole)["gen"]
        assert [rule["dimensions"]["i"] for rule in rules] == [
            {"stop": 2},
            {"start": 2, "stop": 6},
            {"start": 6, "stop": 9},
        ]
        for index in (np.s_[10:50], np.s_[:, [5, 0]], np.s_[62], np.s_[20:60], np.s_[70:80, 1:], np.s_[5:15]):
            np.testing.assert_array_equal(read(whole[index]), values[:85][index])

    def test_lists_and_steps_across_parts_with_one_row_per_chunk(self, tmp_path, read):
        values = np.random.default_rng(1).integers(-99, 99, (50, 3), dtype="<i2")
        arrays = [
            part(tmp_path, f"{n}", rows, chunk_shape=[1, 3])
            for n, rows in enumerate(np.split(values, [7, 20]))
        ]
        whole = concatenate(arrays)
        for index in (np.s_[::-1], np.s_[::-3, 1], [49, 0, 7, 6, 7], np.s_[5:25:4], np.s_[6:8], np.s_[:0]):
            np.testing.assert_array_equal(read(whole[index]), values[index])

    def test_a_common_divisor_is_found_where_chunks_are_not_asked_for(self, tmp_path, read):
        values = np.random.default_rng(2).integers(0, 99, (100, 3000), dtype="<i4")
        arrays = [part(tmp_path, f"{n}", rows) for n, rows in enumerate(np.split(values, [30, 75]))]
        whole = concatenate(arrays)
        assert whole.chunk_shape == (15, 3000)
        np.testing.assert_array_equal(read(whole), values)

    def test_without_one_that_is_useful_it_is_refused(self):
        arrays = [
            VirtualArray.contiguous("f", shape=[length, 385], dtype="int16")
            for length in (1_000_003, 2_000_000)
        ]
        with pytest.raises(
            NeedsDataError, match=r"1000003, 2000000 elements along axis 0.*1 elements, 770 bytes"
        ):
            concatenate(arrays)
        assert concatenate([arrays[0][:1_000_000], arrays[1]]).chunk_shape == (5000, 385)

    def test_where_chunks_do_not_line_up(self):
        given = {"dtype": "int16", "chunk_shape": [100, 4]}
        one, other = (VirtualArray.contiguous(name, shape=[250, 4], **given) for name in "fg")
        with pytest.raises(
            NeedsDataError,
            match="array 0 has 250 elements along axis 0.*100 in a chunk.*first 200 elements can be",
        ):
            concatenate([one, other])
        assert concatenate([one[:200], other]).shape == (450, 4)

    def test_of_whole_chunks(self, tmp_path, read):
        values = np.arange(24, dtype="u1").reshape(6, 4)
        (tmp_path / "f").write_bytes(values.tobytes())
        places = [(tmp_path / "f", 8 * n, 8) for n in range(3)]
        array = VirtualArray.from_chunks(places, shape=[6, 4], dtype="u1", chunk_shape=[2, 4])
        whole = concatenate([array[2:], array, array[:3]])
        expected = np.concatenate([values[2:], values, values[:3]])
        np.testing.assert_array_equal(read(whole), expected)
        np.testing.assert_array_equal(read(whole[2:8]), expected[2:8])
        np.testing.assert_array_equal(
            read(concatenate([array, array], axis=1)), np.concatenate([values, values], 1)
        )

    def test_empty_parts_add_nothing(self, raw, read):
        array = raw.array()
        np.testing.assert_array_equal(read(concatenate([array[:0], array, array[600:]])), raw.values)
        assert concatenate([array[:0], array[:0]]).shape == (0, 10)

    @pytest.mark.parametrize(
        ("others", "message"),
        [
            (
                {"shape": [10, 5]},
                r"array 1 has shape \(10, 5\) and array 0 \(10, 4\); they may differ along axis 0 only",
            ),
            ({"shape": [10]}, "may differ along axis 0 only"),
            ({"dtype": "u2"}, "array 1 has data type uint16"),
        ],
    )
    def test_what_differs(self, others, message):
        given = {"shape": [10, 4], "dtype": "int16"}
        arrays = [VirtualArray.contiguous("f", **given), VirtualArray.contiguous("g", **{**given, **others})]
        with pytest.raises(UsageError, match=message):
            concatenate(arrays)


def test_fill_values(built):
    taken = []
    for fill in (3, 4):
        rfs = built(VirtualArray.contiguous("/f", shape=[4], dtype="u1", chunk_shape=[2]))
        node = json.loads(rfs["refs"]["a/zarr.json"])
        rfs["refs"]["a/zarr.json"] = json.dumps({**node, "fill_value": fill})
        taken.append(VirtualArray.from_rfs(rfs, "a"))
    with pytest.raises(UsageError, match="array 1 has the fill value 4 and another array 3"):
        stack(taken)
    plain = VirtualArray.contiguous("/f", shape=[4], dtype="u1")
    rfs = built(stack([plain, taken[0]]))
    assert json.loads(rfs["refs"]["a/zarr.json"])["fill_value"] == 3


@pytest.mark.parametrize("offset", [0, 40])
def test_backwards_over_arrays_end_to_end_nothing_is_read_before_the_first(tmp_path, read, offset):
    """9, 7, 5 and 3, 1 in chunks of three: the last chunk would begin before the file, or in its header."""
    values = np.arange(5, dtype="u1")
    (tmp_path / "f").write_bytes(bytes([99]) * offset + values.tobytes())
    array = VirtualArray.contiguous(tmp_path / "f", shape=[5], dtype="u1", offset=offset)
    whole = concatenate([array, array])
    with pytest.raises(NeedsDataError, match=r"axis 0 has 2 elements in chunks of 3, .* negative step"):
        whole[::-2]
    np.testing.assert_array_equal(read(whole[::-1]), np.concatenate([values, values])[::-1])
