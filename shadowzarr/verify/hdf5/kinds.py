"""What zarr must show for an HDF5 datatype: verification's own reading of the convention.

From the numpy data type that h5py gives (with h5py's marks for text, references, enumerations and
sequences) to the kind of a zarr array. It does not look at what the references say; ``values`` and
``datasets`` compare.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import h5py
import numpy as np

from .. import mappings


class Form(Enum):
    """How values of a kind are compared."""

    PLAIN = "plain"
    TEXT = "text"
    REFERENCE = "reference"
    REGION = "region reference"
    COMPOUND = "compound"
    RAGGED = "ragged"


@dataclass(frozen=True)
class Kind:
    """What zarr must show for a datatype.

    Attributes
    ----------
    form : Form
        How values are compared.
    dtype : numpy.dtype or None
        For plain values the native data type.
    label : str or None
        The right value of ``_DTYPE``; None when there must be none.
    axes : tuple of int
        Axes that an array datatype adds to the dataset's.
    fields : tuple of (str, Kind)
        Of a compound, in order.
    item : Kind or None
        Of a sequence: what it holds.
    overlaps : bool
        Of a compound: whether h5py reads one field over another.
    uses : tuple of str
        Rows of the table of mappings that this kind relies on.
    """

    form: Form
    dtype: np.dtype[Any] | None = None
    label: str | None = None
    axes: tuple[int, ...] = ()
    fields: tuple[tuple[str, Kind], ...] = ()
    item: Kind | None = None
    uses: tuple[str, ...] = ()
    overlaps: bool = False

    @property
    def reference_fields(self) -> list[str]:
        """Names of the fields that hold object references."""
        return [name for name, kind in self.fields if kind.form is Form.REFERENCE]


def kind_of(dtype: np.dtype[Any]) -> Kind:
    """The kind of a data type as h5py gives it."""
    if dtype.subdtype is not None:
        base, axes = dtype.subdtype
        inner = kind_of(base)
        return _with(inner, axes=tuple(axes) + inner.axes, uses=(mappings.ARRAY_TYPE, *inner.uses))
    return _marked(dtype) or _plain(dtype)


def _marked(dtype: np.dtype[Any]) -> Kind | None:
    """Kinds that h5py marks in the data type's metadata."""
    text = h5py.check_string_dtype(dtype)
    if text is not None:
        used = mappings.TEXT if text.length is None else mappings.FIXED_TEXT
        return Kind(Form.TEXT, label="str", uses=(used,))
    reference = h5py.check_ref_dtype(dtype)
    if reference is h5py.Reference:
        return Kind(Form.REFERENCE, label="object_reference", uses=(mappings.REFERENCE_PATH,))
    if reference is not None:
        return Kind(Form.REGION, label="region_reference", uses=(mappings.REGION_REFERENCE,))
    item = h5py.check_vlen_dtype(dtype)
    if item is not None:
        return Kind(Form.RAGGED, item=kind_of(np.dtype(item)), uses=(mappings.RAGGED_GROUP,))
    if h5py.check_enum_dtype(dtype) is not None:
        inner = _plain(np.dtype(dtype.str))
        return _with(inner, axes=(), uses=(mappings.ENUMERATION, *inner.uses))
    return None


def _plain(dtype: np.dtype[Any]) -> Kind:
    if dtype.names is not None:
        return _compound(dtype)
    native = dtype.newbyteorder("=")
    uses: tuple[str, ...] = () if dtype.isnative else (mappings.BYTE_ORDER,)
    if is_wide(dtype):
        native = np.dtype("f8" if dtype.kind == "f" else "c16")
        uses = (mappings.WIDE_FLOAT,)
    if dtype.kind == "b":
        uses = (mappings.BOOLEAN, *uses)
    return Kind(Form.PLAIN, dtype=native, label=native.name, uses=uses)


def is_wide(dtype: np.dtype[Any]) -> bool:
    """Whether Zarr has no floating-point type as wide as this one."""
    return dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16)


def _compound(dtype: np.dtype[Any]) -> Kind:
    assert dtype.names is not None  # noqa: S101 - the caller looked
    assert dtype.fields is not None  # noqa: S101 - the same
    fields = tuple((name, kind_of(dtype.fields[name][0])) for name in dtype.names)
    forms = {kind.form for _, kind in fields}
    uses: list[str] = []
    if forms & {Form.TEXT, Form.REFERENCE}:
        uses.append(mappings.COMPOUND_TEXT)
    if any(kind.axes for _, kind in fields):
        uses.append(mappings.ARRAY_FIELD)
    if dtype.itemsize != sum(dtype.fields[name][0].itemsize for name in dtype.names):
        uses.append(mappings.COMPOUND_PADDING)
    inherited = {use for _, kind in fields for use in kind.uses} - {mappings.ARRAY_TYPE}
    ends = sorted((dtype.fields[name][1], dtype.fields[name][0].itemsize) for name in dtype.names)
    overlaps = any(start + size > after for (start, size), (after, _) in itertools.pairwise(ends))
    rows = (*uses, *sorted(inherited - set(uses)))
    return Kind(Form.COMPOUND, fields=fields, uses=rows, overlaps=overlaps)


