"""How much a document holds, counted from the document alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import gen
from .chunk_index import MISSING
from .inline import inline_size

METADATA = "zarr.json"


@dataclass(frozen=True)
class Totals:
    """What a document holds.

    Attributes
    ----------
    groups, arrays : int
        Nodes.
    chunks : int
        Chunks that are somewhere: referenced, in an index, in a gen entry or inline.
    inline_bytes : int
        Bytes of chunks that the document itself holds.
    """

    groups: int
    arrays: int
    chunks: int
    inline_bytes: int


def totals_of(rfs: Mapping[str, Any]) -> Totals:
    """Count what a document holds.

    Parameters
    ----------
    rfs : mapping
        A document in memory, whose index entries hold their arrays.
    """
    groups = arrays = chunks = inline_bytes = 0
    for key, value in rfs["refs"].items():
        if key.rpartition("/")[2] == METADATA:
            is_array = '"node_type":"array"' in str(value).replace(" ", "")
            arrays += is_array
            groups += not is_array
        else:
            chunks += 1
            inline_bytes += inline_size(value) if isinstance(value, str) else 0
    chunks += sum(gen.count(entry) for entry in rfs.get("gen", []))
    chunks += sum(_indexed(entry["index"]) for entry in rfs.get("indexes", {}).values())
    return Totals(groups, arrays, chunks, inline_bytes)


def _indexed(index: Any) -> int:
    if isinstance(index, str):
        return 0  # the array lies beside the document; counting its chunks would read it
    return int((index[..., 0] != MISSING).sum())
