"""Where the chunks of one array are, gathered from every part of a loaded document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import zarr

from ..refs import gen, templates
from ..refs.chunk_index import MISSING
from ..refs.document import Rfs
from .totals import METADATA, inline_length


@dataclass(frozen=True)
class Places:
    """Where chunks are.

    Attributes
    ----------
    url : str
        The file; empty when all chunks are inline.
    offsets, lengths : numpy.ndarray of int64
        Byte ranges in it, in the order of the array's chunks.
    inline : int
        How many chunks the document holds.
    inline_bytes : int
        Bytes of those.
    others : int
        How many chunks are in further files, or are whole files.
    how : str
        The part of the document that says it.
    """

    url: str
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    inline: int
    inline_bytes: int
    others: int
    how: str

    @property
    def chunks(self) -> int:
        """Number of chunks that are somewhere."""
        return len(self.offsets) + self.inline + self.others


def places_of(rfs: Rfs, path: str) -> Places:
    """Where the chunks of an array are; reads the whole index of an array that has one."""
    inline, inline_bytes, listed = 0, 0, []
    for key, value in _chunk_refs(rfs, path):
        if isinstance(value, str):
            inline += 1
            inline_bytes += inline_length(value)
        else:
            listed.append((_coordinates(key, path), *_expanded(rfs, value)))
    listed.sort(key=lambda entry: entry[0])
    found = [(url, offset, length) for _, url, offset, length in listed]
    how = "refs" if found else "inline" if inline else "nowhere"
    for entry in rfs.get("gen", []):
        if gen.array_path(entry) == path:
            how = "gen"
            found += [
                (place.url, place.offset, place.length)
                for _, place in gen.expand(entry, rfs.get("templates", {}))
            ]
    index = rfs.get("indexes", {}).get(path)
    if index is not None:
        url, pairs = templates.expand(index["url"], rfs.get("templates", {})), _index_pairs(index["index"])
        return Places(url, pairs[:, 0], pairs[:, 1], inline, inline_bytes, len(found), "index")
    return _gathered(found, inline, inline_bytes, how)


def _gathered(found: list[tuple[str, int, int | None]], inline: int, inline_bytes: int, how: str) -> Places:
    url = found[0][0] if found else ""
    here = [(offset, length) for at, offset, length in found if at == url and length is not None]
    pairs = np.array(here, dtype=np.int64).reshape(-1, 2)
    return Places(url, pairs[:, 0], pairs[:, 1], inline, inline_bytes, len(found) - len(here), how)


def _chunk_refs(rfs: Rfs, path: str) -> Iterator[tuple[str, Any]]:
    prefix = f"{path}/" if path else ""
    for key, value in rfs["refs"].items():
        is_chunk = key.startswith(f"{prefix}c/") or key == f"{prefix}c"
        if is_chunk and key.rpartition("/")[2] != METADATA:
            yield key, value


def _coordinates(key: str, path: str) -> tuple[int, ...]:
    parts = key[len(path) :].strip("/").split("/")[1:]
    return tuple(int(part) for part in parts if part.isdecimal())


def _expanded(rfs: Rfs, reference: list[Any]) -> tuple[str, int, int | None]:
    url = templates.expand(reference[0], rfs.get("templates", {}))
    return (url, int(reference[1]), int(reference[2])) if len(reference) == 3 else (url, 0, None)


def _index_pairs(index: Any) -> npt.NDArray[np.int64]:
    entries = zarr.open_array(index, mode="r")[...] if isinstance(index, str) else index
    pairs = np.asarray(entries, dtype=np.uint64).reshape(-1, 2)
    written: npt.NDArray[np.int64] = pairs[pairs[:, 0] != MISSING].astype(np.int64)
    return written
