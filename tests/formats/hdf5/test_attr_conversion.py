import math
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5a, h5s, h5t


def test_numbers_text_and_bytes(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        a = f.attrs
        a["u8"], a["i8"], a["f2"] = np.uint64(2**64 - 1), np.int64(-(2**63)), np.float16(0.5)
        a["big"] = np.array([[1, 2], [3, 4]], ">i2")
        a["none"], a["one"] = np.zeros((0, 3), "i4"), np.array([7], "u1")
        a["flag"], a["flags"] = np.bool_(True), np.array([True, False])
        a["nan"], a["inf"] = np.nan, np.array([np.inf, -np.inf])
        a["text"], a["fixed"], a["latin"] = "µV", np.bytes_(b"ab  "), np.bytes_(b"\xe9")
        a["texts"] = np.array(["a", ""], object)
        a["opaque"] = np.void(b"\x00\xff")
        a["complex"] = 1 - 2j
        a["empty"] = h5py.Empty("f4")
        a["huge"] = "x" * 100_000
        a["odd name/µ"] = 1
    found = generate().attributes()
    assert found["u8"] == 2**64 - 1
    assert found["i8"] == -(2**63)
    assert found["f2"] == 0.5
    assert found["big"] == [[1, 2], [3, 4]]
    assert found["none"] == []
    assert found["one"] == [7]
    assert found["flag"] is True
    assert found["flags"] == [True, False]
    assert math.isnan(found["nan"])
    assert found["inf"] == [math.inf, -math.inf]
    assert (found["text"], found["fixed"], found["latin"]) == ("µV", "ab  ", b"\xe9")
    assert found["texts"] == ["a", ""]
    assert found["opaque"] == b"\x00\xff"
    assert found["complex"] == [1.0, -2.0]
    assert found["empty"] is None
    assert len(found["huge"]) == 100_000
    assert found["odd name/µ"] == 1


def test_variable_length_text_that_is_not_utf8_is_bytes(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.attrs.create("vlen", b"\xe9t\xe9", dtype=h5py.string_dtype())
    assert generate().attributes()["vlen"] == b"\xe9t\xe9"


def test_enumerations_compounds_sequences_and_arrays(path: Path, generate: Callable) -> None:
    state = h5py.enum_dtype({"OFF": 0, "ON": 1}, basetype="<i2")
    row = np.dtype([("n", "<i4"), ("in", [("b", "?"), ("t", h5py.string_dtype())])])
    with h5py.File(path, "w") as f:
        f.attrs.create("enum", 1, dtype=state)
        f.attrs.create("row", np.array((3, (True, "µ")), row), dtype=row)
        f.attrs.create("rows", np.array([(3, (True, "a")), (4, (False, ""))], row), dtype=row)
        ragged = np.empty(2, object)
        ragged[:] = [np.array([1, 2], "i4"), np.array([], "i4")]
        f.attrs.create("ragged", ragged, dtype=h5py.vlen_dtype("i4"))
        f.attrs.create("array", np.array([[1, 2, 3]], "f4"), shape=(1, 3), dtype=np.dtype(("f4", (3,))))
    found = generate().attributes()
    assert found["enum"] == 1
    assert found["row"] == {"n": 3, "in": {"b": True, "t": "µ"}}
    assert found["rows"][1] == {"n": 4, "in": {"b": False, "t": ""}}
    assert found["ragged"] == [[1, 2], []]
    assert found["array"] == [[1.0, 2.0, 3.0]]


def test_references(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(2)
        f.attrs["one"] = f["x"].ref
        many = np.empty((1, 2), object)
        many[0] = [f["x"].ref, h5py.Reference()]
        f.attrs.create("many", many, dtype=h5py.ref_dtype)
        f.attrs["region"] = f["x"].regionref[:1]
        f.attrs["left"] = 1
    made = generate()
    x = {"_REFERENCE": {"source": ".", "path": "/x"}}
    assert made.attributes()["one"] == x
    assert made.attributes()["many"] == [[x, ""]]
    assert made.attributes()["left"] == 1
    region = {"select_type": "H5S_SEL_HYPERSLABS", "selection": [[[0], [0]]]}
    assert made.attributes()["region"] == {"_REFERENCE": {"source": ".", "path": "/x", "region": region}}
    assert made.skipped() == {}


def test_a_reference_to_what_has_no_node_is_left_out(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(2)
        f.create_dataset("swapped", (1,), h5py.vlen_dtype(np.dtype(">i4")))
        f["x"].attrs["to"] = f["swapped"].ref
        f["x"].attrs["region"] = f["swapped"].regionref[:]
    skipped = generate().skipped()
    assert "/swapped, which is left out" in skipped["/x@to"]
    assert "/swapped, which is left out" in skipped["/x@region"]


def test_reserved_names_are_left_out_by_name(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(2)
        f["x"].attrs["_DTYPE"] = "mine"
        f["x"].attrs["zarr_conventions"] = 5
    made = generate()
    assert made.attributes("x")["_DTYPE"] == "int64"
    assert set(made.skipped()) == {"/x@_DTYPE", "/x@zarr_conventions"}


def test_one_unreadable_attribute_costs_no_other(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        h5a.create(f.id, b"three", h5t.STD_I32LE.copy(), h5s.create(h5s.SCALAR))
        odd = h5t.STD_I32LE.copy()
        odd.set_size(3)
        odd.set_precision(24)
        h5a.create(f.id, b"odd", odd, h5s.create(h5s.SCALAR))
        h5a.create(f.id, b"caf\xe9", h5t.STD_I8LE, h5s.create(h5s.SCALAR))
        f.attrs["good"] = 1
    made = generate()
    assert made.attributes()["good"] == 1
    assert set(made.skipped()) == {"/@odd", "/@caf\\xe9"}


@pytest.mark.parametrize(("value", "is_kept"), [(np.longdouble(0.5), True), (np.longdouble(1) / 3, False)])
def test_long_doubles_only_when_a_double_holds_them(
    path: Path, generate: Callable, value: np.longdouble, is_kept: bool
) -> None:
    if np.longdouble(float(np.longdouble(1) / 3)) == np.longdouble(1) / 3:
        pytest.skip("long doubles are doubles here")
    with h5py.File(path, "w") as f:
        f.attrs["x"] = value
    assert ("x" in generate().attributes()) is is_kept
    assert ("/@x" in generate().skipped()) is not is_kept


def test_attributes_stored_densely(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w", libver="latest") as f:
        for number in range(200):
            f.attrs[f"a{number:03d}"] = number
    found = generate().attributes()
    assert list(found) == sorted(found)
    assert found["a199"] == 199
