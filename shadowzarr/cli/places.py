"""Where the chunks of one array are, gathered from every part of a loaded document."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..access.range_reader import default_reader
from ..errors import InvalidReferencesError
from ..refs import gen, templates
from ..refs.chunk_index import MISSING
from ..refs.document import Rfs
from ..refs.inline import inline_size
from ..refs.node_checks import LARGEST
from ..refs.totals import METADATA
from ..store.index_reader import IndexReader
from ..store.locate import Locator

MOST_LOOKED_AT = 2**20
"""Chunks of rules that are worked out one by one; of more only the number is told."""


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
    unlisted : int
        How many chunks rules give that are too many to be looked at.
    how : str
        The part of the document that says it.
    """

    url: str
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    inline: int
    inline_bytes: int
    others: int
    unlisted: int
    how: str

    @property
    def chunks(self) -> int:
        """Number of chunks that are somewhere."""
        return len(self.offsets) + self.inline + self.others + self.unlisted

    @property
    def nbytes(self) -> int:
        """Bytes of the ranges; what a document claims may be more than 64 bits hold."""
        return sum(self.lengths.tolist())


def places_of(rfs: Rfs, path: str) -> Places:
    """Where the chunks of an array are; reads the whole index of an array that has one."""
    inline, inline_bytes, listed = 0, 0, []
    for key, value in _chunk_refs(rfs, path):
        if isinstance(value, str):
            inline += 1
            inline_bytes += inline_size(value)
        else:
            listed.append((_coordinates(key, path), *_expanded(rfs, value)))
    listed.sort(key=lambda entry: entry[0])
    found = [(url, offset, length) for _, url, offset, length in listed]
    how = "refs" if found else "inline" if inline else "nowhere"
    by_rule, unlisted = _by_rules(rfs, path)
    if by_rule or unlisted:
        how = "gen"
    found += by_rule
    index = rfs.get("indexes", {}).get(path)
    if index is not None:
        url, pairs = templates.expand(index["url"], rfs.get("templates", {})), _index_pairs(rfs, path)
        others = len(found)
        return Places(url, pairs[:, 0], pairs[:, 1], inline, inline_bytes, others, unlisted, "index")
    return _gathered(found, inline, inline_bytes, unlisted, how)


def _by_rules(rfs: Rfs, path: str) -> tuple[list[tuple[str, int, int | None]], int]:
    """What gen entries give beside ``refs``, and how many chunks of others there are."""
    found: list[tuple[str, int, int | None]] = []
    unlisted = 0
    for entry in rfs.get("gen", []):
        if gen.array_path(entry) != path:
            continue
        if len(found) + gen.count(entry) > MOST_LOOKED_AT:
            unlisted += gen.count(entry)
            continue
        for key, place in gen.expand(entry, rfs.get("templates", {})):
            if key not in rfs["refs"]:
                found.append((place.url, place.offset, place.length))
    return found, unlisted


def _gathered(
    found: list[tuple[str, int, int | None]], inline: int, inline_bytes: int, unlisted: int, how: str
) -> Places:
    url = found[0][0] if found else ""
    here = [(offset, length) for at, offset, length in found if at == url and length is not None]
    pairs = np.array(here, dtype=np.int64).reshape(-1, 2)
    others = len(found) - len(here)
    return Places(url, pairs[:, 0], pairs[:, 1], inline, inline_bytes, others, unlisted, how)


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


def _index_pairs(rfs: Rfs, path: str) -> npt.NDArray[np.int64]:
    """Offsets and lengths of all chunks that an index lists, in the order of the array's chunks."""
    parts = asyncio.run(_index_parts(IndexReader(rfs, Locator(rfs).layout, default_reader()), path))
    pairs = np.concatenate([np.empty((0, 2), np.uint64), *parts])
    ends = pairs[:, 0].astype(float) + pairs[:, 1].astype(float)
    if len(pairs) and float(ends.max()) > LARGEST:
        worst = pairs[int(ends.argmax())].tolist()
        raise InvalidReferencesError(
            f"the chunk index of array {'/' + path!r} lists {worst[1]} bytes at {worst[0]}, which no file has"
        )
    return pairs.astype(np.int64)


async def _index_parts(reader: IndexReader, path: str) -> list[npt.NDArray[np.uint64]]:
    found = []
    async for _, part in reader.parts(path):
        pairs = part.reshape(-1, 2)
        found.append(pairs[pairs[:, 0] != MISSING])
    return found
