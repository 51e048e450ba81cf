from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5t

from shadowzarr.formats.hdf5 import dtypes
from shadowzarr.formats.hdf5.dtypes import NotInPlaceError, stored_dtype


def compound(*members: tuple[str, int, Any], size: int) -> Any:
    tid = h5t.create(h5t.COMPOUND, size)
    for name, offset, member in members:
        tid.insert(name.encode(), offset, member)
    return tid


def enumeration(base: Any, **members: int) -> Any:
    tid = h5t.enum_create(base)
    for name, value in members.items():
        tid.enum_insert(name.encode(), value)
    return tid


def precise(base: Any, bits: int, offset: int = 0) -> Any:
    tid = base.copy()
    tid.set_precision(bits)
    tid.set_offset(offset)
    return tid


NUMBERS = [
    "<i1",
    "<u1",
    "<i2",
    ">i2",
    "<u2",
    ">u2",
    "<i4",
    ">i4",
    "<u4",
    ">u8",
    "<i8",
    ">i8",
    "<f2",
    ">f2",
    "<f4",
    ">f4",
    "<f8",
    ">f8",
]


@pytest.mark.parametrize("name", NUMBERS)
def test_plain_numbers(name: str) -> None:
    dtype = np.dtype(name)
    assert stored_dtype(h5t.py_create(dtype)) == dtype
    assert dtypes.zarr_data_type(dtype) == dtype.newbyteorder("=").name
    assert dtypes.type_name(dtype) == dtype.newbyteorder("=").name


@pytest.mark.parametrize(
    ("tid", "expected"),
    [
        (h5t.py_create(np.dtype("?")), "?"),
        (h5t.py_create(np.dtype("<c8")), "<c8"),
        (h5t.py_create(np.dtype(">c16")), ">c16"),
        (h5t.py_create(np.dtype("V5")), "V5"),
        (h5t.py_create(h5py.opaque_dtype(np.dtype("<M8[10ms]")), logical=True), "<M8[10ms]"),
        (h5t.STD_B8LE, "u1"),
        (h5t.STD_B32BE, ">u4"),
        (enumeration(h5t.STD_I16BE, OFF=0, ON=1), ">i2"),
        (enumeration(h5t.STD_I8LE, FALSE=0, TRUE=1), "?"),
        (h5t.array_create(h5t.IEEE_F32BE, (2, 3)), (">f4", (2, 3))),
        (compound(("a", 0, h5t.STD_U8LE), ("b", 1, h5t.IEEE_F64BE), size=9), [("a", "u1"), ("b", ">f8")]),
        (
            compound(("in", 0, compound(("x", 0, h5t.STD_I16LE), size=2)), ("y", 2, h5t.STD_I32LE), size=6),
            [("in", [("x", "<i2")]), ("y", "<i4")],
        ),
        (
            compound(("a", 0, h5t.array_create(h5t.STD_I16BE, (2, 3))), ("b", 12, h5t.STD_I8LE), size=13),
            [("a", ">i2", (2, 3)), ("b", "i1")],
        ),
        (
            compound(("real", 0, h5t.IEEE_F32LE), ("imag", 4, h5t.IEEE_F32LE), size=8),
            [("real", "<f4"), ("imag", "<f4")],
        ),
    ],
)
def test_stored_bytes_that_are_the_values(tid: Any, expected: Any) -> None:
    assert dtypes.same_dtype(stored_dtype(tid), np.dtype(expected))


@pytest.mark.parametrize(
    ("tid", "why"),
    [
        (precise(h5t.STD_U16LE, 12), "12 bits in 16"),
        (precise(h5t.STD_I32LE, 24, 8), "24 bits in 32"),
        (h5t.NATIVE_LDOUBLE, "not IEEE 754"),
        (enumeration(h5t.STD_I32LE, FALSE=0, TRUE=1), "booleans of 4 bytes"),
        (compound(("a", 0, h5t.STD_U8LE), ("b", 4, h5t.IEEE_F32LE), size=8), "unused bytes"),
        (compound(("a", 0, h5t.STD_I16LE), ("b", 2, h5t.STD_I16BE), size=4), "both byte orders"),
        (compound(("a", 0, h5t.array_create(h5t.STD_I16LE, (4097,))), size=8194), "more than 4,096"),
        (h5t.py_create(np.dtype("S4")), "not a plain one"),
        (h5t.STD_REF_OBJ, "not a plain one"),
        (h5t.VAX_F32 if hasattr(h5t, "VAX_F32") else precise(h5t.STD_U16LE, 9), "."),
    ],
)
def test_stored_bytes_that_are_not(tid: Any, why: str) -> None:
    with pytest.raises(NotInPlaceError, match=why):
        stored_dtype(tid)


def test_a_dataset_of_every_type_says_the_same(one_dataset: Callable[..., Any]) -> None:
    with one_dataset(h5t.IEEE_F64BE) as dataset:
        assert stored_dtype(dataset.id.get_type()) == dataset.dtype == np.dtype(">f8")


