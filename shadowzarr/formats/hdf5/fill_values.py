"""HDF5 fill values → ``fill_value`` of ``zarr.json`` (Zarr v3 core specification, "Fill value").

What counts is what HDF5 shows where nothing was written, which is zero when the fill value is undefined
or is never written; an attribute ``_FillValue`` has nothing to do with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from h5py import h5d, h5p

from ...refs.fill_values import json_fill as json_fill
from .dtypes import DType
from .reasons import CannotRepresentError, reading

_QUIET = {2: 0x7E00, 4: 0x7FC00000}
"""Exponent and highest bit of the fraction, which a NaN that does not signal has set."""


def stored_fill(properties: h5p.PropDCID, dtype: DType) -> np.ndarray[Any, DType]:
    """The value that HDF5 shows where nothing was written.

    Parameters
    ----------
    properties : h5py.h5p.PropDCID
        The dataset's creation properties.
    dtype : numpy.dtype
        As `dtypes.stored_dtype` gives it, or the type that h5py reads.

    Returns
    -------
    numpy.ndarray
        Zero-dimensional, of the base type when ``dtype`` is a subarray.

    Raises
    ------
    CannotRepresentError
        When the fill value cannot be read, or its elements differ within an array datatype.
    """
    base = dtype.subdtype[0] if dtype.subdtype is not None else dtype
    value = np.zeros(dtype.shape, base)
    if is_shown(properties):
        with reading("its fill value"):
            properties.get_fill_value(value)
    items = value.reshape(-1)
    if items.tobytes() != items[:1].tobytes() * items.size:
        raise CannotRepresentError("a fill value whose elements differ within an array datatype")
    return items[0:1].reshape(())


def is_shown(properties: h5p.PropDCID) -> bool:
    """Whether HDF5 shows a fill value of the user's where nothing was written, rather than zero."""
    return bool(
        properties.fill_value_defined() == h5d.FILL_VALUE_USER_DEFINED
        and properties.get_fill_time() != h5d.FILL_TIME_NEVER
    )


def bits_that_zarr_loses(fill: np.ndarray[Any, DType]) -> bytes | None:
    """A fill value whose JSON form zarr-python does not read back bit for bit; None when it does.

    It reads the hexadecimal form of a NaN into a double (3.4 and before): a signalling NaN of 32 bits becomes
    a quiet one, and one of 16 bits keeps its sign alone.

    Parameters
    ----------
    fill : numpy.ndarray
        Zero-dimensional, as the array's chunks hold it.
    """
    return None if _is_kept(fill) else fill.tobytes()


def _is_kept(value: np.ndarray[Any, DType]) -> bool:
    dtype = value.dtype
    if dtype.names is not None:
        return all(_is_kept(np.asarray(value[name])) for name in dtype.names)
    if dtype.kind == "c":
        return _is_kept(np.asarray(value.real)) and _is_kept(np.asarray(value.imag))
    if dtype.kind != "f" or dtype.itemsize not in _QUIET:
        return True
    bits = np.asarray(value).astype(dtype.newbyteorder("="), copy=False).view(f"u{dtype.itemsize}")
    nans = bits[np.isnan(value)]
    quiet = _QUIET[dtype.itemsize]
    kept = nans & quiet == quiet if dtype.itemsize > 2 else nans & 0x7FFF == quiet
    return bool(np.all(kept))
