"""What an HDF5 object is taken to be by its Zarr side alone: pure, metadata in, JSON out.

A description holds only what differs from this, so that what h5py, pynwb and their like write by default
needs no description at all. Changing a default changes the meaning of documents that exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .spaces import NULL, simple

TEXT: dict[str, Any] = {
    "class": "H5T_STRING",
    "charSet": "H5T_CSET_UTF8",
    "strPad": "H5T_STR_NULLTERM",
    "length": "H5T_VARIABLE",
}
REFERENCE: dict[str, Any] = {"class": "H5T_REFERENCE", "base": "H5T_STD_REF_OBJ"}
BOOLEAN: dict[str, Any] = {
    "class": "H5T_ENUM",
    "base": {"class": "H5T_INTEGER", "base": "H5T_STD_I8LE"},
    "mapping": {"FALSE": 0, "TRUE": 1},
}
INTEGER: dict[str, Any] = {"class": "H5T_INTEGER", "base": "H5T_STD_I64LE"}
FLOAT: dict[str, Any] = {"class": "H5T_FLOAT", "base": "H5T_IEEE_F64LE"}

RAGGED = "_RAGGED"
COLUMNS = "_COLUMNS"
IN_PARTS = frozenset({RAGGED, COLUMNS})
"""Attributes of a group that stands for one dataset; what is in it is no object of the HDF5 file."""

NULL_DATASPACE = "_NULL_DATASPACE"
CONVENTION = frozenset(
    {
        "_DTYPE",
        "_LINKS",
        "_REFERENCE_FIELDS",
        "_ARRAY_FIELDS",
        RAGGED,
        COLUMNS,
        NULL_DATASPACE,
        "zarr_conventions",
    }
)
"""Attributes that the Zarr side has for itself."""

_NUMBERS = {
    "i": ("H5T_INTEGER", "H5T_STD_I"),
    "u": ("H5T_INTEGER", "H5T_STD_U"),
    "f": ("H5T_FLOAT", "H5T_IEEE_F"),
}


def default_type(metadata: Mapping[str, Any]) -> Any:
    """Datatype of the dataset that an array of this metadata is taken to be; None when there is none."""
    if "data_type" not in metadata:
        return None  # a group
    if metadata.get("attributes", {}).get("_DTYPE") == "object_reference":
        return REFERENCE
    return _type(metadata["data_type"], _is_big(metadata), metadata.get("attributes", {}))


def default_shape(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Dataspace of the dataset that an array, or a group of sequences, is taken to be."""
    attributes = metadata.get("attributes", {})
    if attributes.get(NULL_DATASPACE):
        return NULL
    for marker in IN_PARTS & set(attributes):
        return simple(list(attributes[marker]["shape"]))
    return simple(list(metadata["shape"]))


def chunk_shape(metadata: Mapping[str, Any]) -> list[int]:
    """Chunk shape in an array's metadata."""
    grid: dict[str, Any] = metadata["chunk_grid"]["configuration"]
    return list(grid["chunk_shape"])


def _is_big(metadata: Mapping[str, Any]) -> bool:
    codecs = metadata.get("codecs", [])
    return any(codec.get("configuration", {}).get("endian") == "big" for codec in codecs)


def _type(data_type: Any, is_big: bool, attributes: Mapping[str, Any]) -> Any:
    order = "BE" if is_big else "LE"
    if isinstance(data_type, str):
        return _plain(data_type, order)
    configuration = data_type.get("configuration", {})
    match data_type["name"]:
        case "struct":
            fields = configuration["fields"]
            references = attributes.get("_REFERENCE_FIELDS", [])
            return {"class": "H5T_COMPOUND", "fields": [_field(f, is_big, references) for f in fields]}
        case "fixed_length_utf32":
            return TEXT
        case "null_terminated_bytes":
            length = {"length": configuration["length_bytes"]}
            return {**TEXT, "charSet": "H5T_CSET_ASCII", "strPad": "H5T_STR_NULLPAD", **length}
        case "raw_bytes":
            return {"class": "H5T_OPAQUE", "size": configuration["length_bytes"], "tag": ""}
        case _:
            return None


def _field(field: Mapping[str, Any], is_big: bool, references: list[str]) -> dict[str, Any]:
    is_reference = field["name"] in references
    return {
        "name": field["name"],
        "type": REFERENCE if is_reference else _type(field["data_type"], is_big, {}),
    }


def _plain(name: str, order: str) -> Any:
    if name in ("string", "variable_length_bytes"):
        return TEXT
    if name == "bool":
        return BOOLEAN
    if name.startswith("complex"):
        bits = int(name.removeprefix("complex")) // 2
        part = {"class": "H5T_FLOAT", "base": f"H5T_IEEE_F{bits}{order}"}
        return {"class": "H5T_COMPOUND", "fields": [{"name": n, "type": part} for n in ("r", "i")]}
    kind = name[:1]
    digits = name.lstrip("abcdefghijklmnopqrstuvwxyz")
    if kind not in _NUMBERS or not digits:
        return None
    described, base = _NUMBERS[kind]
    return {"class": described, "base": f"{base}{digits}{'LE' if digits == '8' else order}"}


def default_attribute(value: Any) -> tuple[Any, dict[str, Any]]:
    """Datatype and dataspace of the attribute that a value is taken to be.

    Parameters
    ----------
    value : JSON
        Decoded: numbers that are not finite and bytes are Python's own.

    Returns
    -------
    type : JSON or None
        None when the value says too little.
    shape : dict
        The dataspace.
    """
    if value is None:
        return None, NULL
    dims: list[int] = []
    while isinstance(value, list):
        dims.append(len(value))
        value = value[0] if value else None
    return _attribute_type(value), simple(dims)


def _attribute_type(value: Any) -> Any:
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int):
        return INTEGER
    if isinstance(value, float):
        return FLOAT
    if isinstance(value, str):
        return TEXT
    return REFERENCE if isinstance(value, dict) and "_REFERENCE" in value else None
