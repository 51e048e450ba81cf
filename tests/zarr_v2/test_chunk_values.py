"""Chunks of Zarr v2 decoded, as numcodecs encodes them; nothing that could run code is."""

import pickle

import numcodecs
import numpy as np
import pytest

from shadowzarr.zarr_v2 import NoV3FormError
from shadowzarr.zarr_v2 import chunk_values as module
from shadowzarr.zarr_v2.chunk_values import objects_of
from shadowzarr.zarr_v2.held_budget import HeldBudget

BLOSC = numcodecs.Blosc("lz4").get_config()


def chunk_values(array, data, most=2**20):
    return module.chunk_values(array, data, HeldBudget(most))


def zarray(dtype, shape, filters=None, compressor=None, order="C"):
    return {
        "dtype": dtype,
        "shape": shape,
        "chunks": shape,
        "filters": filters,
        "compressor": compressor,
        "order": order,
    }


@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers(order):
    values = np.arange(6, dtype=">i4").reshape(2, 3)
    data = numcodecs.get_codec(dict(BLOSC)).encode(values.tobytes(order))
    found = chunk_values(zarray(">i4", [2, 3], compressor=BLOSC, order=order), bytes(data))
    np.testing.assert_array_equal(found, values)


def test_a_short_chunk_is_filled_with_zeros():
    found = chunk_values(zarray("<i2", [3]), b"\1\0\2\0")
    assert found.tolist() == [1, 2, 0]


@pytest.mark.parametrize("shape", [(4,), (2, 2), (1,)])
@pytest.mark.parametrize("codec", [numcodecs.JSON(), numcodecs.VLenUTF8()])
def test_text(codec, shape):
    values = objects_of(["a", "", "ö", "漢"][: int(np.prod(shape))]).reshape(shape)
    found = chunk_values(zarray("|O", list(shape), [codec.get_config()]), bytes(codec.encode(values)))
    assert found.tolist() == values.tolist()


def test_rows_of_a_compound_stay_lists():
    data = b'[[1,{"a":NaN}],[2,{}],"|O",[2]]'
    found = chunk_values(zarray("|O", [2], [numcodecs.JSON().get_config()]), data)
    assert found.shape == (2,)
    assert found[1] == [2, {}]


@pytest.mark.parametrize(
    ("array", "data", "reason"),
    [
        (zarray("|O", [1], [{"id": "pickle"}]), pickle.dumps(["x"]), "encoded by 'pickle'"),
        (zarray("|O", [1]), b"", "encoded by None"),
        (zarray("<i2", [1], [{"id": "pickle"}]), pickle.dumps([1]), "not decoded here"),
        (zarray("<i2", [1], [{"id": "json2"}]), b"[]", "has no objects"),
        (zarray("<i2", [1], compressor={"id": "zlib"}), b"no zlib", "'zlib' cannot decode"),
        (zarray("<i2", [1]), b"1234", "a chunk of 4 bytes, expected 2"),
        (zarray("|O", [2], [{"id": "json2"}]), b'["a","|O",[1]]', "a chunk of 1 items, expected 2"),
        (zarray("|O", [2], [{"id": "json2"}]), b"{", "cannot be decoded"),
        (zarray("|O", [2], [{"id": "vlen-utf8"}]), b"\1", "cannot be decoded"),
    ],
)
def test_what_cannot_be_decoded_is_named(array, data, reason):
    with pytest.raises(NoV3FormError, match=reason):
        chunk_values(array, data)


@pytest.mark.parametrize("data", [b"{}", b'"ab"', b"5"])
def test_json_that_is_no_list_has_no_items(data):
    with pytest.raises(NoV3FormError, match="no list"):
        chunk_values(zarray("|O", [0], [numcodecs.JSON().get_config()]), data)


@pytest.mark.parametrize("name", ["zlib", "gzip", "bz2", "lzma", "blosc", "lz4", "zstd"])
def test_what_grows_beyond_the_limit_is_not_decoded(name):
    codec = numcodecs.get_codec({"id": name})
    data = bytes(codec.encode(bytes(5000)))
    array = zarray("|u1", [100], compressor=codec.get_config())
    assert chunk_values(array, bytes(codec.encode(bytes(100)))).tolist() == [0] * 100
    with pytest.raises(NoV3FormError, match=f"that '{name}' makes larger than 4,999 bytes"):
        chunk_values(array, data, 4999)
    with pytest.raises(NoV3FormError, match="a chunk of 5000 bytes, expected 100"):
        chunk_values(array, data, 5000)


def test_values_count_together_whatever_the_document_has_of_them():
    budget = HeldBudget(1000)
    module.chunk_values(zarray("<i4", [200]), b"", budget)  # the end of a last chunk may be left away
    with pytest.raises(NoV3FormError, match="values of 400 bytes .* may hold 1,000, with 800 used"):
        module.chunk_values(zarray("<i4", [100]), b"", budget)
    assert budget.left == 200
