"""VirtualArray: how it is cut and turned, and what is refused, with what would work."""

import json
import pickle

import numpy as np
import pytest

from shadowzarr import RfsBuilder, open_rfs
from shadowzarr.errors import NeedsDataError, OutOfRangeError, UsageError
from shadowzarr.virtual import VirtualArray, stack


def metadata(rfs):
    return json.loads(rfs["refs"]["a/zarr.json"])


def test_the_example_of_the_documentation(raw, built, read):
    neural, sync = raw.array()[:, :9], raw.array()[:, 9]
    rfs = built(neural, dimension_names=["time", "channel"])
    assert rfs["selections"] == {"a": {"record_size": 20, "keep": [[0, 18]]}}
    assert metadata(rfs)["dimension_names"] == ["time", "channel"]
    assert [codec["name"] for codec in metadata(rfs)["codecs"]] == ["bytes"]
    np.testing.assert_array_equal(read(neural), raw.values[:, :9])
    np.testing.assert_array_equal(read(sync), raw.values[:, 9])
    np.testing.assert_array_equal(read(neural[:60]), raw.values[:60, :9])


def test_what_it_is(raw):
    array = raw.array(dtype=">i2")[:, 2:]
    assert (array.shape, array.dtype, array.ndim, array.size, array.nbytes, len(array)) == (
        (600, 8),
        np.dtype(">i2"),
        2,
        4800,
        9600,
        600,
    )
    assert repr(array) == "<VirtualArray shape=(600, 8) dtype=>i2 chunk_shape=(600, 8)>"
    with pytest.raises(TypeError, match="no length"):
        len(array[0, 0])


def test_it_holds_no_data(raw):
    with pytest.raises(NeedsDataError, match="open_rfs"):
        np.asarray(raw.array())


class TestIndexing:
    @pytest.mark.parametrize(
        "index",
        [
            np.s_[5],
            np.s_[-1, -1],
            np.s_[10:20],
            np.s_[10:20:3],
            np.s_[::-1],
            np.s_[::-3, 2],
            np.s_[:, ::-1],
            np.s_[:, 1::3],
            np.s_[:, [9, 0, 0, 4]],
            np.s_[[599, 0, 300]],
            np.s_[5:5],
            np.s_[:, []],
            np.s_[..., 3],
            np.s_[:, np.arange(10) % 3 == 0],
            (),
        ],
        ids=str,
    )
    def test_arrays_in_one_piece_are_cut_anywhere(self, raw, read, index):
        np.testing.assert_array_equal(read(raw.array()[index]), raw.values[index])

    def test_chains(self, raw, read):
        found = raw.array()[:, ::-1][:, [0, 2, 4, 6]][100:, 1:][::-2][:, -1]
        np.testing.assert_array_equal(
            read(found), raw.values[:, ::-1][:, [0, 2, 4, 6]][100:, 1:][::-2][:, -1]
        )

    def test_columns_of_a_movie_are_rows_of_bytes(self, built):
        movie = VirtualArray.contiguous("/f", shape=[1000, 512, 512], dtype="<u2")
        assert built(movie[:, 10:500, :])["selections"]["a"] == {
            "record_size": 512 * 1024,
            "keep": [[0, 490 * 1024]],
        }
        assert built(movie[:, :, 10:20])["selections"]["a"] == {"record_size": 1024, "keep": [[0, 20]]}

    def test_a_longer_piece_of_every_record_needs_no_selection(self, built):
        array = VirtualArray.contiguous("/f", shape=[1000, 64, 64], dtype="<u2", chunk_shape=[1, 64, 64])
        rfs = built(array[:, 10:50])
        assert "selections" not in rfs
        assert rfs["gen"][0]["offset"] == "{{1280 + i * 8192}}"

    def test_chunks_of_several_axes_are_one_rule(self, raw, built, read):
        array = raw.array(shape=[10, 60, 10], chunk_shape=[1, 20, 10])
        (rule,) = built(array)["gen"]
        assert rule["offset"] == "{{12 + i * 1200 + j * 400}}"
        assert rule["dimensions"] == {"i": {"stop": 10}, "j": {"stop": 3}}
        np.testing.assert_array_equal(read(array), raw.values.reshape(10, 60, 10))
        np.testing.assert_array_equal(read(array[::-1, 3:, 2]), raw.values.reshape(10, 60, 10)[::-1, 3:, 2])

    def test_chunks_that_hang_over_among_columns_read_to_the_last_byte(self, raw, read):
        """The last columns of the last row end the file; what a chunk has after them is not read."""
        array = raw.array(chunk_shape=[50, 4])
        np.testing.assert_array_equal(read(array), raw.values)
        np.testing.assert_array_equal(read(array[37:, 1:]), raw.values[37:, 1:])

    def test_iterating_ends(self, raw):
        assert len(list(raw.array()[:3])) == 3

    def test_out_of_range(self, raw):
        with pytest.raises(OutOfRangeError, match="axis 1 with size 10"):
            raw.array()[0, 10]


