"""Datatypes as JSON: the words of the HDF REST document, and every type there and back."""

import base64

import h5py
import numpy as np
import pytest
from h5py import h5t

from shadowzarr.hdf5_types.memory import plain_dtype
from shadowzarr.hdf5_types.type_names import INTEGERS, OWN_NAMES, PREDEFINED, PUBLISHED_NAMES
from shadowzarr.hdf5_types.types_from_json import type_from_json
from shadowzarr.hdf5_types.types_to_json import type_to_json


def text(length=h5t.VARIABLE, cset=h5t.CSET_ASCII, padding=h5t.STR_NULLTERM):
    tid = h5t.C_S1.copy()
    tid.set_size(length)
    tid.set_cset(cset)
    tid.set_strpad(padding)
    return tid


def enum():
    tid = h5t.enum_create(h5t.STD_I16BE)
    for name, value in {"GAS": 2, "LIQUID": 1, "PLASMA": 3, "SOLID": 0}.items():
        tid.enum_insert(name.encode(), value)
    return tid


def opaque(tag):
    tid = h5t.create(h5t.OPAQUE, 7)
    tid.set_tag(tag)
    return tid


def gapped():
    tid = h5t.create(h5t.COMPOUND, 20)
    tid.insert(b"late", 12, h5t.STD_I32LE)
    tid.insert(b"early", 1, h5t.IEEE_F32BE)
    return tid


def odd_integer():
    tid = h5t.STD_U16LE.copy()
    tid.set_precision(12)
    tid.set_offset(3)
    tid.set_pad(h5t.PAD_ONE, h5t.PAD_ZERO)
    return tid


def odd_float():
    tid = h5t.IEEE_F32LE.copy()
    tid.set_fields(19, 13, 6, 0, 13)
    tid.set_precision(20)
    tid.set_offset(7)
    tid.set_ebias(31)
    return tid


def vax():
    """A double of OpenVMS, as a file of that system holds it."""
    return h5t.decode(base64.b64decode("AwAxYT8ACAAAAAAAQAA0CwA0AQQAAA=="))


DOCUMENTED = [
    (h5t.STD_I8LE, {"class": "H5T_INTEGER", "base": "H5T_STD_I8LE"}),
    (h5t.STD_U16BE, {"class": "H5T_INTEGER", "base": "H5T_STD_U16BE"}),
    (
        text(40, padding=h5t.STR_NULLPAD),
        {"class": "H5T_STRING", "charSet": "H5T_CSET_ASCII", "strPad": "H5T_STR_NULLPAD", "length": 40},
    ),
    (
        text(),
        {
            "class": "H5T_STRING",
            "charSet": "H5T_CSET_ASCII",
            "strPad": "H5T_STR_NULLTERM",
            "length": "H5T_VARIABLE",
        },
    ),
    (
        h5t.py_create(np.dtype([("real_part", "<f8"), ("imaginary_part", "<f8")])),
        {
            "class": "H5T_COMPOUND",
            "fields": [
                {"name": "real_part", "type": {"class": "H5T_FLOAT", "base": "H5T_IEEE_F64LE"}},
                {"name": "imaginary_part", "type": {"class": "H5T_FLOAT", "base": "H5T_IEEE_F64LE"}},
            ],
        },
    ),
    (
        enum(),
        {
            "class": "H5T_ENUM",
            "base": {"class": "H5T_INTEGER", "base": "H5T_STD_I16BE"},
            "mapping": {"GAS": 2, "LIQUID": 1, "PLASMA": 3, "SOLID": 0},
        },
    ),
    (
        h5t.array_create(h5t.STD_I16BE, (2, 2)),
        {"class": "H5T_ARRAY", "base": {"class": "H5T_INTEGER", "base": "H5T_STD_I16BE"}, "dims": [2, 2]},
    ),
    (h5t.STD_REF_OBJ, {"class": "H5T_REFERENCE", "base": "H5T_STD_REF_OBJ"}),
    (h5t.STD_REF_DSETREG, {"class": "H5T_REFERENCE", "base": "H5T_STD_REF_DSETREG"}),
]
REST = {
    "vlen of big-endian": h5t.vlen_create(h5t.IEEE_F64BE),
    "vlen of vlen": h5t.vlen_create(h5t.vlen_create(h5t.STD_I8LE)),
    "vlen of text": h5t.vlen_create(text(cset=h5t.CSET_UTF8)),
    "opaque": opaque(b"a tag"),
    "opaque without tag": opaque(b""),
    "opaque, tag not UTF-8": opaque(b"\xff"),
    "bitfield": h5t.STD_B16BE,
    "time": h5t.UNIX_D32LE,
    "complex": h5t.COMPLEX_IEEE_F32BE,
    "gaps and fields out of order": gapped(),
    "12 bits": odd_integer(),
    "20-bit float": odd_float(),
    "VAX": vax(),
    "long double": h5t.LDOUBLE_LE,
    "space-padded UTF-8": text(3, h5t.CSET_UTF8, h5t.STR_SPACEPAD),
    "array of compounds": h5t.array_create(gapped(), (3,)),
    "bool": h5t.py_create(np.dtype(bool), logical=True),
}


@pytest.mark.parametrize(("tid", "described"), DOCUMENTED)
def test_what_the_rest_document_shows(tid, described):
    assert type_to_json(tid) == described
    assert type_from_json(described).equal(tid)


@pytest.mark.parametrize("name", REST)
def test_the_rest_comes_back(name):
    described = type_to_json(REST[name])
    assert type_from_json(described).equal(REST[name])
    assert type_to_json(type_from_json(described)) == described


@pytest.mark.parametrize("name", ["12 bits", "20-bit float", "VAX", "long double"])
def test_what_no_word_says_is_encoded(name):
    assert "encoded" in type_to_json(REST[name])


@pytest.mark.parametrize("name", PREDEFINED)
def test_predefined_types_are_their_names(name):
    described = type_to_json(PREDEFINED[name])
    assert described["base"] == name
    assert "encoded" not in described
    assert type_from_json(name).equal(PREDEFINED[name])


def test_a_committed_type_is_its_path(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["named/t"] = np.dtype("<i4")
        tid = file["named/t"].id
        assert type_to_json(tid, lambda _: b"/named/t") == "datatypes/named/t"
        assert type_to_json(tid, lambda _: None)["base"] == "H5T_STD_I32LE"
        assert type_from_json("datatypes/named/t", {b"/named/t": tid}.get) is tid


@pytest.mark.parametrize("described", ["H5T_STD_I24LE", {"class": "H5T_STRING"}, {"class": "H5T_NOVELTY"}])
def test_what_is_no_type_is_refused(described):
    with pytest.raises((ValueError, KeyError)):
        type_from_json(described)


@pytest.mark.parametrize("name", INTEGERS)
def test_numpy_has_the_bits_of_predefined_integers(name):
    dtype = plain_dtype(INTEGERS[name])
    assert dtype.itemsize == 1 or h5t.py_create(dtype).equal(INTEGERS[name])
    assert dtype.kind == ("i" if "_I" in name else "u")


@pytest.mark.parametrize("name", ["12 bits", "20-bit float", "VAX", "time", "gaps and fields out of order"])
def test_numpy_lacks_the_others(name):
    assert plain_dtype(REST[name]) is None


def test_every_name_says_what_it_is():
    assert not set(PUBLISHED_NAMES) & set(OWN_NAMES)
    assert all({**PUBLISHED_NAMES, **OWN_NAMES}.values())
