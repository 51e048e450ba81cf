"""How many chunks each array of a document has, where they are, and what they take in their files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...access.index_arrays import read_index
from ...errors import InvalidReferencesError
from ...refs import gen
from ...refs.chunk_index import MISSING
from ...refs.chunk_key import parse_chunk_key
from ...refs.document import GenEntry, IndexArray, Rfs
from ...refs.inline import inline_size


@dataclass
class StoredChunks:
    """The chunks of one array.

    Attributes
    ----------
    count : int
        Those that are stored anywhere.
    inline : int
        Those of them that the document holds.
    nbytes : int or None
        Bytes of all of them as they are stored; None when a reference does not tell its length.
    places : set of str
        The parts of the document that name them: ``inline``, ``refs``, ``gen``, ``index``.
    """

    count: int = 0
    inline: int = 0
    nbytes: int | None = 0
    places: set[str] = field(default_factory=set)

    def add(self, place: str, count: int, nbytes: int | None) -> None:
        """Count more chunks."""
        if count:
            self.count += count
            self.inline += count if place == "inline" else 0
            self.nbytes = None if self.nbytes is None or nbytes is None else self.nbytes + nbytes
            self.places.add(place)


def stored_chunks(rfs: Rfs) -> dict[str, StoredChunks]:
    """Count the chunks of every array; reads index arrays, and nothing of the source.

    Parameters
    ----------
    rfs : Rfs
        A document that was loaded (`shadowzarr.store.load_rfs`), or that is in memory.

    Raises
    ------
    InvalidReferencesError, DamagedSourceError, ReadError
        When an index or a rule cannot be read or understood.
    """
    found: defaultdict[str, StoredChunks] = defaultdict(StoredChunks)
    listed: defaultdict[str, list[tuple[int, ...]]] = defaultdict(list)
    for key, value in rfs["refs"].items():
        parsed = parse_chunk_key(key)
        if parsed is None:
            continue
        listed[parsed[0]].append(parsed[1])
        if isinstance(value, str):
            found[parsed[0]].add("inline", 1, inline_size(value))
        else:
            found[parsed[0]].add("refs", 1, int(value[2]) if len(value) == 3 else None)
    for entry in rfs.get("gen", []):
        path = gen.array_path(entry)
        found[path].add("gen", *_by_rule(entry, listed[path], rfs.get("templates", {})))
    for path, index in rfs.get("indexes", {}).items():
        found[path].add("index", *_by_index(read_index(index), listed[path]))
    return found


def _by_rule(
    entry: GenEntry, listed: list[tuple[int, ...]], templates: Mapping[str, str]
) -> tuple[int, int | None]:
    """Chunks that a rule gives, and their bytes; what is listed too counts there."""
    elsewhere = [place for each in listed if (place := gen.location_at(entry, templates, each)) is not None]
    number = gen.count(entry)
    try:
        length = gen.evaluate(gen.inner_expression(entry["length"]), {}) if "length" in entry else None
    except InvalidReferencesError:  # it depends on the chunk
        if number > gen.MOST_LISTED:
            return number - len(elsewhere), None
        lengths = gen.table(entry)[2]
        whole = None if lengths is None else sum(lengths.tolist())
    else:
        whole = None if length is None else number * int(length)
    lost = sum(place.length or 0 for place in elsewhere)
    return number - len(elsewhere), None if whole is None else whole - lost


def _by_index(index: IndexArray, listed: list[tuple[int, ...]]) -> tuple[int, int]:
    is_there = index[..., 0] != np.uint64(MISSING)
    for each in listed:
        if len(each) == is_there.ndim and all(c < n for c, n in zip(each, is_there.shape, strict=True)):
            is_there[each] = False
    return int(is_there.sum()), sum(index[..., 1][is_there].tolist())