class TestRefused:
    """By whole chunks: the axis, the rule, and what would work."""

    @pytest.fixture
    def chunked(self):
        places = [("f", 40 * n, 40) for n in range(6)]
        return VirtualArray.from_chunks(places, shape=[3, 8, 10], dtype="i1", chunk_shape=[1, 4, 10])

    @pytest.mark.parametrize(
        ("index", "message"),
        [
            (
                np.s_[:, 3:],
                r"axis 1 has chunks of 4 elements .*the slice 3:8 begins inside one.*It may begin at 0 or 4",
            ),
            (np.s_[:, 5:], r"begins inside one.*It may begin at 4$"),
            (
                np.s_[:, ::2],
                "axis 1 .*a list or a step takes elements out of chunks.*begin at a multiple of 4",
            ),
            (np.s_[:, ::-1], "axis 1 .*a list or a step"),
            (np.s_[:, [0, 2]], "axis 1 .*a list or a step"),
            (np.s_[:, 0], "axis 1 has chunks of 4 elements: an integer takes one out of a chunk"),
            (np.s_[0, :, 2:], "axis 2 has chunks of 10 elements .*It may begin at 0$"),
            (np.s_[0, 0, 0], "axis 2 has chunks of 10"),
        ],
        ids=str,
    )
    def test_of_whole_chunks(self, chunked, index, message):
        with pytest.raises(NeedsDataError, match=message):
            chunked[index]

    def test_what_works_of_whole_chunks(self, chunked):
        assert chunked[::-2, 4:, :9].shape == (2, 4, 9)
        assert chunked[[2, 2, 0]].shape == (3, 8, 10)
        assert chunked[1].shape == (8, 10)
        assert chunked[:, :6].shape == (3, 6, 10)
        assert chunked[:, [4, 5, 6, 7]].shape == (3, 4, 10)

    @pytest.mark.parametrize("index", [np.s_[::-1], [7, 3] * 60])
    def test_lists_and_negative_steps_along_slabs_that_were_asked_for(self, raw, index):
        with pytest.raises(
            NeedsDataError, match="axis 0 is cut into chunks of 100: a list or a negative step"
        ):
            raw.array(chunk_shape=[100, 10])[index]

    def test_what_works_along_slabs_that_were_asked_for(self, raw, read):
        array = raw.array(chunk_shape=[100, 10])
        for index in (np.s_[33:444:3], np.s_[80:50:-1], [7, 3], np.s_[33:70]):
            np.testing.assert_array_equal(read(array[index]), raw.values[index])
        rows = raw.array(chunk_shape=[1, 10])
        np.testing.assert_array_equal(read(rows[[7, 3] * 60]), raw.values[[7, 3] * 60])
        np.testing.assert_array_equal(read(rows[::-1]), raw.values[::-1])

    def test_chunks_whose_elements_follow_no_rule(self, raw):
        with pytest.raises(NeedsDataError, match=r"chunk of shape \(7, 60000\).*at most 16,384 are named"):
            raw.array(shape=[60_000, 10])[:, [0, 2, 3, 5, 6, 8, 9]].transpose(1, 0)

    def test_a_selection_that_cuts_elements_is_not_turned(self, built):
        """Such a one comes from elsewhere: here each element is two bytes of which something lies between."""
        rfs = built(VirtualArray.contiguous("/f", shape=[4, 3], dtype="<i2"))
        rfs["selections"] = {"a": {"record_size": 9, "keep": [[0, 1], [2, 4], [5, 8]]}}
        rfs["refs"]["a/c/0/0"][2] = 36
        taken = VirtualArray.from_rfs(rfs, "a")
        assert stack([taken, taken]).transpose(1, 0, 2).shape == (4, 2, 3)
        with pytest.raises(
            NeedsDataError, match="selected from records.*a selection applies to bytes in their own"
        ):
            taken.transpose()


@pytest.mark.parametrize("axes", [(1, 0, 2), [1, 0, 2], (0, 0, 1), (0,), (0, 3, 1)])
def test_transposed_axes(raw, axes):
    array = raw.array(shape=[10, 60, 10])
    if sorted(axes) == [0, 1, 2]:
        assert array.transpose(axes).shape == array.transpose(*axes).shape == (60, 10, 10)
        return
    with pytest.raises(UsageError, match="ax"):
        array.transpose(axes)


class TestTranspose:
    def test_a_stack_of_pages(self, raw, read, built):
        pages = raw.array(shape=[10, 30, 20], chunk_shape=[1, 30, 20])
        turned = pages.transpose(0, 2, 1)
        assert metadata(built(turned))["codecs"][0]["configuration"] == {"order": [0, 2, 1]}
        np.testing.assert_array_equal(read(turned), raw.values.reshape(10, 30, 20).transpose(0, 2, 1))
        np.testing.assert_array_equal(
            read(turned[::2]), raw.values.reshape(10, 30, 20).transpose(0, 2, 1)[::2]
        )

    def test_no_codec_where_the_order_makes_no_difference(self, raw, built, read):
        column = raw.array(chunk_shape=[600, 1])[:, :1]
        assert [codec["name"] for codec in metadata(built(column.T))["codecs"]] == ["bytes"]
        np.testing.assert_array_equal(read(column.T), raw.values[:, :1].T)

    def test_there_and_back(self, raw, built):
        assert built(raw.array().T.T) == built(raw.array())

    def test_dimension_names_follow(self, raw, built):
        taken = VirtualArray.from_rfs(built(raw.array(), dimension_names=["time", "channel"]), "a")
        assert taken.T.dimension_names == ("channel", "time")
        assert taken[:, 0].dimension_names == ("time",)
        assert metadata(built(taken.T))["dimension_names"] == ["channel", "time"]


def test_two_arrays_in_one_document(raw):
    builder = RfsBuilder()
    raw.array()[:, :9].add_to(builder, "group/neural")
    raw.array()[:, 9].add_to(builder, "group/sync")
    root = open_rfs(builder.build())
    np.testing.assert_array_equal(root["group/neural"][5:9], raw.values[5:9, :9])
    np.testing.assert_array_equal(root["group/sync"][5:9], raw.values[5:9, 9])
    with pytest.raises(UsageError, match="'group/sync' is an array already"):
        raw.array().add_to(builder, "group/sync")


def test_it_can_be_pickled(raw, built):
    array = stack([raw.array()[::2, ::-1], raw.array()[1::2, ::-1]])
    assert built(pickle.loads(pickle.dumps(array))) == built(array)