def _with(kind: Kind, *, axes: tuple[int, ...], uses: tuple[str, ...]) -> Kind:
    return replace(kind, axes=axes, uses=uses)


def fits_struct(kind: Kind, *, in_group: bool = False) -> bool:
    """Whether a compound is a ``struct``, rather than a group of one member for each field.

    Parameters
    ----------
    kind : Kind
        Of a compound, or of one of its fields.
    in_group : bool
        Whether it lies in such a group, or in an array: then text and references are no fields either.
    """
    if kind.form is Form.COMPOUND:
        return all(fits_struct(field, in_group=in_group or bool(kind.axes)) for _, field in kind.fields)
    if kind.form in (Form.TEXT, Form.REFERENCE):
        return not in_group and not kind.axes
    return kind.form is Form.PLAIN


def shown_by(kind: Kind, dtype: np.dtype[Any], *, in_compound: bool = False) -> bool:
    """Whether a zarr array's data type is the right one for a kind; byte order is free.

    Parameters
    ----------
    kind : Kind
        What the original holds.
    dtype : numpy.dtype
        What zarr shows.
    in_compound : bool
        Whether it is a field, where text has a fixed width.
    """
    if in_compound and kind.axes:
        return _shown_numbered(kind, dtype)
    if kind.form is Form.TEXT and is_bytes(dtype):
        return True
    if kind.form is Form.REGION:
        return dtype.kind == "T" and not in_compound
    if kind.form in (Form.TEXT, Form.REFERENCE):
        return dtype.kind == ("U" if in_compound else "T")
    if kind.form is Form.PLAIN:
        assert kind.dtype is not None  # noqa: S101 - what a plain kind is
        return dtype.names is None and _same_plain(kind.dtype, dtype)
    if kind.form is not Form.COMPOUND or dtype.names is None or dtype.fields is None:
        return False
    if dtype.names != tuple(name for name, _ in kind.fields):
        return False
    return all(shown_by(field, dtype.fields[name][0], in_compound=True) for name, field in kind.fields)


def _shown_numbered(kind: Kind, dtype: np.dtype[Any]) -> bool:
    """Whether a field is the struct of numbered fields that stands for an array."""
    names = tuple(str(number) for number in range(math.prod(kind.axes)))
    if dtype.fields is None or dtype.names != names:
        return False
    part = _with(kind, axes=(), uses=kind.uses)
    return all(shown_by(part, dtype.fields[name][0], in_compound=True) for name in names)


def is_bytes(dtype: np.dtype[Any]) -> bool:
    """Whether a zarr array holds bytes, which is how text that is not UTF-8 is held."""
    return dtype.kind in "SO"


def _same_plain(wanted: np.dtype[Any], shown: np.dtype[Any]) -> bool:
    if wanted.kind in "mM":
        return wanted.newbyteorder("=") == shown.newbyteorder("=")  # the unit counts too
    return wanted.kind == shown.kind and wanted.itemsize == shown.itemsize


def misread(kind: Kind) -> str:
    """Why what h5py shows of a kind is wrong, or must not be asked for; empty when it can be trusted."""
    if kind.form is Form.RAGGED and kind.item is not None:
        if kind.item.form is Form.PLAIN and mappings.BYTE_ORDER in kind.item.uses:
            return "h5py 3.16 gives sequences of big-endian numbers with their bytes swapped"
        if _has_regions(kind.item):
            return "h5py 3.16 crashes when it reads sequences of region references"
        return misread(kind.item)
    if kind.overlaps:
        return "h5py 3.16 reads one field of the compound over another"
    return next((why for why in (misread(field) for _, field in kind.fields) if why), "")


def _has_regions(kind: Kind) -> bool:
    inner = [field for _, field in kind.fields] + ([kind.item] if kind.item is not None else [])
    return kind.form is Form.REGION or any(map(_has_regions, inner))


def is_unicode(name: str) -> bool:
    """Whether the bytes of a name are UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def all_uses(kind: Kind) -> list[str]:
    """Rows of the table of mappings that a kind and what is in it rely on, each once."""
    inner = [field for _, field in kind.fields] + ([kind.item] if kind.item is not None else [])
    uses = set(kind.uses) | {use for each in inner for use in all_uses(each)}
    if kind.form is Form.COMPOUND and not fits_struct(kind):
        uses.discard(mappings.COMPOUND_TEXT)
    return sorted(uses)


def describe(kind: Kind) -> str:
    """A kind in a few words, for reports."""
    if kind.form is Form.PLAIN:
        return str(kind.dtype)
    if kind.form is Form.COMPOUND:
        return "compound of " + ", ".join(f"{name} {describe(field)}" for name, field in kind.fields)
    if kind.form is Form.RAGGED and kind.item is not None:
        return f"sequences of {describe(kind.item)}"
    return str(kind.form.value)
