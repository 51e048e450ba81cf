"""What a TIFF file says beside its values → attributes, ready for JSON.

Sizes are limited, as some programs write megabytes of text: what is left out is told by name.
"""

from __future__ import annotations

import datetime
import enum
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .compressions import compression_name
from .reasons import short_reason

MOST_TEXT: Final = 2**20
"""Bytes of one attribute in JSON, above which it is left out."""
MOST_PART: Final = 2**16
"""The same for one entry of an attribute."""

_FORMATS: Final = (
    "imagej", "scanimage", "lsm", "stk", "micromanager", "fluoview", "nih", "mdgel", "sis", "geotiff",
)  # fmt: skip
"""Programs and conventions whose metadata tifffile reads, by the name of its property without the ending."""

_NGFF_AXES: Final = "tczyx"
_AXIS_TYPES: Final = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}
_MOST_COORDINATES: Final = 2**24
_PALETTE = 3
_X_RESOLUTION, _RESOLUTION_UNIT = 282, 296
_UNITS: Final = {1: "none", 2: "inch", 3: "centimeter", 4: "millimeter", 5: "micrometer"}
_MOST_DESCRIPTION: Final = 4096


@dataclass(slots=True)
class Attributes:
    """Attributes of a node.

    Attributes
    ----------
    values : dict
        By name; JSON values.
    skipped : dict of str to str
        Reasons, by the names of what is left out.
    """

    values: dict[str, Any] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, value: Any) -> None:
        """Add an attribute, unless there is nothing in it or it is too large."""
        if value is None or value == {}:
            return
        value = json_value(value)
        size = json_size(value)
        if size > MOST_TEXT:
            self.skipped[name] = f"{size:,} bytes of JSON; attributes hold up to {MOST_TEXT:,}"
            return
        self.values[name] = value

    def attempt(self, name: str, make: Callable[[], Any]) -> None:
        """Add an attribute, unless tifffile fails on what it is made of."""
        try:
            value = make()
        except Exception as error:  # noqa: BLE001 - parsers of what other programs wrote meet anything
            self.skipped[name] = f"tifffile cannot read it: {short_reason(error)}"
            return
        self.add(name, value)

    def add_parts(self, name: str, parts: Mapping[str, Any]) -> None:
        """Add an attribute without those of its entries that are too large."""
        kept: dict[str, Any] = {}
        for key, value in parts.items():
            value = json_value(value)
            size = json_size(value)
            if size > MOST_PART:
                self.skipped[f"{name}.{key}"] = f"{size:,} bytes of JSON; entries hold up to {MOST_PART:,}"
            else:
                kept[str(key)] = value
        self.add(name, kept)


def file_attributes(tif: Any) -> Attributes:
    """Attributes of the root: ``tiff``, and the metadata that are those of the whole file.

    Parameters
    ----------
    tif : TiffFile
        The file.
    """
    found = Attributes()
    found.attempt("tiff", lambda: _about_file(tif))
    for name in _FORMATS:
        _add_metadata(found, name, tif)
    if tif.is_ome:
        found.attempt("ome_xml", lambda: tif.ome_metadata)
    return found


def level_attributes(level: Any) -> Attributes:
    """Attributes of the array of a series or level: ``tiff``, scales and units of axes.

    Parameters
    ----------
    level : TiffPageSeries
        The level.
    """
    found = Attributes()
    names = dict(zip(level.dims, dimension_names(level), strict=True))
    found.attempt("tiff", lambda: _about_level(level))
    found.attempt("scale", lambda: {names[axis]: step for axis, step in scales(level).items()})
    found.attempt("units", lambda: {names[axis]: unit for axis, unit in _units(level).items()})
    return found


def dimension_names(level: Any) -> list[str]:
    """Names of the axes: tifffile's letters, in lower case as OME-Zarr has them."""
    letters = list(level.dims)
    lower = [letter.lower() for letter in letters]
    return lower if len(set(lower)) == len(lower) else letters


def scales(level: Any) -> dict[str, float]:
    """Steps between pixels along axes, by tifffile's letters, as far as the file says them."""
    if max(level.shape, default=1) > _MOST_COORDINATES:
        return {}  # tifffile makes a coordinate for every pixel
    steps = level.coord_scales.items()
    return {axis: float(step) for axis, step in steps if axis in level.dims and math.isfinite(step)}


