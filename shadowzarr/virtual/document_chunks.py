"""Where the chunks of an array of a document are: listed, by rules, in an index, or held.

As `RfsStore` has it: what is listed wins over rules, and these over an index. Rules stay rules and an index
stays one where that can be said; elsewhere each chunk is looked up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import UsageError
from ..refs import gen
from ..refs.array_layout import ArrayLayout
from ..refs.byte_range import ChunkLocation
from ..refs.chunk_index import MISSING
from ..refs.document import GenEntry, IndexArray, Rfs
from ..refs.even_rule import EvenRule, even_rule
from ..refs.inline import decode_inline
from ..refs.templates import expand
from .axes import Axis, Picks, Steps, numbers_between, pick
from .chunked import rows_at, table_of
from .pieces import Held, Listed, Piece, Spaced

Coordinates = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class DocumentChunks:
    """The chunks of one array of a document.

    Attributes
    ----------
    rfs : Rfs
        The document.
    path : str
        Path of the array.
    layout : ArrayLayout
        How its chunks are named.
    grid : tuple of int
        Its chunk grid.
    """

    rfs: Rfs
    path: str
    layout: ArrayLayout
    grid: tuple[int, ...]

    def whole_rule(self) -> EvenRule | None:
        """The one rule that gives all chunks; None when there is none, or something else gives some."""
        if self.path in (self.rfs.get("indexes") or {}):
            return None
        if not self._rules:
            return self._only_chunk()
        rule = even_rule(self._rules[0]) if len(self._rules) == 1 else None
        whole = tuple(range(count) for count in self.grid)
        if rule is None or rule.coordinates != whole or self._is_any_listed():
            return None
        return rule

    def url_of_rule(self) -> str:
        """The file of the chunks that `whole_rule` gives."""
        if self._rules:
            return self._expand(self._rules[0]["url"])
        return self._expand(self.rfs["refs"][self._key((0,) * len(self.grid))][0])

    def pieces(self, picks: Sequence[Picks]) -> Iterator[Piece]:
        """The chunks at some coordinates along each axis."""
        listed, index = self._listed(picks), self._index()
        rules = [_consecutive(entry) for entry in self._rules]
        ranges = [wanted for wanted in picks if isinstance(wanted, range)]
        if rules and (index is not None or None in rules or len(ranges) != len(picks)):
            yield from self._looked_up(picks, listed, index)
            return
        yield from self._located(listed, has_priority=bool(rules) or index is not None)
        for rule, entry in zip(rules, self._rules, strict=True):
            if rule is not None:
                yield from _ruled(rule, self._expand(entry["url"]), ranges)
        if index is not None:
            yield from _indexed(self._index_url(), index, picks, set(listed))

    def _only_chunk(self) -> EvenRule | None:
        """The chunk of an array of one, when it is a range of a file."""
        if math.prod(self.grid) != 1:
            return None
        value = self.rfs["refs"].get(self._key((0,) * len(self.grid)))
        if not isinstance(value, list) or len(value) != 3:
            return None
        one = tuple(range(1) for _ in self.grid)
        return EvenRule(value[1], value[2], one, (0,) * len(one))

    def _listed(self, picks: Sequence[Picks]) -> dict[Coordinates, list[Any] | bytes]:
        """What ``refs`` says of the chunks, by their numbers among those picked."""
        refs = self.rfs["refs"]
        count = math.prod(len(wanted) for wanted in picks)
        if count <= len(refs):
            numbers = itertools.product(*(range(len(wanted)) for wanted in picks))
            asked = ((at, tuple(int(w[n]) for w, n in zip(picks, at, strict=True))) for at in numbers)
            found = ((at, refs.get(self._key(coordinates))) for at, coordinates in asked)
            return {at: _value(value) for at, value in found if value is not None}
        prefix = f"{self.path}/" if self.path else ""
        keys = {
            coordinates: key
            for key in refs
            if key.startswith(prefix)
            and (coordinates := self.layout.coordinates(key[len(prefix) :])) is not None
        }
        table = np.array(list(keys), np.int64).reshape(len(keys), len(self.grid))
        rows, numbers_at = rows_at(table, picks)
        values = list(keys.values())
        return {
            tuple(at): _value(refs[values[row]])
            for row, at in zip(rows.tolist(), numbers_at.tolist(), strict=True)
        }

    def _is_any_listed(self) -> bool:
        return bool(self._listed(tuple(range(count) for count in self.grid)))

    def _located(
        self, listed: dict[Coordinates, list[Any] | bytes], *, has_priority: bool
    ) -> Iterator[Piece]:
        held = {at: value for at, value in listed.items() if isinstance(value, bytes)}
        if held:
            yield Held(held)
        places = {at: self._place(value) for at, value in listed.items() if isinstance(value, list)}
        if places:
            table = table_of(places, len(self.grid))
            yield Listed(
                table.coordinates, table.urls, table.files, table.offsets, table.nbytes, has_priority
            )

    def _looked_up(
        self,
        picks: Sequence[Picks],
        listed: dict[Coordinates, list[Any] | bytes],
        index: IndexArray | None,
    ) -> Iterator[Piece]:
        """Each chunk, by the first that gives it."""
        found = dict(listed)
        for at in itertools.product(*(range(len(wanted)) for wanted in picks)):
            if at not in found:
                coordinates = tuple(int(w[n]) for w, n in zip(picks, at, strict=True))
                location = self._computed(coordinates, index)
                if location is not None:
                    found[at] = _reference(location)
        yield from self._located(found, has_priority=True)

    def _computed(self, coordinates: Coordinates, index: IndexArray | None) -> ChunkLocation | None:
        templates = self.rfs.get("templates") or {}
        for entry in self._rules:
            location = gen.location_at(entry, templates, coordinates)
            if location is not None:
                return location
        if index is None or int(index[coordinates][0]) == MISSING:
            return None
        offset, nbytes = index[coordinates].tolist()
        return ChunkLocation(self._index_url(), offset, nbytes)

    @cached_property
    def _rules(self) -> list[GenEntry]:
        return [entry for entry in self.rfs.get("gen") or () if gen.array_path(entry) == self.path]

    def _index(self) -> IndexArray | None:
        entry = (self.rfs.get("indexes") or {}).get(self.path)
        if entry is None:
            return None
        index = entry["index"]
        if isinstance(index, str):
            raise UsageError(
                f"the chunk index of array {self.path!r} is in files; load the references with "
                "load_rfs(source, read_indexes=True)"
            )
        if index.shape[:-1] != self.grid:
            raise UsageError(
                f"the chunk index of array {self.path!r} has shape {index.shape}; its chunk grid is "
                f"{self.grid}"
            )
        return index

    def _index_url(self) -> str:
        return self._expand(self.rfs["indexes"][self.path]["url"])

    def _key(self, coordinates: Coordinates) -> str:
        tail = self.layout.tail(coordinates)
        return f"{self.path}/{tail}" if self.path else tail

    def _place(self, value: list[Any]) -> tuple[str, int, int]:
        return self._expand(value[0]), *(value[1:] if len(value) == 3 else (0, -1))

    def _expand(self, url: str) -> str:
        return expand(url, self.rfs.get("templates") or {})


def _value(value: str | list[Any]) -> list[Any] | bytes:
    return decode_inline(value) if isinstance(value, str) else value


def _reference(location: ChunkLocation) -> list[Any]:
    place = [] if location.length is None else [location.offset, location.length]
    return [location.url, *place]


def _consecutive(entry: GenEntry) -> EvenRule | None:
    """A rule that gives all chunks of a box of the grid, at even distances; None for any other."""
    rule = even_rule(entry)
    return rule if rule and all(numbers.step == 1 for numbers in rule.coordinates) else None


def _ruled(rule: EvenRule, url: str, picks: Sequence[range]) -> Iterator[Piece]:
    """The chunks of a rule that are picked: a rule again."""
    start, first, axes = rule.start, list[int](), list[Axis]()
    for given, step, wanted in zip(rule.coordinates, rule.strides, picks, strict=True):
        numbers = numbers_between(wanted, given.start, given.stop)
        if not len(numbers):
            return
        taken = wanted[numbers.start : numbers.stop]
        rows = range(taken.start - given.start, taken.stop - given.start, taken.step)
        shift, axis = pick(Steps(len(given), step), rows)
        start += shift
        first.append(numbers.start)
        axes.append(axis)
    yield Spaced(url, start, rule.length, tuple(first), tuple(axes))


def _indexed(
    url: str, index: IndexArray, picks: Sequence[Picks], others: set[Coordinates]
) -> Iterator[Piece]:
    """The chunks of an index that are picked, but for those that something else gives."""
    part = index[np.ix_(*(np.asarray(wanted, np.int64) for wanted in picks))]
    coordinates = np.argwhere(part[..., 0] != MISSING).astype(np.int64)
    if others:
        is_left = [tuple(at) not in others for at in coordinates.tolist()]
        coordinates = coordinates[np.array(is_left, bool)]
    places = part[tuple(coordinates.T)].reshape(-1, 2).astype(np.int64)
    yield Listed(coordinates, (url,), np.zeros(len(places), np.int64), places[:, 0], places[:, 1])
