"""Originals that are arrays and nothing else: where each is, its shape, its data type and its values.

A TIFF file is one, and arrays in memory are. Attributes are not judged: such an original has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import zarr

from ..access.watched import working_on
from .bits import different_bits, is_same_type
from .document import check_document
from .original import Choice
from .references import References, join
from .regions import Region, chunks_in, region_text
from .report import Plain
from .tally import NOTHING, Tally

ReadRegion = Callable[[Region], npt.NDArray[Any]]


@dataclass(frozen=True)
class OriginalArray:
    """One array of an original.

    Attributes
    ----------
    shape : tuple of int
        Its extents.
    dtype : numpy.dtype
        Its data type; any byte order.
    open : callable
        Gives what reads regions of it, which may keep values for as long as it is used.
    fill_values : tuple of numpy scalars
        What may stand where nothing is stored; empty when the original does not say.
    dimension_names : tuple of str or None
        Names of its axes; None when the original has none.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    open: Callable[[], ReadRegion]
    fill_values: tuple[Any, ...] = ()
    dimension_names: tuple[str, ...] | None = None


class _Stop(Exception):  # noqa: N818 - ends the comparison of one array
    """An array has been found different, and the difference is reported."""


def compare_arrays(
    arrays: Mapping[str, OriginalArray],
    references: References,
    tally: Tally,
    choice: Choice,
    *,
    parts: re.Pattern[str] | None = None,
) -> None:
    """Compare all arrays of an original with the references.

    Parameters
    ----------
    arrays : mapping of str to OriginalArray
        By their paths, without a leading slash. There must be no others.
    references : References
        The other side.
    tally : Tally
        Gets what is found.
    choice : Choice
        Which values are compared.
    parts : re.Pattern, optional
        How parts of the original are called that are no arrays and may be left out by name.
    """
    comparison = _Comparison(arrays, references, tally, choice)
    comparison.compare_groups()
    for path in arrays:
        comparison.compare_array(path)
    comparison.report_others(parts)
    check_document(references, tally)


