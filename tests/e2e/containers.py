"""Whether two NWB files, read by whatever reads them, hold the same containers."""

import math
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np
from hdmf.container import AbstractContainer, Container
from hdmf.utils import StrDataset

# What a container knows of the file it came from, and caches, say nothing of its content.
_NOT_CONTENT = {"read_io", "container_source", "parent", "children", "modified", "object_id_lookup"}


def differences(one: AbstractContainer, other: AbstractContainer, *, has_ids: bool = True) -> Iterator[str]:
    """Each field in which two containers, or any inside them, differ.

    Files of NWB 2.0 hold no object ids, so that each reader makes up its own: ``has_ids=False``.
    """
    found = _containers(one, other, "", set())
    yield from (difference for difference in found if has_ids or ": object_id " not in difference)


def _containers(a: Any, b: Any, path: str, seen: set[int]) -> Iterator[str]:
    if id(a) in seen:
        return
    seen.add(id(a))
    here = f"{path}/{a.name}"
    if type(a).__name__ != type(b).__name__:  # by name: each reader makes an extension's class anew
        yield f"{here}: {type(a).__name__} against {type(b).__name__}"
        return
    if a.object_id != b.object_id:
        yield f"{here}: object_id {a.object_id} against {b.object_id}"
    if a.fields.keys() != b.fields.keys():
        yield f"{here}: fields {sorted(a.fields.keys() ^ b.fields.keys())} on one side only"
        return
    for name in a.fields:
        if name not in _NOT_CONTENT:
            yield from _values(a.fields[name], b.fields[name], f"{here}.{name}", seen)


def _values(a: Any, b: Any, where: str, seen: set[int]) -> Iterator[str]:
    if isinstance(a, AbstractContainer) or isinstance(b, AbstractContainer):
        if isinstance(a, AbstractContainer) and isinstance(b, AbstractContainer):
            yield from _containers(a, b, where, seen)
        else:
            yield f"{where}: {type(a).__name__} against {type(b).__name__}"
    elif isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            yield f"{where}: keys {sorted(map(str, a.keys() ^ b.keys()))} on one side only"
        else:
            for key in a:
                yield from _values(a[key], b[key], f"{where}[{key!r}]", seen)
    elif _is_sequence(a) and _is_sequence(b):
        yield from _sequences(a, b, where, seen)
    elif not _same(a, b):
        yield f"{where}: {a!r} against {b!r}"


def _sequences(a: Any, b: Any, where: str, seen: set[int]) -> Iterator[str]:
    first, second = _whole(a), _whole(b)
    if len(first) != len(second):
        yield f"{where}: {len(first)} items against {len(second)}"
    elif _is_plain(first) and _is_plain(second):
        if first.dtype != second.dtype or not np.array_equal(
            first, second, equal_nan=first.dtype.kind in "fc"
        ):
            yield f"{where}: {first.dtype} against {second.dtype}, or other values"
    else:
        for number, (x, y) in enumerate(zip(first, second, strict=True)):
            yield from _values(x, y, f"{where}[{number}]", seen)


def _is_sequence(value: Any) -> bool:
    if isinstance(value, str | bytes | dict | AbstractContainer | np.void) or value is None:
        return False
    if getattr(value, "shape", None) == ():
        return False
    return hasattr(value, "__len__") and hasattr(value, "__getitem__")


def _whole(value: Any) -> Any:
    if isinstance(value, h5py.Dataset) and not isinstance(value, StrDataset) and _is_text(value):
        value = value.asstr()
    if isinstance(value, set | frozenset):
        return sorted(value)
    return value if isinstance(value, list | tuple) else value[:]


def _is_plain(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind in "biufc"


def _is_text(value: h5py.Dataset) -> bool:
    return h5py.check_string_dtype(value.dtype) is not None


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.void) and isinstance(b, np.void | tuple):
        return all(_same(x, y) for x, y in zip(tuple(a), tuple(b), strict=True))
    a, b = _plain(a), _plain(b)
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Container) and isinstance(b, Container):
        return a.object_id == b.object_id
    return bool(a == b)


def _plain(value: Any) -> Any:
    if hasattr(value, "shape") and value.shape == () and not isinstance(value, np.generic):
        value = value[()]
    if isinstance(value, np.generic):
        value = value.item()
    return value.decode() if isinstance(value, bytes) else value
