"""One array, from the source's chunks into the layout's: every block is read once, by several threads."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidReferencesError, ShadowzarrError
from .fill import Values, fill_element, is_fill
from .open_units import InMemory, InScratch, NewUnit, OpenUnit, scratch_file
from .sweep import Coordinates, Sweep
from .target import NOTHING, TargetArray

Advance = Callable[[int], None]
"""Hears how many bytes of values are done."""


@dataclass
class Counts:
    """Chunks or shards of one array, by what became of them."""

    written: int = 0
    found: int = 0
    empty: int = 0


class Rewriter:
    """Rewrites one array.

    Parameters
    ----------
    source : zarr.Array
        Read through references.
    target : TargetArray
        Written to.
    sweep : Sweep
        The way to go.
    blocks : sequence of tuple, or None
        The blocks that the references have chunks in; None for all of them.
    rows : range or None
        Units along the first axis that are written; None for all of them.
    present : container of str
        Keys that an earlier run has written.
    verify : bool
        Whether what is written is read back.
    """

    def __init__(
        self,
        source: Any,
        target: TargetArray,
        sweep: Sweep,
        *,
        blocks: Sequence[Coordinates] | None,
        rows: range | None,
        present: Container[str],
        verify: bool,
        advance: Advance,
    ) -> None:
        self._source = source
        self._target = target
        self._sweep = sweep
        self._blocks = iter(sweep.blocks() if blocks is None else sweep.ordered(blocks))
        self._rows = rows
        self._known = None if blocks is None else frozenset(blocks)
        self._present = present
        self._verify = verify
        self._advance = advance
        self._fill = fill_element(source)
        self._lock = threading.Lock()
        self._open: dict[Coordinates, tuple[OpenUnit, list[int]]] = {}
        self._done: dict[Coordinates, bool] = {}
        self._failure: BaseException | None = None
        self._new_unit: NewUnit = lambda shape: InMemory(shape, self._fill)
        self.counts = Counts()

    def run(self, scratch: Path) -> None:
        """Rewrite all of it.

        Raises
        ------
        ShadowzarrError
            The first that went wrong.
        """
        with self._room(scratch):
            if self._sweep.threads == 1:
                self._work()
            else:
                with ThreadPoolExecutor(self._sweep.threads, "shadowzarr-materialize") as pool:
                    self._supervise([pool.submit(self._work) for _ in range(self._sweep.threads)])
        if self._failure is not None:
            raise self._failure

    def _supervise(self, workers: Sequence[Any]) -> None:
        try:
            for worker in workers:
                worker.result()
        except BaseException as error:  # an interruption here; those of workers are kept by them
            self._stop(error)
            raise

    @contextlib.contextmanager
    def _room(self, scratch: Path) -> Iterator[None]:
        """Where open units are meanwhile."""
        if self._sweep.in_memory:
            yield
            return
        cut = self._sweep.cut
        with scratch_file(scratch, cut.nbytes(cut.unit), self._sweep.open_nbytes) as file:
            self._new_unit = lambda shape: InScratch(shape, self._fill, file)
            yield

    def _work(self) -> None:
        try:
            while (block := self._next()) is not None:
                self._do(block)
        except BaseException as error:  # noqa: BLE001 - raised where the workers are waited for
            self._stop(error)

    def _stop(self, error: BaseException) -> None:
        with self._lock:
            if self._failure is None:
                self._failure = error

    def _next(self) -> Coordinates | None:
        with self._lock:
            if self._failure is not None:
                return None
            return next((block for block in self._blocks if self._has_part(block)), None)

    def _has_part(self, block: Coordinates) -> bool:
        """Whether any of the units that are to be written has a part in a block."""
        if self._rows is None:
            return True
        first = self._sweep.block_region(block)[0]
        unit = self._sweep.cut.unit[0]
        return bool(first.start // unit < self._rows.stop and (first.stop - 1) // unit >= self._rows.start)

    def _do(self, block: Coordinates) -> None:
        wanted = [unit for unit in self._sweep.units_of(block) if self._is_wanted(unit)]
        region = self._sweep.block_region(block)
        if wanted:
            values = self._read(region)
            for unit in wanted:
                self._put(unit, region, values)
        self._advance(_count(region) * self._sweep.cut.itemsize)

    def _is_wanted(self, unit: Coordinates) -> bool:
        is_ours = self._rows is None or unit[0] in self._rows
        return is_ours and not self._is_done(unit)

    def _is_done(self, unit: Coordinates) -> bool:
        """Whether an earlier run wrote a unit; with `verify` it is read again, to be compared."""
        if self._verify or self._present is NOTHING:
            return False
        with self._lock:
            known = self._done.get(unit)
        if known is None:
            known = self._target.key(unit) in self._present
            with self._lock:
                if unit not in self._done and known:
                    self.counts.found += 1
                self._done[unit] = known
        return known

    def _read(self, region: tuple[slice, ...]) -> Values:
        try:
            found = self._source[region]
        except (ShadowzarrError, MemoryError):
            raise
        except Exception as error:
            raise InvalidReferencesError(
                f"chunks of array {'/' + self._source.path!r} cannot be decoded "
                f"({type(error).__name__}: {error})"
            ) from error
        if isinstance(found, np.ndarray):
            return found
        holder = np.empty(tuple(part.stop - part.start for part in region), self._fill.dtype)
        holder[...] = found
        return holder

    def _put(self, unit: Coordinates, region: tuple[slice, ...], values: Values) -> None:
        whole = self._sweep.unit_region(unit)
        common = tuple(
            slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(whole, region, strict=True)
        )
        part = values[_relative(common, region)]
        if common == whole:
            self._finish(unit, whole, part)
            return
        with self._lock:
            if unit not in self._open:
                shape = tuple(axis.stop - axis.start for axis in whole)
                self._open[unit] = (self._new_unit(shape), [self._part_count(unit)])
            opened, left = self._open[unit]
        opened.put(_relative(common, whole), part)
        with self._lock:
            left[0] -= 1
            if left[0]:
                return
            del self._open[unit]
        self._finish(unit, whole, opened.whole())

    def _part_count(self, unit: Coordinates) -> int:
        blocks = self._sweep.blocks_of(unit)
        return sum(1 for block in blocks if self._known is None or block in self._known)

    def _finish(self, unit: Coordinates, region: tuple[slice, ...], values: Values) -> None:
        is_there = self._verify and self._target.key(unit) in self._present
        is_empty = not is_there and is_fill(values, self._fill)
        if not is_there and not is_empty:
            self._target.write(region, np.ascontiguousarray(values))
        if self._verify and not is_empty:
            self._target.check(region, values)
        with self._lock:
            self.counts.found += is_there
            self.counts.empty += is_empty
            self.counts.written += not is_there and not is_empty


def _relative(region: tuple[slice, ...], outer: tuple[slice, ...]) -> tuple[slice, ...]:
    return tuple(
        slice(part.start - start.start, part.stop - start.start)
        for part, start in zip(region, outer, strict=True)
    )


def _count(region: tuple[slice, ...]) -> int:
    count = 1
    for part in region:
        count *= part.stop - part.start
    return count
