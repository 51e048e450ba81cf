import subprocess
import sys

import numpy as np
import pytest
from zarr.dtype import parse_dtype

from shadowzarr.refs.data_types import byte_orders, bytes_codec, data_type_of, item_nbytes, zero_fill

STRUCT = np.dtype([("a", "<i4"), ("b", [("c", "V2"), ("d", ">f8")]), ("t", "<M8[us]")])
DTYPES = ["?", "i1", "<i2", ">u8", "<f2", ">f4", "<c16", "S3", "V5", "<U2", ">M8[10s]", "<m8[ns]", STRUCT]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_zarr_says_the_same(dtype):
    dtype = np.dtype(dtype)
    data_type = data_type_of(dtype)
    known = parse_dtype(data_type, zarr_format=3)
    assert known.to_native_dtype() == dtype.newbyteorder("=")
    assert item_nbytes(data_type) == dtype.itemsize
    zero = known.from_json_scalar(zero_fill(data_type), zarr_format=3)
    assert np.array(zero, dtype).tobytes() == bytes(dtype.itemsize)


@pytest.mark.parametrize("data_type", ["string", "variable_length_bytes", "bytes"])
def test_variable_length(data_type):
    assert item_nbytes(data_type) is None
    assert zero_fill(data_type) == ""


def test_an_array_in_a_compound_is_a_struct_of_numbers():
    found = data_type_of(np.dtype([("x", "<i2", (2, 3))]))
    assert item_nbytes(found) == 12
    fields = found["configuration"]["fields"][0]["data_type"]["configuration"]["fields"]
    assert [field["name"] for field in fields] == [str(n) for n in range(6)]


@pytest.mark.parametrize("dtype", ["O", "S0", "V0", "U0", "g"])
def test_types_that_zarr_does_not_have(dtype):
    if np.dtype(dtype).itemsize == 8 and dtype == "g":
        pytest.skip("long double is double on this machine")
    with pytest.raises(ValueError, match="no data type for"):
        data_type_of(np.dtype(dtype))


@pytest.mark.parametrize(
    "data_type",
    [
        "int7",
        "",
        7,
        None,
        {},
        {"name": 3},
        {"name": "raw_bytes"},
        {"name": "raw_bytes", "configuration": {"length_bytes": "3"}},
        {"name": "raw_bytes", "configuration": {"length_bytes": 2**70}},
        {"name": "numpy.datetime64", "configuration": {"unit": "parsec", "scale_factor": 1}},
        {"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "int7"}]}},
    ],
    ids=str,
)
def test_what_is_no_data_type(data_type):
    with pytest.raises(ValueError, match="no data type"):
        item_nbytes(data_type)
    with pytest.raises(ValueError, match="no data type"):
        zero_fill(data_type)


def test_byte_orders():
    assert byte_orders(np.dtype([("a", "<i4"), ("b", ">i4"), ("c", "S4")])) == {"little", "big"}
    assert byte_orders(np.dtype((">f4", (3,)))) == {"big"}
    assert byte_orders(np.dtype("u1")) == set()
    assert bytes_codec(np.dtype(">i2"))["configuration"] == {"endian": "big"}
    assert bytes_codec(np.dtype("u1"))["configuration"] == {"endian": "little"}


def test_types_of_zarr_need_no_zarr():
    """Generating and building do not import zarr, which takes longer than most of them."""
    code = (
        "import sys; from shadowzarr import RfsBuilder; b = RfsBuilder();"
        "b.add_array('a', shape=[1], data_type={'name': 'struct', 'configuration': {'fields': "
        "[{'name': 'x', 'data_type': 'int32'}]}}, chunk_shape=[1]); b.add_chunk('a', (0,), 'f', 0, 4);"
        "b.build(); print('zarr' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
