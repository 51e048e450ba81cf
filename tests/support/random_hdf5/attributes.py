"""Attributes of random files."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5s
from hypothesis import strategies as st

from .types import HEAP, IS_HEAP, PLAIN, Datatype

NAMES = (
    "a",
    "é",
    " ",
    "a/b",
    ".",
    "with space",
    "%41",
    "#",
    "units",
    "_FillValue",
    "_dtype",
    "zarr.json",
    "漢",
)


@dataclass(frozen=True)
class Attribute:
    """One attribute; shape None is a null dataspace."""

    name: str
    type: Datatype
    shape: tuple[int, ...] | None
    seed: int


@st.composite
def attributes(draw: st.DrawFn) -> Attribute:
    """Any attribute."""
    shape = draw(st.sampled_from(((), (), (1,), (3,), (2, 2), (0,), (1, 0), None)))
    kind = draw(st.sampled_from((*PLAIN, *HEAP, *HEAP)))
    name = draw(st.sampled_from(NAMES) | st.text(min_size=1, max_size=5).filter(_is_name))
    return Attribute(name, kind, shape, draw(st.integers(0, 2**16)))


def _is_name(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= each <= "\udfff" for each in text)


def write_attribute(item: Any, spec: Attribute, targets: list[Any]) -> None:
    """Write one attribute, unless the object has one of this name."""
    if h5a.exists(item.id, spec.name.encode()):
        return
    tid = spec.type.tid()
    if spec.shape is None:
        h5a.create(item.id, spec.name.encode(), tid, h5s.create(h5s.NULL))
        return
    space = h5s.create_simple(spec.shape) if spec.shape else h5s.create(h5s.SCALAR)
    attribute = h5a.create(item.id, spec.name.encode(), tid, space)
    count = int(np.prod(spec.shape, dtype=int))
    if count == 0:
        return
    values = spec.type.values(random.Random(spec.seed), count, targets)
    if spec.type.name in IS_HEAP:
        attribute.write(_as_h5py_writes(values, tid.dtype).reshape(spec.shape))
    else:
        raw = np.frombuffer(values, f"V{tid.get_size()}").reshape(spec.shape).copy()
        attribute.write(raw, mtype=tid)


def _as_h5py_writes(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Objects with h5py's mark of what they are."""
    if values.dtype.names is not None:
        return values
    marked = np.empty(len(values), dtype if dtype.kind == "O" else h5py.ref_dtype)
    marked[:] = values
    return marked
