"""Attributes of both sides, and those that the convention adds.

An attribute's right value is worked out here from what h5py shows; the references' value is taken twice,
from the stored document (decoded by ``stored_attributes``) and as a user of zarr gets it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np

from .. import mappings
from ..references import attribute_path
from ..report import Plain
from ..tally import NOTHING
from .kinds import Form, Kind, kind_of, misread
from .original_file import READ_ERRORS, Identity, decoded_name, raw_name
from .region_references import selects
from .structure import Pair, Structure
from .values import text_item

RESERVED = frozenset(
    {
        "_DTYPE",
        "_LINKS",
        "_REFERENCE_FIELDS",
        "_ARRAY_FIELDS",
        "_RAGGED",
        "_COLUMNS",
        "_NULL_DATASPACE",
        "zarr_conventions",
    }
)
"""Names that the convention keeps for itself: an attribute of the original so named is left out."""

ADDED = RESERVED | {"_ARRAY_DIMENSIONS"}
"""Attributes that the convention adds; each is checked for what it says."""

DIMENSION_SCALE_ATTRIBUTES = frozenset({"REFERENCE_LIST", "DIMENSION_LIST"})
"""How HDF5 ties datasets and dimension scales together; they hold references inside sequences."""

_MISSING = object()


@dataclass(frozen=True)
class Target:
    """An object that a reference leads to; None for a null or dangling one."""

    identity: Identity | None

    def __repr__(self) -> str:
        return "a reference" if self.identity else "a null reference"


@dataclass(frozen=True)
class Region:
    """What a region reference selects; compared by `region_references`."""

    target: Target
    reference: Any
    holder: Any

    def __repr__(self) -> str:
        return "a region reference"


@dataclass
class Wanted:
    """The right value of an attribute, and the rows of the table of mappings it relies on."""

    value: Any
    uses: set[str] = field(default_factory=set)


class Unreadable(Exception):  # noqa: N818 - it is not an error of ours
    """h5py cannot read an attribute."""


def compare_attributes(structure: Structure, pair: Pair, extra: Mapping[str, Any]) -> None:
    """Compare all attributes of an object.

    Parameters
    ----------
    structure : Structure
        Both sides.
    pair : Pair
        The object and its node.
    extra : mapping
        What the convention adds to this node, by name: the right value, or `Optional`.
    """
    stored = structure.references.nodes[pair.path].attributes
    structure.tally.used(mappings.NON_FINITE_ATTRIBUTE, stored.non_finite)
    structure.tally.used(mappings.BYTES_ATTRIBUTE, stored.encoded_bytes)
    names = _names(structure, pair)
    for name in names:
        given = stored.values.get(name, _MISSING) if name not in RESERVED else _MISSING
        _compare_one(structure, pair, name, given)
    for name, value in stored.values.items():
        if name not in names or name in RESERVED:
            _check_added(structure, pair, name, value, extra)
    for name, wanted in extra.items():
        if wanted is not None and not isinstance(wanted, Optional) and name not in stored.values:
            structure.tally.differ(attribute_path(pair.path, name), "convention attribute", wanted, NOTHING)
    _compare_served(structure, pair, stored.values)


@dataclass(frozen=True)
class Optional:
    """An attribute of the convention that may be there; if so, ``check`` says what is wrong with it."""

    check: Callable[[Any], str]

    def __repr__(self) -> str:
        return "what the convention says"


def _names(structure: Structure, pair: Pair) -> list[str]:
    try:
        return [decoded_name(name) for name in pair.item.attrs]
    except READ_ERRORS as error:
        rest = structure.references.skipped.attribute_at(pair.path, "*")
        if rest is None:
            structure.tally.differ(pair.path, "unreadable original", Plain(f"attributes: {error}"), "a node")
        else:
            structure.tally.leave_out(attribute_path(pair.path, "*"), "attribute", rest["reason"])
        return []


def _compare_one(structure: Structure, pair: Pair, name: str, given: Any) -> None:
    path = attribute_path(pair.path, name)
    skipped = structure.references.skipped.attribute_at(pair.path, name)
    if skipped is not None:
        if given is _MISSING:
            structure.tally.leave_out(path, "attribute", skipped["reason"])
        else:
            structure.tally.differ(path, "skipped", "an attribute", "listed as left out, and there")
        return
    structure.tally.count("attributes")
    try:
        wanted = wanted_attribute(structure, pair, name)
    except Unreadable as error:
        shown = NOTHING if given is _MISSING else given
        structure.tally.differ(path, "unreadable original", Plain(str(error)), shown)
        return
    if given is _MISSING:
        _compare_absent(structure, path, name, wanted)
    elif _equal(structure, wanted.value, given):
        for use in wanted.uses:
            structure.tally.used(use)
    else:
        structure.tally.differ(path, "attribute", wanted.value, given)


def _compare_absent(structure: Structure, path: str, name: str, wanted: Wanted) -> None:
    if name in DIMENSION_SCALE_ATTRIBUTES:
        structure.tally.used(mappings.DIMENSION_SCALE)
    elif isinstance(wanted.value, h5py.Empty):
        structure.tally.used(mappings.EMPTY_ATTRIBUTE)
    else:
        structure.tally.differ(path, "attribute", wanted.value, NOTHING)


def _check_added(structure: Structure, pair: Pair, name: str, value: Any, extra: Mapping[str, Any]) -> None:
    path = attribute_path(pair.path, name)
    wanted = extra.get(name)
    if isinstance(wanted, Optional):
        complaint = wanted.check(value)
        if complaint:
            structure.tally.differ(path, "convention attribute", Plain(complaint), value)
    elif name not in ADDED or wanted is None:
        structure.tally.differ(path, "extra attribute", NOTHING, value)
    elif wanted != value or type(wanted) is not type(value):
        structure.tally.differ(path, "convention attribute", wanted, value)
    elif name == "_DTYPE":
        structure.tally.used(mappings.DATA_TYPE_ATTRIBUTE)


def _compare_served(structure: Structure, pair: Pair, stored: Mapping[str, Any]) -> None:
    """A user of zarr must get the same as the document holds."""
    try:
        served = structure.references.served_attributes(pair.path)
    except Exception as error:  # noqa: BLE001 - a store may raise anything; it becomes a difference
        structure.tally.differ(pair.path, "unreadable references", "a node", _reason(error))
        return
    for name in sorted(set(stored) | set(served)):
        if not _equal(structure, stored.get(name, _MISSING), served.get(name, _MISSING)):
            structure.tally.differ(
                attribute_path(pair.path, name), "served attribute", stored.get(name), served.get(name)
            )


def _reason(error: Exception) -> Plain:
    return Plain(f"{type(error).__name__}: {error}")


def wanted_attribute(structure: Structure, pair: Pair, name: str) -> Wanted:
    """The right value of an attribute: JSON values, `Target`, `bytes`, or `h5py.Empty`.

    Raises
    ------
    Unreadable
        When h5py cannot read it.
    """
    try:
        attribute = pair.item.attrs.get_id(raw_name(name))
        kind = kind_of(attribute.dtype)
        if misread(kind):
            raise Unreadable(misread(kind))
        value = _opaque(attribute) if _is_opaque(attribute) else pair.item.attrs[raw_name(name)]
    except READ_ERRORS as error:
        raise Unreadable(str(error)) from error
    wanted = Wanted(None)
    _note_kind(wanted, kind)
    wanted.value = _json(structure, pair, value, wanted)
    if name == ".specloc" and isinstance(wanted.value, Target) and not pair.path:
        wanted = Wanted(_Specloc(wanted.value.identity), {mappings.SPECLOC_PATH})
    return wanted


def _is_opaque(attribute: Any) -> bool:
    return attribute.shape is not None and attribute.get_type().get_class() == h5py.h5t.OPAQUE


def _opaque(attribute: Any) -> Any:
    """Opaque values in their own type: h5py asks for a type without their tag, which HDF5 refuses."""
    tid = attribute.get_type()
    values = np.zeros(attribute.shape, f"V{tid.get_size()}")
    attribute.read(values, mtype=tid)
    return values


@dataclass(frozen=True)
class _Specloc:
    """The target of ``.specloc``, which is stored as a plain path."""

    identity: Identity | None


def _note_kind(wanted: Wanted, kind: Kind) -> None:
    if kind.form is Form.COMPOUND:
        wanted.uses.add(mappings.COMPOUND_ATTRIBUTE)
    elif kind.form is Form.PLAIN:
        wanted.uses |= {use for use in kind.uses if use != mappings.BYTE_ORDER}
    elif kind.form is Form.TEXT and mappings.FIXED_TEXT in kind.uses:
        wanted.uses.add(mappings.FIXED_TEXT)


def _json(structure: Structure, pair: Pair, value: Any, wanted: Wanted) -> Any:
    """A value as h5py gives it, as the JSON value it should be."""
    if isinstance(value, np.ndarray):
        return _json_array(structure, pair, value, wanted)
    if isinstance(value, h5py.Empty):
        wanted.uses.add(mappings.EMPTY_ATTRIBUTE)
        return value
    if isinstance(value, h5py.RegionReference):
        wanted.uses.add(mappings.REGION_REFERENCE)
        target = Target(structure.original.target(value, pair.item))
        return Region(target, value, pair.item) if target.identity is not None else target
    if isinstance(value, h5py.Reference):
        wanted.uses.add(mappings.REFERENCE_ATTRIBUTE)
        return Target(structure.original.target(value, pair.item))
    if isinstance(value, str | bytes):
        return text_item(value)
    if isinstance(value, np.void):
        if value.dtype.names is None:
            return value.tobytes()
        return {name: _json(structure, pair, value[name], wanted) for name in value.dtype.names}
    if isinstance(value, complex | np.complexfloating):
        wanted.uses.add(mappings.COMPLEX_ATTRIBUTE)
        return [float(value.real), float(value.imag)]
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value.tobytes()
    if isinstance(value, np.longdouble) and (np.isnan(value) or np.longdouble(float(value)) == value):
        wanted.uses.add(mappings.WIDE_FLOAT)
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def _json_array(structure: Structure, pair: Pair, value: Any, wanted: Wanted) -> Any:
    if value.ndim == 0:
        return _json(structure, pair, value[()], wanted)
    if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
        return value.tolist()
    return [_json(structure, pair, item, wanted) for item in value]


def _equal(structure: Structure, wanted: Any, given: Any) -> bool:
    """Whether a value is the right one: types count, NaN equals NaN, 0.0 is not -0.0."""
    if isinstance(wanted, Target | _Specloc):
        return _leads(structure, wanted, given)
    if isinstance(wanted, Region):
        return _selects(structure, wanted, given)
    if isinstance(wanted, h5py.Empty):
        return given is None or given == [] or given == ""
    if isinstance(wanted, Mapping):
        return (
            isinstance(given, Mapping)
            and set(wanted) == set(given)
            and all(_equal(structure, wanted[name], given[name]) for name in wanted)
        )
    if isinstance(wanted, list):
        return (
            isinstance(given, list)
            and len(wanted) == len(given)
            and all(_equal(structure, one, other) for one, other in zip(wanted, given, strict=True))
        )
    if type(wanted) is not type(given):
        return False
    if isinstance(wanted, float):
        same_sign = math.copysign(1, wanted) == math.copysign(1, given)
        return (wanted == given and same_sign) or (math.isnan(wanted) and math.isnan(given))
    return bool(wanted == given)


def _leads(structure: Structure, wanted: Target | _Specloc, given: Any) -> bool:
    if isinstance(wanted, _Specloc):
        plain = isinstance(given, str) and not given.startswith("/")
        return plain and structure.leads(wanted.identity, f"/{given}")
    if wanted.identity is None:
        return bool(given == "")
    if not isinstance(given, Mapping) or set(given) != {"_REFERENCE"}:
        return False
    inner = given["_REFERENCE"]
    if not isinstance(inner, Mapping) or set(inner) != {"source", "path"} or inner["source"] != ".":
        return False
    path = inner["path"]
    return isinstance(path, str) and path.startswith("/") and structure.leads(wanted.identity, path)


def _selects(structure: Structure, wanted: Region, given: Any) -> bool:
    """Whether a region reference is written as its target and what it selects of it."""
    if not isinstance(given, Mapping) or not isinstance(given.get("_REFERENCE"), Mapping):
        return False
    inner = dict(given["_REFERENCE"])
    described = inner.pop("region", None)
    leads = _leads(structure, wanted.target, {**given, "_REFERENCE": inner})
    return leads and selects(wanted.reference, wanted.holder, described)
