"""What zarr must show for a datatype, and which elements differ."""

import h5py
import numpy as np
import pytest

from shadowzarr.verify import mappings
from shadowzarr.verify.hdf5.kinds import Form, kind_of, shown_by
from shadowzarr.verify.hdf5.values import mismatches, text_item

TEXT = np.dtypes.StringDType()


def never(_reference, _path):
    raise AssertionError("there is no reference here")


def differing(kind, one, other):
    return mismatches(kind, np.asarray(one), np.asarray(other), leads=never).tolist()


@pytest.mark.parametrize(
    ("dtype", "form", "label", "uses"),
    [
        (np.dtype("<f8"), Form.PLAIN, "float64", set()),
        (np.dtype(">i2"), Form.PLAIN, "int16", {mappings.BYTE_ORDER}),
        (np.dtype("?"), Form.PLAIN, "bool", {mappings.BOOLEAN}),
        (np.dtype("V16"), Form.PLAIN, "void128", set()),
        (np.dtype("c8"), Form.PLAIN, "complex64", set()),
        (h5py.enum_dtype({"a": 1}, "i2"), Form.PLAIN, "int16", {mappings.ENUMERATION}),
        (h5py.string_dtype(), Form.TEXT, "str", {mappings.TEXT}),
        (np.dtype("S4"), Form.TEXT, "str", {mappings.FIXED_TEXT}),
        (h5py.ref_dtype, Form.REFERENCE, "object_reference", {mappings.REFERENCE_PATH}),
        (h5py.regionref_dtype, Form.REGION, "region_reference", {mappings.REGION_REFERENCE}),
        (h5py.vlen_dtype("i4"), Form.RAGGED, None, {mappings.RAGGED_GROUP}),
    ],
)
def test_kinds(dtype, form, label, uses):
    kind = kind_of(dtype)
    assert (kind.form, kind.label, set(kind.uses)) == (form, label, uses)


def test_a_compound_has_no_label_and_names_its_reference_fields():
    dtype = np.dtype([("a", "<i4"), ("r", h5py.ref_dtype), ("t", h5py.string_dtype())])
    kind = kind_of(dtype)
    assert kind.label is None
    assert kind.reference_fields == ["r"]
    assert mappings.COMPOUND_TEXT in kind.uses
    assert shown_by(kind, np.dtype([("a", ">i4"), ("r", "U9"), ("t", "U3")]))
    assert not shown_by(kind, np.dtype([("r", "U9"), ("a", "i4"), ("t", "U3")]))
    assert not shown_by(kind, np.dtype([("a", "i4"), ("r", "S9"), ("t", "U3")]))


def test_unused_bytes_of_a_compound_are_a_mapping():
    dtype = np.dtype({"names": ["a", "b"], "formats": ["u1", "<f8"], "offsets": [0, 8], "itemsize": 16})
    assert mappings.COMPOUND_PADDING in kind_of(dtype).uses


def test_an_array_type_adds_axes():
    kind = kind_of(np.dtype(("<f4", (2, 3))))
    assert (kind.axes, kind.label) == ((2, 3), "float32")


@pytest.mark.parametrize(
    ("wanted", "shown", "right"),
    [
        ("<i4", ">i4", True),
        ("i4", "u4", False),
        ("i4", "i8", False),
        ("f4", "i4", False),
        ("?", "i1", False),
        ("V4", "S4", False),
        ("M8[s]", "M8[ms]", False),
        ("M8[s]", "M8[s]", True),
        ("S4", "S4", True),  # bytes, when it is not UTF-8
        ("S4", "U4", False),
    ],
)
def test_the_data_type_counts_and_byte_order_does_not(wanted, shown, right):
    assert shown_by(kind_of(np.dtype(wanted)), np.dtype(shown)) is right


def test_text_and_references_are_string_arrays():
    assert shown_by(kind_of(h5py.string_dtype()), TEXT)
    assert shown_by(kind_of(np.dtype("S4")), TEXT)
    assert shown_by(kind_of(h5py.ref_dtype), TEXT)
    assert not shown_by(kind_of(h5py.string_dtype()), np.dtype("U4"))
    assert not shown_by(kind_of(h5py.ref_dtype), np.dtype("O"))


def test_numbers_are_compared_by_their_bits():
    kind = kind_of(np.dtype("f8"))
    quiet, other = (np.array([bits], "u8").view("f8")[0] for bits in (0x7FF8 << 48, (0x7FF8 << 48) + 1))
    assert differing(kind, [0.0, quiet, quiet, 1.0], [-0.0, quiet, other, 1.0]) == [True, False, True, False]


def test_byte_order_is_free():
    values = np.array([[1, 2], [3, 70000]])
    assert not np.any(differing(kind_of(np.dtype(">i8")), values.astype(">i8"), values.astype("<i8")))


def test_complex_numbers_and_scalars():
    kind = kind_of(np.dtype("c16"))
    assert differing(kind, 1 + 2j, 1 + 3j) is True
    assert differing(kind, np.array(1 + 2j), np.array(1 + 2j)) is False


def test_compounds_field_by_field():
    dtype = np.dtype([("a", ">i4"), ("t", "S3")])
    one = np.array([(1, b"x"), (2, b"y"), (3, b"z")], dtype)
    other = np.array([(1, "x"), (9, "y"), (3, "Z")], [("a", "<i4"), ("t", "U5")])
    assert differing(kind_of(dtype), one, other) == [False, True, True]


def test_references_are_compared_by_where_they_lead():
    items = np.array(["r1", "r2"], dtype=object)
    flags = mismatches(
        kind_of(h5py.ref_dtype),
        items,
        np.array(["/a", "/b"], TEXT),
        leads=lambda r, p: (r, p) == ("r1", "/a"),
    )
    assert flags.tolist() == [False, True]


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (b"abc", "abc"),
        ("µV", "µV"),
        ("µV".encode(), "µV"),
        (b"\xff\xfe", b"\xff\xfe"),
        ("\udce9t", b"\xe9t"),
        (0, ""),
    ],
)
def test_items_of_text(item, text):
    assert text_item(item) == text


def test_text_that_is_not_utf8_equals_no_text():
    flags = differing(kind_of(np.dtype("S2")), np.array([b"ok", b"\xff"]), np.array(["ok", "ÿ"], TEXT))
    assert flags == [False, True]
