"""What a contender found, in a form that can be compared with what h5py finds (needs numpy alone)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

ATTRIBUTE = "unit"
"""The attribute whose values are compared, in the file that has it everywhere."""


def found(arrays: Mapping[str, Any], offsets: npt.ArrayLike, lengths: npt.ArrayLike) -> dict[str, int | str]:
    """Put together what is compared.

    Parameters
    ----------
    arrays : mapping
        Paths of the arrays without a slash in front, each with the value of its `ATTRIBUTE`.
    offsets, lengths : sequence of int
        Where the chunks of the dataset in question are, in any order.
    """
    starts = np.asarray(offsets, dtype=np.int64).ravel()
    sizes = np.asarray(lengths, dtype=np.int64).ravel()
    order = np.argsort(starts, kind="stable")
    table = np.stack([starts[order], sizes[order]]).tobytes()
    return {
        "arrays": len(arrays),
        "names": _digest(sorted(arrays)),
        "attributes": _digest(sorted((name, _plain(value)) for name, value in arrays.items())),
        "chunks": len(starts),
        "table": hashlib.sha256(table).hexdigest()[:16],
    }


def differences(answer: Mapping[str, int | str], truth: Mapping[str, int | str]) -> str:
    """Say how an answer differs from the truth; empty when it does not."""
    if answer["table"] != truth["table"]:
        return f"wrong: {answer['chunks']} chunks, other than the {truth['chunks']} of the file"
    if answer["names"] != truth["names"]:
        return f"has {answer['arrays']} of {truth['arrays']} arrays"
    return "" if answer["attributes"] == truth["attributes"] else "other attributes than the file's"


def from_kerchunk(references: Mapping[str, Any], dataset: str | None) -> dict[str, int | str]:
    """Read a kerchunk document of Zarr v2 keys."""
    arrays = {
        key.removesuffix("/.zarray"): _json(references.get(f"{key.removesuffix('/.zarray')}/.zattrs", "{}"))
        for key in references
        if key.endswith("/.zarray")
    }
    places = [
        value[1:]
        for key, value in references.items()
        if dataset is not None and isinstance(value, list) and key.startswith(f"{dataset}/")
    ]
    offsets, lengths = zip(*places, strict=True) if places else ((), ())
    return found({name: each.get(ATTRIBUTE) for name, each in arrays.items()}, offsets, lengths)


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str | bytes) else value


def _plain(value: Any) -> str:
    if isinstance(value, np.ndarray | Sequence) and not isinstance(value, str | bytes):
        return ",".join(_plain(each) for each in value)
    return value.decode() if isinstance(value, bytes) else str(value)


def _digest(values: Iterable[Any]) -> str:
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()[:16]