def test_zarr_names_of_the_rest() -> None:
    assert dtypes.zarr_data_type(np.dtype("V3")) == {
        "name": "raw_bytes",
        "configuration": {"length_bytes": 3},
    }
    assert dtypes.zarr_data_type(np.dtype("S3"))["name"] == "null_terminated_bytes"
    assert dtypes.zarr_data_type(np.dtype("U3"))["configuration"] == {"length_bytes": 12}
    assert dtypes.zarr_data_type(np.dtype("<m8[us]")) == {
        "name": "numpy.timedelta64",
        "configuration": {"unit": "us", "scale_factor": 1},
    }
    struct = dtypes.zarr_data_type(np.dtype([("a", "<i4"), ("b", [("c", "V2")])]))
    assert struct["configuration"]["fields"][1]["data_type"]["name"] == "struct"


def test_an_array_in_a_compound_is_a_struct_of_numbered_fields() -> None:
    dtype = np.dtype([("a", "<i4", (2, 1)), ("b", [("c", "u1", 1), ("d", "<f8")], 2)])
    struct = dtypes.zarr_data_type(dtype)
    first, second = struct["configuration"]["fields"]
    numbered = [{"name": "0", "data_type": "int32"}, {"name": "1", "data_type": "int32"}]
    assert first == {"name": "a", "data_type": {"name": "struct", "configuration": {"fields": numbered}}}
    assert [part["name"] for part in second["data_type"]["configuration"]["fields"]] == ["0", "1"]
    assert dtypes.struct_marks(dtype) == {
        "_ARRAY_FIELDS": [
            {"field": ["a"], "shape": [2, 1]},
            {"field": ["b"], "shape": [2]},
            {"field": ["b", "c"], "shape": [1]},
        ]
    }
    assert dtypes.struct_marks(np.dtype([("a", "<i4")])) == {}
    assert dtypes.struct_marks(np.dtype("<i4")) == {"_DTYPE": "int32"}


@pytest.mark.parametrize(
    ("tid", "is_misread", "has_regions"),
    [
        (h5t.vlen_create(h5t.STD_I16BE), True, False),
        (h5t.vlen_create(h5t.STD_I16LE), False, False),
        (h5t.vlen_create(h5t.vlen_create(h5t.STD_I16BE)), True, False),
        (h5t.vlen_create(h5t.array_create(h5t.IEEE_F32BE, (2,))), True, False),
        (h5t.vlen_create(compound(("a", 0, h5t.STD_I16BE), size=2)), False, False),
        (compound(("a", 0, h5t.vlen_create(h5t.STD_I16BE)), size=16), True, False),
        (h5t.vlen_create(h5t.STD_REF_OBJ), False, False),
        (h5t.vlen_create(h5t.STD_REF_DSETREG), False, True),
        (h5t.vlen_create(compound(("a", 0, h5t.STD_REF_DSETREG), size=12)), False, True),
        (compound(("a", 0, h5t.STD_REF_DSETREG), size=12), False, False),
    ],
)
def test_sequences_that_h5py_must_not_be_asked_for(tid: Any, is_misread: bool, has_regions: bool) -> None:
    assert dtypes.has_misread_sequences(tid) is is_misread
    assert dtypes.has_sequences_of_regions(tid) is has_regions


def bfloat16(size: int) -> Any:
    tid = h5t.IEEE_F32LE.copy()
    tid.set_fields(15, 7, 8, 0, 7)
    tid.set_precision(16)
    tid.set_size(size)
    return tid


@pytest.mark.parametrize(
    ("tid", "overlaps"),
    [
        (compound(("a", 0, bfloat16(2)), ("b", 2, h5t.STD_I16LE), size=4), True),
        (compound(("b", 2, h5t.STD_I16LE), ("a", 0, bfloat16(2)), size=4), True),
        (compound(("a", 0, bfloat16(2)), ("b", 4, h5t.STD_I16LE), size=6), False),
        (compound(("a", 0, bfloat16(4)), ("b", 4, h5t.STD_I16LE), size=6), False),
        (h5t.vlen_create(compound(("a", 0, bfloat16(2)), ("b", 2, bfloat16(2)), size=4)), True),
        (compound(("a", 0, h5t.vlen_create(h5t.STD_I8LE)), ("b", 16, h5t.STD_I8LE), size=17), False),
    ],
)
def test_fields_that_h5py_reads_over_one_another(tid: Any, overlaps: bool) -> None:
    assert dtypes.has_overlapping_fields(tid) is overlaps


@pytest.mark.parametrize("dtype", [np.dtype("g"), np.dtype("G"), np.dtype(object)])
def test_types_that_zarr_lacks(dtype: np.dtype) -> None:
    if dtype.itemsize in (8, 16) and dtype.kind in "f" and np.dtype("g").itemsize == 8:
        pytest.skip("long doubles are doubles here")
    with pytest.raises(NotInPlaceError):
        dtypes.zarr_data_type(dtype)


def test_byte_order_is_the_codecs() -> None:
    assert dtypes.bytes_codec(np.dtype(">i2"))["configuration"] == {"endian": "big"}
    assert dtypes.bytes_codec(np.dtype([("a", "u1"), ("b", ">f4")]))["configuration"] == {"endian": "big"}
    assert dtypes.bytes_codec(np.dtype("u1"))["configuration"] == {"endian": "little"}
    assert dtypes.byte_orders(np.dtype([("a", "<i4"), ("b", ">i4"), ("c", "S4")])) == {"little", "big"}
    assert dtypes.type_name(np.dtype([("a", "i4")])) is None
