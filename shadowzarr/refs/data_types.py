"""Zarr v3 data types: their bytes, their zero, and those of numpy's types (Zarr v3 core, "Data types").

Pure, and for the types that Zarr writes itself without zarr, which takes long to import. A type that
another package has registered with zarr is asked for there.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing import TypeGuard

    from zarr.core.dtype import ZDType

DType = np.dtype[Any]

DataType = str | dict[str, Any]
"""A data type as ``zarr.json`` has it: a name, or an object with a name and a configuration."""

_ITEM_NBYTES = {
    "bool": 1,
    **{f"{sign}int{8 * size}": size for sign in ("", "u") for size in (1, 2, 4, 8)},
    **{f"float{8 * size}": size for size in (2, 4, 8)},
    **{f"complex{8 * size}": size for size in (8, 16)},
}
_VARIABLE = ("string", "variable_length_bytes", "bytes")
_FIXED = ("raw_bytes", "null_terminated_bytes", "fixed_length_utf32")
_TIMES = ("numpy.datetime64", "numpy.timedelta64")
_LARGEST_ITEM = 2**31 - 1
_NOT_ZARR_S = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What zarr's data types raise on descriptions that are not theirs."""


def item_nbytes(data_type: DataType) -> int | None:
    """Bytes of an element as the ``bytes`` codec lays it out; None for one of variable length.

    Raises
    ------
    ValueError
        When zarr does not know the data type.
    """
    if isinstance(data_type, str):
        if data_type in _ITEM_NBYTES:
            return _ITEM_NBYTES[data_type]
        return None if data_type in _VARIABLE else _nbytes_by_zarr(data_type)
    name, configuration = _parts(data_type)
    if name in _FIXED:
        nbytes = configuration.get("length_bytes")
        unit = 4 if name == "fixed_length_utf32" else 1
        if set(configuration) == {"length_bytes"} and _is_length(nbytes) and nbytes % unit == 0:
            return nbytes
    fields = _fields(name, configuration)
    if fields is not None:
        sizes = [item_nbytes(field["data_type"]) for field in fields]
        if all(size is not None for size in sizes):
            return sum(size for size in sizes if size is not None)
    return _nbytes_by_zarr(data_type)


def zero_fill(data_type: DataType) -> Any:
    """The fill value that is all zero, empty for text, in the form that ``zarr.json`` has it.

    Raises
    ------
    ValueError
        When zarr does not know the data type.
    """
    if isinstance(data_type, str):
        if data_type in _VARIABLE:
            return ""
        if data_type == "bool":
            return False
        if data_type in _ITEM_NBYTES:
            return [0, 0] if data_type.startswith("complex") else 0
        return _zero_by_zarr(data_type)
    name, configuration = _parts(data_type)
    item_nbytes(data_type)
    fields = _fields(name, configuration)
    if fields is not None:
        return {field["name"]: zero_fill(field["data_type"]) for field in fields}
    if name == "raw_bytes":
        return base64.b64encode(bytes(configuration["length_bytes"])).decode()
    if name in _TIMES:
        return 0
    return "" if name in _FIXED else _zero_by_zarr(data_type)


def data_type_of(dtype: DType) -> DataType:
    """The Zarr data type of a numpy data type; byte order is the codec's matter.

    An array inside a compound is a struct whose fields are numbered in C order, which has the same bytes.

    Raises
    ------
    ValueError
        When Zarr has no such type.
    """
    if dtype.subdtype is not None:
        part = data_type_of(dtype.subdtype[0])
        numbered = [{"name": str(n), "data_type": part} for n in range(math.prod(dtype.shape))]
        return {"name": "struct", "configuration": {"fields": numbered}}
    if dtype.names is not None:
        fields = [{"name": name, "data_type": data_type_of(dtype[name])} for name in dtype.names]
        return {"name": "struct", "configuration": {"fields": fields}}
    if dtype.kind in "biufc" and dtype.itemsize <= (16 if dtype.kind == "c" else 8):
        return str(dtype.newbyteorder("=").name)
    if dtype.kind in "mM":
        unit, factor = np.datetime_data(dtype)
        kind = "datetime64" if dtype.kind == "M" else "timedelta64"
        return {"name": f"numpy.{kind}", "configuration": {"unit": unit, "scale_factor": factor}}
    names = {"V": "raw_bytes", "S": "null_terminated_bytes", "U": "fixed_length_utf32"}
    if dtype.kind in names and dtype.itemsize:
        return {"name": names[dtype.kind], "configuration": {"length_bytes": dtype.itemsize}}
    raise ValueError(f"Zarr has no data type for {dtype}")


def byte_orders(dtype: DType) -> set[str]:
    """The byte orders (``"little"``, ``"big"``) of a data type's parts; single bytes have none."""
    if dtype.subdtype is not None:
        return byte_orders(dtype.subdtype[0])
    if dtype.fields is not None:
        return set().union(*(byte_orders(field[0]) for field in dtype.fields.values()))
    if dtype.itemsize <= 1 or dtype.kind in "SVbO":
        return set()
    return {"big" if dtype.byteorder == ">" else "little"}


def bytes_codec(dtype: DType) -> dict[str, Any]:
    """Zarr's ``bytes`` codec for values of a data type with one byte order."""
    return {"name": "bytes", "configuration": {"endian": "big" if "big" in byte_orders(dtype) else "little"}}


def _parts(data_type: DataType) -> tuple[Any, Mapping[str, Any]]:
    """Name and configuration of a data type that is an object."""
    if not isinstance(data_type, Mapping) or not isinstance(data_type.get("name"), str):
        raise ValueError(  # noqa: TRY004  # as for every other data type that is none
            f"{str(data_type)[:80]!r} is no data type; expected a name, or an object with one"
        )
    configuration = data_type.get("configuration")
    return data_type["name"], configuration if isinstance(configuration, Mapping) else {}


def _fields(name: str, configuration: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Fields of a struct in the form that is written today; None for anything else."""
    fields = configuration.get("fields") if name == "struct" else None
    if not isinstance(fields, list) or not fields:
        return None
    is_plain = all(isinstance(field, Mapping) and set(field) == {"name", "data_type"} for field in fields)
    return fields if is_plain else None


def _is_length(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _LARGEST_ITEM


def _asked_of_zarr(data_type: DataType) -> ZDType[Any, Any]:
    from zarr.dtype import parse_dtype

    try:
        found = parse_dtype(data_type, zarr_format=3)
        found.to_native_dtype()
    except _NOT_ZARR_S as error:
        raise ValueError(f"{str(data_type)[:80]!r} is no data type that zarr knows: {error}") from error
    return found


def _nbytes_by_zarr(data_type: DataType) -> int | None:
    found = _asked_of_zarr(data_type)
    return int(found.to_native_dtype().itemsize) if hasattr(found, "item_size") else None


def _zero_by_zarr(data_type: DataType) -> Any:
    found = _asked_of_zarr(data_type)
    return found.to_json_scalar(found.default_scalar(), zarr_format=3)