class _Comparison:
    def __init__(
        self, arrays: Mapping[str, OriginalArray], references: References, tally: Tally, choice: Choice
    ) -> None:
        self._arrays = arrays
        self._references = references
        self._tally = tally
        self._choice = choice
        self._groups = sorted({above for path in arrays for above in _groups_above(path)})
        self._left_out: set[str] = set()

    def compare_groups(self) -> None:
        """Every group on the way to an array must be there, and list what is in it."""
        for path in self._groups:
            if self._is_left_out(path, is_group=True) or self._is_emptied(path):
                continue
            if self._is_absent(path, "a group"):
                continue
            self._tally.count("groups")
            if self._references.nodes[path].is_array:
                self._tally.differ(path, "node type", "a group", "an array")
                continue
            listed, present = self._references.listed(path), self._references.children(path)
            if listed != present:
                self._tally.differ(path, "listing", sorted(present - listed), sorted(listed - present))

    def compare_array(self, path: str) -> None:
        """Report at most one difference of an array, beside those of its names and fill value."""
        working_on(f"/{path}")
        if self._is_left_out(path, is_group=False) or self._is_absent(path, "an array"):
            return
        try:
            node = self._opened(path)
            self._compare_metadata(path, node)
            self._compare_values(path, node)
        except _Stop:
            pass

    def report_others(self, parts: re.Pattern[str] | None) -> None:
        """Report nodes that the original has not, and entries about what it has not."""
        extra = set(self._references.nodes) - {*self._groups, *self._arrays}
        for path in sorted(extra):
            if extra.isdisjoint(_groups_above(path)):  # what is in a group that is extra goes without saying
                what = "an array" if self._references.nodes[path].is_array else "a group"
                self._tally.differ(path, "extra", NOTHING, Plain(what))
        for entry in self._references.skipped.unmet():
            is_part = parts is not None and parts.fullmatch(entry["path"].strip("/")) is not None
            if entry["kind"] == "attribute" or is_part:
                self._tally.leave_out(entry["path"], entry["kind"], entry["reason"])
            else:
                self._tally.differ(entry["path"], "skipped", "no such object", "listed as left out")

    def _is_left_out(self, path: str, *, is_group: bool) -> bool:
        if any(above in self._left_out for above in _groups_above(path)):
            return path not in self._references.nodes
        entry = self._references.skipped.at(path)
        if entry is None:
            return False
        if path in self._references.nodes:
            what = "a group" if is_group else "an array"
            self._tally.differ(path, "skipped", Plain(what), "listed as left out, and there")
            return True
        self._left_out.add(path)
        self._tally.leave_out(path, entry["kind"], entry["reason"])
        return True

    def _is_emptied(self, path: str) -> bool:
        """Whether a group is not there since each array in it is left out by name."""
        inside = [each for each in self._arrays if path in _groups_above(each)]
        return path not in self._references.nodes and all(map(self._references.skipped.at, inside))

    def _is_absent(self, path: str, what: str) -> bool:
        if path in self._references.nodes:
            return False
        self._tally.differ(path, "missing", Plain(what), NOTHING)
        return True

    def _opened(self, path: str) -> zarr.Array[Any]:
        try:
            node = self._references.open(path)
        except Exception as error:  # noqa: BLE001 - zarr and the store may raise anything
            self._stop(path, "unreadable references", "a node", _reason(error))
        if not isinstance(node, zarr.Array):
            self._stop(path, "node type", "an array", "a group")
        return node

    def _compare_metadata(self, path: str, node: zarr.Array[Any]) -> None:
        array = self._arrays[path]
        self._tally.count("arrays")
        if node.shape != array.shape:
            self._stop(path, "shape", array.shape, node.shape)
        if not is_same_type(array.dtype, node.dtype):
            self._stop(path, "data type", Plain(array.dtype), Plain(node.dtype))
        names = getattr(node.metadata, "dimension_names", None)
        if array.dimension_names is not None and names != array.dimension_names:
            self._tally.differ(path, "dimension names", array.dimension_names, names)
        fills = array.fill_values
        if fills and not any(_is_same(fill, node.fill_value, array.dtype) for fill in fills):
            self._tally.differ(path, "fill value", fills[0], node.fill_value)

    def _compare_values(self, path: str, node: zarr.Array[Any]) -> None:
        if 0 in node.shape:
            return
        read = self._arrays[path].open()
        for region in self._choice.regions(path, node.shape, node.chunks, node.dtype.itemsize):
            working_on(f"/{path}")
            given = self._read_references(path, node, region, read)
            original = self._read_original(path, region, read)
            if given.shape != original.shape:
                self._stop(path, "values", Plain(f"shape {original.shape}"), Plain(f"shape {given.shape}"))
            self._compare_region(path, region, original, given)
            self._tally.count("chunks", chunks_in(region, node.chunks))
            self._tally.count("bytes", original.nbytes)

    def _compare_region(
        self, path: str, region: Region, original: npt.NDArray[Any], given: npt.NDArray[Any]
    ) -> None:
        differing = different_bits(original, given)
        if not differing.any():
            return
        place = tuple(map(int, np.argwhere(differing)[0])) if differing.ndim else ()
        at = tuple(part.start + index for part, index in zip(region, place, strict=True))
        shown = f"{_element(original, place)!r} at {at}, {int(differing.sum())} of {differing.size}"
        self._stop(path, "values", Plain(shown), _element(given, place))

    def _read_references(
        self, path: str, node: zarr.Array[Any], region: Region, read: ReadRegion
    ) -> npt.NDArray[Any]:
        """A region as zarr shows it; when it cannot, the original may be what is damaged."""
        try:
            return np.asarray(node[region] if region else node[()])
        except Exception as error:  # noqa: BLE001 - zarr, codecs and the store may raise anything
            self._tally.check_reads()
            self._read_original(path, region, read)
            where = Plain(f"values at {region_text(region)}")
            self._stop(path, "unreadable references", where, _reason(error))

    def _read_original(self, path: str, region: Region, read: ReadRegion) -> npt.NDArray[Any]:
        try:
            return read(region)
        except Exception as error:  # noqa: BLE001 - whatever reads the format may raise anything
            self._stop(path, "unreadable original", _reason(error), "an array")

    def _stop(self, path: str, kind: str, original: Any, references: Any) -> NoReturn:
        self._tally.differ(path, kind, original, references)
        raise _Stop


def _groups_above(path: str) -> list[str]:
    """Paths of the groups that a node lies in, the root first."""
    above, found = "", [""] if path else []
    for name in path.split("/")[:-1]:
        above = join(above, name)
        found.append(above)
    return found


def _is_same(wanted: Any, given: Any, dtype: np.dtype[Any]) -> bool:
    return not different_bits(np.asarray(wanted, dtype), np.asarray(given, dtype)).any()


def _element(values: npt.NDArray[Any], place: tuple[int, ...]) -> Any:
    """One element, in a form whose ``repr`` says something."""
    item = values[place]
    return item.item() if isinstance(item, np.generic) and item.dtype.kind not in "fc" else item


def _reason(error: Exception) -> Plain:
    return Plain(f"{type(error).__name__}: {error}")
