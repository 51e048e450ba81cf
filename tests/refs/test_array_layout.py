import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.refs.array_layout import ArrayLayout
from shadowzarr.refs.zarr_metadata import array_metadata

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def layout(shape, chunk_shape, *, codecs=(BYTES,), data_type="int16", encoding=None):
    metadata = array_metadata(
        shape=shape, data_type=data_type, chunk_shape=chunk_shape, codecs=codecs, fill_value=0
    )
    if encoding is not None:
        metadata["chunk_key_encoding"] = encoding
    return ArrayLayout.from_metadata(metadata, "a")


def test_plain_chunks_have_one_size():
    assert layout([10, 4], [4, 4]).chunk_nbytes == 32
    assert layout([], []).chunk_nbytes == 2
    struct = {"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "int32"}]}}
    assert layout([3], [2], data_type=struct).chunk_nbytes == 8
    text = {"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}
    assert layout([3], [2], data_type=text).chunk_nbytes == 24


def test_compressed_chunks_have_none():
    assert layout([10], [4], codecs=[BYTES, {"name": "zstd", "configuration": {}}]).chunk_nbytes is None
    assert layout([10], [4], codecs=[{"name": "vlen-utf8"}], data_type="string").chunk_nbytes is None
    other = {"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}}
    assert layout([10], [4], codecs=[other, BYTES]).chunk_nbytes is None


@pytest.mark.parametrize(
    ("coordinates", "needed"),
    [((0, 0), 32), ((1, 0), 32), ((2, 0), 16), ((0, 1), 26), ((2, 1), 10), ((3, 0), 32)],
)
def test_needed_bytes_end_with_the_array(coordinates, needed):
    assert layout([10, 5], [4, 4]).needed_nbytes(coordinates) == needed


shapes = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 4)), min_size=0, max_size=3)


@given(shapes, st.randoms(use_true_random=False))
def test_needed_bytes_are_those_numpy_finds(extents, random):
    shape, chunk = [e for e, _ in extents], [c for _, c in extents]
    order = random.sample(range(len(shape)), len(shape))
    codecs = [{"name": "transpose", "configuration": {"order": order}}, BYTES]
    found = layout(shape, chunk, codecs=codecs)
    for coordinates in itertools.product(*(range(-(-e // c)) for e, c in extents)):
        inside = np.zeros(chunk, dtype=bool)
        inside[tuple(slice(0, e - n * c) for e, c, n in zip(shape, chunk, coordinates, strict=True))] = True
        stored = inside.transpose(order).ravel()
        assert found.needed_nbytes(coordinates) == (int(np.flatnonzero(stored)[-1]) + 1) * 2
    assert found.chunk_nbytes == math.prod(chunk) * 2


@pytest.mark.parametrize(
    ("encoding", "shape", "coordinates", "tail"),
    [
        (None, [9, 9], (1, 20), "c/1/20"),
        (None, [], (), "c"),
        ({"name": "default", "configuration": {"separator": "."}}, [9, 9], (1, 2), "c.1.2"),
        ({"name": "default"}, [9], (3,), "c/3"),
        ({"name": "v2", "configuration": {"separator": "/"}}, [9, 9], (1, 2), "1/2"),
        ({"name": "v2"}, [9, 9], (1, 2), "1.2"),
        ({"name": "v2"}, [], (), "0"),
    ],
)
def test_key_spellings(encoding, shape, coordinates, tail):
    found = layout(shape, [1] * len(shape), encoding=encoding)
    assert found.tail(coordinates) == tail
    assert found.coordinates(tail) == coordinates


@pytest.mark.parametrize(
    "tail", ["c/1", "c/1/2/3", "c/01/2", "c/-1/2", "c/1/x", "1/2", "c.1.2", "zarr.json", "c", "c/٣/1"]
)
def test_other_tails_are_no_chunks(tail):
    assert layout([9, 9], [1, 1]).coordinates(tail) is None


def test_unknown_spelling_is_refused():
    with pytest.raises(InvalidReferencesError, match=r"'a'.*suffix"):
        layout([9], [1], encoding={"name": "suffix"})


def test_metadata_of_a_group_is_refused():
    with pytest.raises(InvalidReferencesError, match="array '/a' has no shape"):
        ArrayLayout.from_metadata({"zarr_format": 3, "node_type": "group"}, "a")


def test_irregular_grids_have_no_chunk_size():
    metadata = array_metadata(shape=[3], data_type="int8", chunk_shape=[1], codecs=[BYTES], fill_value=0)
    metadata["chunk_grid"] = {"name": "rectilinear", "configuration": {"chunk_shapes": [[1, 2]]}}
    found = ArrayLayout.from_metadata(metadata, "a")
    assert found.chunk_nbytes is None
    assert found.coordinates("c/1") == (1,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": [-1]}, r"array '/a' has shape \[-1\]"),
        ({"codecs": [{"name": "transpose", "configuration": {"order": [1]}}, BYTES]}, "transposition"),
        ({"codecs": [{"name": "transpose", "configuration": {"order": "C-"}}, BYTES]}, "transposition"),
        ({"codecs": [{"name": "transpose"}, BYTES]}, "cannot be understood"),
        ({"data_type": "int7"}, "int7"),
        ({"data_type": {"name": "raw_bytes", "configuration": {"length_bytes": 2**70}}}, "cannot be underst"),
        ({"chunk_key_encoding": 7}, "cannot be understood"),
        (
            {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2**62]}}},
            r"a chunk of shape \[4611686018427387904\] is larger than any file",
        ),
    ],
)
def test_metadata_that_cannot_be_understood(changes, message):
    good = array_metadata(shape=[3], data_type="int16", chunk_shape=[1], codecs=[BYTES], fill_value=0)
    with pytest.raises(InvalidReferencesError, match=message):
        ArrayLayout.from_metadata({**good, **changes}, "a")
