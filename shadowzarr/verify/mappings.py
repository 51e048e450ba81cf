"""The ways in which references may differ from what h5py shows: one table, and nothing beside it.

Every time a comparison relies on a row, the report counts it under the row's name. A difference that no
row allows is reported. The table is also the documentation's (``docs/format.md`` repeats it).
"""

from __future__ import annotations

from typing import Final

SPECIFICATION_SCALAR: Final = "specification_scalar"
SPECLOC_PATH: Final = "specloc_path"
TEXT: Final = "text"
FIXED_TEXT: Final = "fixed_text"
TEXT_AS_BYTES: Final = "text_as_bytes"
BOOLEAN: Final = "boolean"
ENUMERATION: Final = "enumeration"
REGION_REFERENCE: Final = "region_reference"
REFERENCE_PATH: Final = "reference_path"
NULL_REFERENCE: Final = "null_reference"
DANGLING_REFERENCE: Final = "dangling_reference"
REFERENCE_ATTRIBUTE: Final = "reference_attribute"
HARD_LINK: Final = "hard_link"
SOFT_LINK: Final = "soft_link"
EXTERNAL_LINK: Final = "external_link"
NON_FINITE_ATTRIBUTE: Final = "non_finite_attribute"
BYTES_ATTRIBUTE: Final = "bytes_attribute"
COMPOUND_ATTRIBUTE: Final = "compound_attribute"
COMPLEX_ATTRIBUTE: Final = "complex_attribute"
EMPTY_ATTRIBUTE: Final = "empty_attribute"
DIMENSION_SCALE: Final = "dimension_scale"
DIMENSION_NAME: Final = "dimension_name"
NULL_DATASPACE: Final = "null_dataspace"
ARRAY_FIELD: Final = "array_field"
COMPOUND_COLUMNS: Final = "compound_columns"
TYPE_ATTRIBUTE: Final = "type_attribute"
ARRAY_TYPE: Final = "array_type"
RAGGED_GROUP: Final = "ragged_group"
BYTE_ORDER: Final = "byte_order"
COMPOUND_TEXT: Final = "compound_text"
COMPOUND_PADDING: Final = "compound_padding"
NAMED_DATATYPE: Final = "named_datatype"
WIDE_FLOAT: Final = "wide_float"
NEVER_WRITTEN: Final = "never_written"
FILL_PAYLOAD: Final = "fill_payload"
UNDEFINED_FILL: Final = "undefined_fill"
DATA_TYPE_ATTRIBUTE: Final = "data_type_attribute"

MAPPINGS: Final[dict[str, str]] = {
    SPECIFICATION_SCALAR: "a cached specification of one element is a scalar",
    SPECLOC_PATH: "the reference .specloc is the plain path of its target",
    TEXT: "variable-length text is an array of the data type string",
    TEXT_AS_BYTES: "text that is not UTF-8 is an array of bytes",
    FIXED_TEXT: "text of fixed length is text without its padding",
    BOOLEAN: "an enumeration of FALSE and TRUE is bool",
    ENUMERATION: "any other enumeration is its integers",
    REGION_REFERENCE: "a region reference is the path of its dataset and its selection, as JSON",
    REFERENCE_PATH: "an object reference in a dataset is the path of its target",
    NULL_REFERENCE: "a null reference is an empty path",
    DANGLING_REFERENCE: "a reference to an object that has no node is its path, or an empty one",
    REFERENCE_ATTRIBUTE: 'an object reference in an attribute is {"_REFERENCE": {"source", "path"}}',
    HARD_LINK: "a further name of an object is an entry of _LINKS",
    SOFT_LINK: "a soft link is an entry of _LINKS",
    EXTERNAL_LINK: "a link into another file is an entry of _LINKS, or the object it leads to",
    NON_FINITE_ATTRIBUTE: "a NaN or an infinity in an attribute is encoded as text (NaN without its payload)",
    BYTES_ATTRIBUTE: "bytes in an attribute are encoded as base64 text",
    COMPOUND_ATTRIBUTE: "a compound value in an attribute is an object of its fields",
    COMPLEX_ATTRIBUTE: "a complex number in an attribute is the pair of its parts",
    EMPTY_ATTRIBUTE: "an attribute with a null dataspace is null or empty",
    DIMENSION_SCALE: "the attributes by which HDF5 attaches dimension scales may be left out",
    DIMENSION_NAME: "an axis to which one dimension scale is attached has the name of that scale",
    NULL_DATASPACE: "a dataset with a null dataspace is an empty array, marked by _NULL_DATASPACE",
    ARRAY_TYPE: "the axes of an array datatype are the last axes of the array",
    ARRAY_FIELD: "an array in a compound is a struct of numbered fields, named in _ARRAY_FIELDS",
    COMPOUND_COLUMNS: "any other compound is a group of one member for each field, marked by _COLUMNS",
    RAGGED_GROUP: "variable-length sequences are a group of values and offsets, marked by _RAGGED",
    BYTE_ORDER: "values are compared in the machine's byte order",
    COMPOUND_TEXT: "text and references in a compound are text of a fixed width",
    COMPOUND_PADDING: "unused bytes between the fields of a compound are not compared",
    NAMED_DATATYPE: "a datatype stored as an object has no node",
    TYPE_ATTRIBUTE: "an attribute of a datatype stored as an object is in the section hdf5 of the document",
    WIDE_FLOAT: "a floating-point number wider than 64 bits is float64, when that holds its value",
    UNDEFINED_FILL: "a dataset whose fill value is undefined, or never written, may have zero",
    FILL_PAYLOAD: "a NaN fill value that zarr does not keep is stated bit for bit, and no chunk shows it",
    NEVER_WRITTEN: "chunks of a large array that neither side stores are its fill value, and not read",
    DATA_TYPE_ATTRIBUTE: "_DTYPE names the data type",
}
"""What each row allows, by name."""