def multiscales(levels: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """What OME-Zarr 0.5 says of a pyramid; None when its axes are not those that OME-Zarr allows.

    Parameters
    ----------
    levels : mapping of str to TiffPageSeries
        By path; the first has the full resolution.
    name : str
        Of the series.
    """
    first = next(iter(levels.values()))
    names = dimension_names(first)
    if sorted(names, key=_NGFF_AXES.find) != names or not {"y", "x"} <= set(names) <= set(_NGFF_AXES):
        return None
    try:
        base, units = scales(first), _units(first)
    except Exception:  # noqa: BLE001 - it is told where the attributes of the level are made
        return None
    axes = [
        {"name": axis, "type": _AXIS_TYPES[axis]} | ({"unit": units[letter]} if letter in units else {})
        for axis, letter in zip(names, first.dims, strict=True)
    ]
    datasets = [
        {
            "path": path,
            "coordinateTransformations": [
                {
                    "type": "scale",
                    "scale": [
                        base.get(letter, 1.0) * full / extent
                        for letter, full, extent in zip(first.dims, first.shape, level.shape, strict=True)
                    ],
                }
            ],
        }
        for path, level in levels.items()
        if len(level.shape) == len(first.shape)
    ]
    return {"version": "0.5", "multiscales": [{"name": name, "axes": axes, "datasets": datasets}]}


def json_value(value: Any) -> Any:
    """A value of tifffile's as JSON has it; NaN, infinities and bytes are the builder's matter."""
    match value:
        case None | bool() | str() | bytes():
            return value
        case enum.Enum():
            return value.name
        case int():
            return int(value)
        case float():
            return float(value)
        case complex():
            return [value.real, value.imag]
        case datetime.datetime() | datetime.date():
            return value.isoformat()
        case np.generic() | np.ndarray():
            is_plain = value.dtype.kind in "biufSU"
            return json_value(value.tolist()) if is_plain else str(value.tolist())
        case Mapping():
            return {str(key): json_value(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [json_value(item) for item in value]
        case _:
            return str(value)


def json_size(value: Any) -> int:
    """Characters of a value in JSON."""
    return len(json.dumps(value, default=lambda data: " " * (len(data) * 4 // 3)))


def _units(level: Any) -> dict[str, str]:
    if max(level.shape, default=1) > _MOST_COORDINATES:
        return {}
    return {axis: str(unit) for axis, unit in level.coord_units.items() if axis in level.dims}


def _about_file(tif: Any) -> dict[str, Any]:
    first = tif.pages.first
    about = {
        "byteorder": "big" if tif.byteorder == ">" else "little",
        "bigtiff": bool(tif.is_bigtiff),
        "software": first.software or None,
        "datetime": None if first.datetime is None else first.datetime.isoformat(),
    }
    return {name: value for name, value in about.items() if value is not None}


def _about_level(level: Any) -> dict[str, Any]:
    keyframe = level.keyframe
    about = {
        "kind": level.kind,
        "name": level.name or None,
        "axes": level.axes,
        "compression": compression_name(int(keyframe.compression)),
        "photometric": _enum_name(keyframe.photometric),
        "bits_per_sample": keyframe.bitspersample,
        "predictor": None if keyframe.predictor == 1 else _enum_name(keyframe.predictor),
        "resolution": _resolution(keyframe),
        "description": _description(keyframe),
        "colormap": keyframe.colormap if keyframe.photometric == _PALETTE else None,
    }
    return {name: value for name, value in about.items() if value is not None}


def _add_metadata(found: Attributes, name: str, tif: Any) -> None:
    """The metadata of a program, as tifffile reads them."""
    try:
        metadata = getattr(tif, f"{name}_metadata") if getattr(tif, f"is_{name}", False) else None
    except Exception as error:  # noqa: BLE001 - parsers of what other programs wrote meet anything
        found.skipped[name] = f"tifffile cannot read it: {short_reason(error)}"
        return
    if isinstance(metadata, Mapping):
        found.add_parts(name, metadata)


def _resolution(keyframe: Any) -> dict[str, Any] | None:
    """Pixels per unit; None when the file does not say."""
    if _X_RESOLUTION not in keyframe.tags:
        return None
    x, y = keyframe.resolution
    return {"x": x, "y": y, "unit": _UNITS.get(int(keyframe.tags.valueof(_RESOLUTION_UNIT, 2)), "none")}


def _description(keyframe: Any) -> str | None:
    """What people wrote; what programs wrote is in the attributes of the root."""
    text = keyframe.description
    is_program = not text or text[0] in "{<" or text.startswith(("ImageJ=", "SCIFIO=", "shape="))
    return None if is_program or len(text) > _MOST_DESCRIPTION else text


def _enum_name(value: Any) -> str:
    return value.name.lower() if isinstance(value, enum.Enum) else str(value)
