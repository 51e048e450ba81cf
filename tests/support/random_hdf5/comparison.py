"""What references give, compared with ``dataset[...]`` of h5py, without the verification of the library.

Deliberately short: its own reading of what a value becomes, so that an error shared by the generator and
the verification is seen.
"""

from __future__ import annotations

import json
from typing import Any

import h5py
import numpy as np
import zarr
from h5py import h5s


def complaint(dataset: h5py.Dataset, node: Any, file: h5py.File) -> str:
    """What is wrong with the array that stands for a dataset; empty when nothing is."""
    dtype = dataset.dtype
    if dataset.shape is None:
        return "" if node.attrs.get("_NULL_DATASPACE") is True else "no mark of a null dataspace"
    if dtype.kind == "O" and h5py.check_string_dtype(dtype) is None and h5py.check_vlen_dtype(dtype):
        return _sequences(dataset, node, file)
    if not isinstance(node, zarr.Array):
        return "no array"
    try:
        wanted = dataset[...]
    except (OSError, TypeError):
        if h5py.check_string_dtype(dtype) is not None:
            return _unfilled(dataset, node)
        wanted = _unconverted(dataset)
    given = node[...]
    if np.shape(given) != np.shape(wanted):
        return f"shape {np.shape(given)}, not {np.shape(wanted)}"
    return _different(np.asarray(wanted), np.asarray(given), dtype, file)


def _unconverted(dataset: h5py.Dataset) -> np.ndarray:
    """Values in the type of the file: HDF5 converts no opaque values that have a tag."""
    values = np.zeros(dataset.shape, dataset.dtype)
    dataset.id.read(h5s.ALL, h5s.ALL, values, dataset.id.get_type())
    return values


def _unfilled(dataset: h5py.Dataset, node: zarr.Array) -> str:
    """Text that was never written, whose fill value HDF5 2.0 cannot give for a file opened to read."""
    shown = {str(item) for item in np.asarray(node[...], object).reshape(-1)}
    return "" if dataset.shape == node.shape and shown else "unwritten text"


def _different(wanted: np.ndarray, given: np.ndarray, dtype: np.dtype, file: h5py.File) -> str:
    base = dtype.subdtype[0] if dtype.subdtype else dtype
    if given.dtype.names is not None and base.names is None:  # an array in a compound has numbered fields
        given = np.stack([given[name] for name in given.dtype.names], axis=-1).reshape(wanted.shape)
    if base.names is not None:
        named = ((name, _different(wanted[name], given[name], base[name], file)) for name in base.names)
        return next((f"field {name}: {what}" for name, what in named if what), "")
    if h5py.check_ref_dtype(base) is h5py.RegionReference:
        given = np.array([json.loads(item)["id"] if item else "" for item in given.reshape(-1)], object)
        return _references(wanted, given, file)
    if h5py.check_ref_dtype(base) is not None:
        return _references(wanted, given, file)
    if h5py.check_string_dtype(base) is not None:
        return _texts(wanted, given)
    if base.kind in "fc" and base.itemsize > (8 if base.kind == "f" else 16):
        same = np.array_equal(given.astype(wanted.dtype), wanted, equal_nan=True)
        return "" if same else f"wide numbers {given!r}, not {wanted!r}"
    if given.dtype.kind != wanted.dtype.kind or given.dtype.itemsize != wanted.dtype.itemsize:
        return f"type {given.dtype}, not {wanted.dtype}"
    native = [
        each.astype(each.dtype.newbyteorder("="), copy=False) for each in (_swapped(wanted), _swapped(given))
    ]
    return "" if native[0].tobytes() == native[1].tobytes() else f"{given!r}, not {wanted!r}"


def _swapped(values: np.ndarray) -> np.ndarray:
    """In the machine's byte order, bit for bit (a conversion of values may change a NaN)."""
    return values if values.dtype.isnative else values.byteswap().view(values.dtype.newbyteorder("="))


def _texts(wanted: np.ndarray, given: np.ndarray) -> str:
    pairs = zip(wanted.astype(object).reshape(-1), given.astype(object).reshape(-1), strict=True)
    wrong = [(ours, theirs) for theirs, ours in pairs if _bytes(theirs) != _bytes(ours)]
    return f"text {wrong[0][0]!r}, not {wrong[0][1]!r}" if wrong else ""


def _bytes(item: Any) -> bytes:
    return item.encode("utf-8", "surrogateescape") if isinstance(item, str) else bytes(item or b"")


def _references(wanted: np.ndarray, given: np.ndarray, file: h5py.File) -> str:
    for reference, path in zip(wanted.astype(object).reshape(-1), given.reshape(-1), strict=True):
        text = str(path)
        if reference and not text and _is_nameless(reference, file):
            continue
        if bool(reference) != bool(text):
            return f"reference {text!r}, not {reference!r}"
        if reference and file[reference] != file[text]:
            return f"reference to {text!r}, not {file[reference].name!r}"
    return ""


def _is_nameless(reference: h5py.Reference, file: h5py.File) -> bool:
    """Whether it leads nowhere (as what a fill time of "never" leaves), or to what has no name for zarr."""
    try:
        return "\\" in (file[reference].name or "\\")
    except (KeyError, ValueError, RuntimeError, OSError):
        return True


def _sequences(dataset: h5py.Dataset, node: Any, file: h5py.File) -> str:
    if not isinstance(node, zarr.Group) or list(node.attrs["_RAGGED"]["shape"]) != list(dataset.shape):
        return "sequences are no marked group"
    values, offsets = node["values"][...], node["offsets"][...]
    whole = dataset[...].reshape(-1) if dataset.shape else [dataset[()]]
    for number, wanted in enumerate(whole):
        given = values[int(offsets[number]) : int(offsets[number + 1])]
        wanted = np.asarray(wanted if wanted is not None else ())
        if len(given) != len(wanted) or (len(wanted) and given.tobytes() != wanted.tobytes()):
            return f"sequence {number}: {given!r}, not {wanted!r}"
    return ""
