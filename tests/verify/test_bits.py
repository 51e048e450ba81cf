"""Numbers compared by their bits, whatever their byte order and what lies between their fields."""

import numpy as np
import pytest

from shadowzarr import RfsBuilder, verify_rfs
from shadowzarr.verify.bits import different_bits, is_same_type

ROW = [("n", "<i4"), ("xy", ">f8", (2,)), ("name", "S3")]
PADDED = np.dtype(
    {"names": ["n", "xy", "name"], "formats": [">i4", ("<f8", (2,)), "S3"], "offsets": [8, 16, 40]}
)

SAME = [
    ("<i4", ">i4"),
    ("f8", ">f8"),
    ("c8", "<c8"),
    ("S3", "S3"),
    (ROW, PADDED),
    ("M8[s]", ">M8[s]"),
    ("?", "?"),
]
OTHER = [
    ("i4", "u4"),
    ("i4", "i8"),
    ("f4", "i4"),
    ("S3", "S4"),
    ("M8[s]", "M8[ms]"),
    (ROW, [("n", "<i4")]),
    (ROW, [("n", "<i4"), ("xy", ">f8", (3,)), ("name", "S3")]),
    (ROW, [("n", "<i4"), ("xy", ">f8", (2,)), ("Name", "S3")]),
    (ROW, "V27"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_types_that_hold_the_same(one, other):
    assert is_same_type(np.dtype(one), np.dtype(other))
    assert is_same_type(np.dtype(other), np.dtype(one))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_types_that_do_not(one, other):
    assert not is_same_type(np.dtype(one), np.dtype(other))
    assert not is_same_type(np.dtype(other), np.dtype(one))


def test_zeros_and_nans_by_their_bits():
    values = np.array([0.0, -0.0, np.nan, 1.0])
    payload = values.copy()
    payload.view("u8")[2] += 1
    assert not different_bits(values, values.astype(">f8")).any()
    assert different_bits(values, payload).tolist() == [False, False, True, False]
    assert different_bits(values, np.abs(values)).tolist() == [False, True, False, False]


def test_fields_whatever_lies_between_them():
    one, other = np.zeros(3, ROW), np.zeros(3, PADDED)
    other.view("u1").reshape(3, -1)[:, :8] = 255
    assert not different_bits(one, other).any()
    other["xy"][1, 1] = 2
    other["name"][2] = b"x"
    assert different_bits(one, other).tolist() == [False, True, True]


def test_axes_that_are_empty_or_none():
    assert different_bits(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)
    assert different_bits(np.array(1), np.array(2)).item()


def test_a_map_of_records_is_an_array_like_any(tmp_path):
    rows = np.zeros(5, [("time", "<i8"), ("sample", "<i2")])
    rows["time"], rows["sample"] = np.arange(5) * 7, np.arange(5)
    (tmp_path / "run.bin").write_bytes(rows.tobytes())
    builder = RfsBuilder()
    fields = [{"name": name, "data_type": kind} for name, kind in (("time", "int64"), ("sample", "int16"))]
    builder.add_array(
        "rows",
        shape=[5],
        data_type={"name": "struct", "configuration": {"fields": fields}},
        chunk_shape=[2],
        codecs=[{"name": "bytes", "configuration": {"endian": "little"}}],
    )
    builder.add_contiguous_chunks(
        "rows", url=str(tmp_path / "run.bin"), start=0, shape=[5], chunk_shape=[2], itemsize=10
    )
    rfs = builder.build()
    found = np.memmap(tmp_path / "run.bin", rows.dtype, "r")
    assert verify_rfs(rfs, {"rows": found}, mode="full").equal
    changed = rows.copy()
    changed["sample"][4] = 9
    (difference,) = verify_rfs(rfs, {"rows": changed}).differences
    assert difference.original == "(28, 9) at (4,), 1 of 1"
