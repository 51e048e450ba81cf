"""Names of datatypes in JSON ↔ HDF5's constants.

`PUBLISHED_NAMES` are those of the HDF REST document and of hdf5-json, `OWN_NAMES` those that neither has.
"""

from __future__ import annotations

from h5py import h5t

PUBLISHED_NAMES = {
    "H5T_INTEGER": "an integer; base is the predefined type",
    "H5T_FLOAT": "a floating-point number; base is the predefined type",
    "H5T_STRING": "text; charSet, strPad and length",
    "H5T_OPAQUE": "bytes without meaning; size and tag",
    "H5T_COMPOUND": "fields with name and type",
    "H5T_ARRAY": "base and dims",
    "H5T_ENUM": "base and mapping",
    "H5T_REFERENCE": "base is H5T_STD_REF_OBJ or H5T_STD_REF_DSETREG",
    "H5T_VLEN": "a sequence of any length; base (hdf5-json)",
    "H5T_BITFIELD": "bits; base is the predefined type (hdf5-json)",
    "H5T_TIME": "a time; base is the predefined type (hdf5-json)",
    "datatypes/": "a string that names a committed type by its path",
}
"""Classes and keys that the HDF REST document or hdf5-json name."""

OWN_NAMES = {
    "H5T_COMPLEX": "a complex number of HDF5 2.0; base is the type of its parts",
    "H5T_STD_REF": "base of a reference as HDF5 1.12 introduced it",
    "encoded": "the type as H5Tencode writes it, where the other keys do not say all (reduced precision, "
    "offsets, padding bits, layouts of floating-point numbers that IEEE 754 does not know)",
    "offset": "of a field, in bytes, when the fields do not follow each other closely",
    "size": "of a compound, in bytes, when bytes are unused; of a number that is not predefined",
    "precision": "bits of a number that are used",
    "hex:": "before a name whose bytes are not UTF-8",
    "base64:": "before values that are given as their bytes in the file",
    "0x": "before the bits of a floating-point number that JSON cannot hold",
}
"""Keys, classes and prefixes that neither names."""

_SIZES = (8, 16, 32, 64)
_ORDERS = ("LE", "BE")

INTEGERS: dict[str, h5t.TypeID] = {
    f"H5T_STD_{sign}{bits}{order}": getattr(h5t, f"STD_{sign}{bits}{order}")
    for sign in "IU"
    for bits in _SIZES
    for order in _ORDERS
}
FLOATS: dict[str, h5t.TypeID] = {
    f"H5T_IEEE_F{bits}{order}": getattr(h5t, f"IEEE_F{bits}{order}")
    for bits in (16, 32, 64)
    for order in _ORDERS
}
BITFIELDS: dict[str, h5t.TypeID] = {
    f"H5T_STD_B{bits}{order}": getattr(h5t, f"STD_B{bits}{order}") for bits in _SIZES for order in _ORDERS
}
TIMES: dict[str, h5t.TypeID] = {
    f"H5T_UNIX_D{bits}{order}": getattr(h5t, f"UNIX_D{bits}{order}") for bits in (32, 64) for order in _ORDERS
}
REFERENCES: dict[str, h5t.TypeID] = {
    "H5T_STD_REF_OBJ": h5t.STD_REF_OBJ,
    "H5T_STD_REF_DSETREG": h5t.STD_REF_DSETREG,
}
PREDEFINED = INTEGERS | FLOATS | BITFIELDS | TIMES | REFERENCES

NEW_REFERENCE = "H5T_STD_REF"
VARIABLE = "H5T_VARIABLE"
COMMITTED = "datatypes"
"""What stands before the path of a committed type."""

CHARACTER_SETS = {h5t.CSET_ASCII: "H5T_CSET_ASCII", h5t.CSET_UTF8: "H5T_CSET_UTF8"}
PADDINGS = {
    h5t.STR_NULLTERM: "H5T_STR_NULLTERM",
    h5t.STR_NULLPAD: "H5T_STR_NULLPAD",
    h5t.STR_SPACEPAD: "H5T_STR_SPACEPAD",
}
ORDERS = {h5t.ORDER_LE: "H5T_ORDER_LE", h5t.ORDER_BE: "H5T_ORDER_BE", h5t.ORDER_VAX: "H5T_ORDER_VAX"}

CLASSES = {
    h5t.INTEGER: "H5T_INTEGER",
    h5t.FLOAT: "H5T_FLOAT",
    h5t.TIME: "H5T_TIME",
    h5t.STRING: "H5T_STRING",
    h5t.BITFIELD: "H5T_BITFIELD",
    h5t.OPAQUE: "H5T_OPAQUE",
    h5t.COMPOUND: "H5T_COMPOUND",
    h5t.REFERENCE: "H5T_REFERENCE",
    h5t.ENUM: "H5T_ENUM",
    h5t.VLEN: "H5T_VLEN",
    h5t.ARRAY: "H5T_ARRAY",
    h5t.COMPLEX: "H5T_COMPLEX",
}
