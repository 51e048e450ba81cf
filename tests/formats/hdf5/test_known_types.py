import h5py
import numpy as np
import pytest
from h5py import h5t

from shadowzarr.formats.hdf5 import known_types
from shadowzarr.formats.hdf5.dtypes import NotInPlaceError
from shadowzarr.formats.hdf5.known_types import known_type


def padded(by: int, length: int = 4) -> h5t.TypeID:
    tid = h5t.C_S1.copy()
    tid.set_size(length)
    tid.set_strpad(by)
    return tid


def of_17_bits() -> h5t.TypeID:
    tid = h5t.STD_I32LE.copy()
    tid.set_precision(17)
    return tid


def bfloat16() -> h5t.TypeID:
    tid = h5t.IEEE_F32LE.copy()
    tid.set_fields(15, 7, 8, 0, 7)
    tid.set_size(2)
    tid.set_precision(16)
    tid.set_ebias(127)
    return tid


ROW = np.dtype([("n", "<i4"), ("text", h5py.string_dtype())])
TEXT = h5t.py_create(h5py.string_dtype(), logical=True)


def test_the_same_type_is_known_once_whatever_file_it_is_from(tmp_path):
    found = []
    for name in ("a.h5", "b.h5"):
        with h5py.File(tmp_path / name, "w") as file:
            file["named"] = ROW
            file.attrs.create("x", np.array((1, "a"), ROW), dtype=ROW)
            file.create_dataset("committed", (1,), file["named"])
        with h5py.File(tmp_path / name) as file:
            found += [known_type(file.attrs.get_id("x").get_type())]
            found += [known_type(file["committed"].id.get_type())]
    assert len(set(map(id, found))) == 1
    assert found[0].form == "table"  # the files are closed
    assert not found[0].tid.committed()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (h5t.STD_I32LE, h5t.STD_I32BE),
        (h5t.STD_I32LE, of_17_bits()),
        (padded(h5t.STR_NULLPAD), padded(h5t.STR_SPACEPAD)),
        (padded(h5t.STR_NULLPAD), padded(h5t.STR_NULLPAD, 5)),
        (h5t.STD_REF_OBJ, h5t.STD_REF_DSETREG),
        (h5t.py_create(np.dtype([("a", "i4")])), h5t.py_create(np.dtype([("b", "i4")]))),
    ],
)
def test_types_that_differ_are_not_taken_for_each_other(one, other):
    assert known_type(one) is not known_type(other)
    assert known_type(one).described != known_type(other).described


@pytest.mark.parametrize(
    ("tid", "is_exact"),
    [
        (h5t.IEEE_F64LE, True),
        (h5t.IEEE_F16BE, True),
        (h5t.STD_U8LE, True),
        (TEXT, True),
        (of_17_bits(), False),
        (bfloat16(), False),
        (padded(h5t.STR_NULLPAD), False),
        (h5t.py_create(np.dtype(bool)), False),
        (h5t.STD_B8LE, False),
        (h5t.py_create(ROW, logical=True), False),
        (h5t.STD_REF_OBJ, False),
        (h5t.vlen_create(h5t.STD_I8LE), False),
    ],
)
def test_of_which_types_h5py_reads_all_bits(tid, is_exact):
    assert known_type(tid).is_exact is is_exact


@pytest.mark.parametrize(
    ("tid", "may"),
    [
        (padded(h5t.STR_SPACEPAD), True),
        (h5t.array_create(padded(h5t.STR_SPACEPAD), (2,)), True),
        (bfloat16(), True),
        (padded(h5t.STR_NULLTERM), False),
        (h5t.IEEE_F32BE, False),
        (TEXT, False),
    ],
)
def test_of_which_types_bits_may_be_lost(tid, may):
    assert known_type(tid).may_lose_bits is may


def test_what_a_type_has_not_is_raised_each_time():
    known = known_type(TEXT)
    for _ in range(2):
        with pytest.raises(NotInPlaceError):
            known.stored  # noqa: B018
    assert known.shown == np.dtype("O")
    assert known_type(of_17_bits()).why_misread == ""
    assert "big-endian" in known_type(h5t.vlen_create(h5t.STD_I16BE)).why_misread


def test_not_all_types_are_kept_for_ever(monkeypatch):
    monkeypatch.setattr(known_types, "_MOST", 3)
    known = [known_type(padded(h5t.STR_NULLPAD, length)) for length in range(1000, 1005)]
    assert known_type(padded(h5t.STR_NULLPAD, 1004)) is known[4]
    assert known_type(padded(h5t.STR_NULLPAD, 1000)) is not known[0]
    assert len(known_types._known) <= 3
