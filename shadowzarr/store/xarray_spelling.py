"""Attributes of the CF conventions as xarray reads them in Zarr v3.

HDF5 and NetCDF keep attributes as lists of one number, where xarray expects numbers: a list as
``scale_factor`` makes Python objects of an array's values. And xarray (2026, ``backends/zarr.py``,
``FillValueCoder``) reads ``_FillValue`` of a Zarr v3 array in the form in which it writes it: floating-point
numbers as the base64 of their eight bytes, integers and booleans as one number. A number, or a list of one as
NetCDF files have it, it refuses with the whole file. VirtualiZarr writes the same form.

What HDF5 and NetCDF keep house by is left away, as xarray's readers of NetCDF do: lists of references to
dimension scales, which ``to_netcdf`` cannot write, and arrays for dimensions without values. Pure.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from typing import Any

_NAME = "_FillValue"
_NUMBERS = ("scale_factor", "add_offset", "missing_value")
_HOUSEKEEPING = frozenset({"DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Coordinates", "_Netcdf4Dimid"})
_CLASS, _IS_SCALE, _SCALE_NAME = "CLASS", "DIMENSION_SCALE", "NAME"
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"
"""How the name begins that NetCDF-4 gives to the scale of a dimension without values."""
_SPELLINGS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def spelled_for_xarray(document: Mapping[str, Any]) -> dict[str, Any]:
    """A ``zarr.json`` with attributes as xarray reads them, and without those for housekeeping.

    Parameters
    ----------
    document : mapping
        Of any node. Left as they are: arrays with axes that have no names, which xarray does not open, values
        that are spelled so already, and values that are no single number.
    """
    attributes = document.get("attributes")
    if not isinstance(attributes, Mapping) or not _has_names(document):
        return dict(document)
    spelled = {name: _alone(attributes[name]) for name in _NUMBERS if name in attributes}
    if _NAME in attributes:
        spelled[_NAME] = _spelled(attributes[_NAME], document.get("data_type"))
    hidden = _HOUSEKEEPING | ({_CLASS, _SCALE_NAME} if attributes.get(_CLASS) == _IS_SCALE else set())
    kept = {name: value for name, value in attributes.items() if name not in hidden}
    return {**document, "attributes": {**kept, **spelled}}


def is_bare_dimension(document: Mapping[str, Any]) -> bool:
    """Whether a ``zarr.json`` is of an array that stands for a dimension of NetCDF-4 and has no values."""
    attributes = document.get("attributes")
    if document.get("node_type") != "array" or not isinstance(attributes, Mapping):
        return False
    is_scale = attributes.get(_CLASS) == _IS_SCALE
    return is_scale and str(attributes.get(_SCALE_NAME)).startswith(NO_VARIABLE)


def _has_names(document: Mapping[str, Any]) -> bool:
    """Whether it is an array whose axes all have names."""
    if document.get("node_type") != "array":
        return False
    names = document.get("dimension_names") or ()
    return len(names) == len(document.get("shape") or ()) and None not in names


def _alone(value: Any) -> Any:
    """A number that is alone in a list; anything else as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 and _is_number(value[0]) else value


def _spelled(value: Any, data_type: Any) -> Any:
    one = value[0] if isinstance(value, list) and len(value) == 1 else value
    kind = data_type if isinstance(data_type, str) else ""
    if kind.startswith("float"):
        number: Any = _SPELLINGS.get(one, one) if isinstance(one, str) else one
        return _base64(number) if _is_number(number) else value
    if kind.startswith(("int", "uint")):
        return one if _is_number(one) else value
    if kind == "bool":
        return one if isinstance(one, bool | int) else value
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _base64(number: float) -> str:
    return base64.standard_b64encode(struct.pack("<d", float(number))).decode()
