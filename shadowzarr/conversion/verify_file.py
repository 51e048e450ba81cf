"""References of an NWB file, compared with what NeuroConv's own readers give for it.

The file is assembled once more, from the recording, and nothing is swapped in it: what its iterators read is
compared bit for bit, and so are all other datasets and attributes, but for references to objects and for what
differs between any two files: ids of objects, and when the file was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..catalog.records import VerificationSummary
from ..catalog.verify_asset import SHOWN_DIFFERENCES
from ..errors import ReferencesDifferError
from ..store.open_rfs import open_rfs
from ..verify import Mode, verify_rfs
from .assemble import Session
from .jobs import RecordingJob

_OWN = frozenset({"file_create_date", "object_id"})
"""Names of what is another one in each file."""
_SPECIFICATIONS = "specifications/"


def verify_file(job: RecordingJob) -> VerificationSummary:
    """Compare staged references with the recording.

    Raises
    ------
    ReferencesDifferError
        When they differ.
    ShadowzarrError
        When the recording cannot be read.
    """
    if job.mode == "none":
        return VerificationSummary(mode="none")
    wanted = _Wanted.of(Session(job.recording, identifier=job.identifier).build())
    comparison = _Comparison(open_rfs(job.staged))
    comparison.compare(wanted)
    _compare_signals(job, wanted, comparison)
    summary = VerificationSummary(
        mode=job.mode,
        seed=job.seed,
        equal=not comparison.differences,
        objects=comparison.objects,
        bytes=comparison.nbytes,
        differences=comparison.differences[:SHOWN_DIFFERENCES],
        difference_count=len(comparison.differences),
        left_out=comparison.passed_over,
    )
    if not summary.equal:
        raise ReferencesDifferError(summary)
    return summary


@dataclass
class _Wanted:
    """What an NWB file in memory holds, by the paths at which it is written.

    Attributes
    ----------
    signals : dict
        Data that are read a region at a time.
    values : dict
        Data in memory.
    attributes : dict
        Of groups and datasets.
    others : set of str
        Datasets whose values are references to objects, or that can be read but once.
    """

    signals: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, nwbfile: Any) -> _Wanted:
        """Take a file apart as pynwb would write it."""
        from pynwb import get_manager

        found = cls()
        found._add_group(get_manager().build(nwbfile), "")
        return found

    def _add_group(self, group: Any, path: str) -> None:
        self.attributes[path.rstrip("/")] = dict(group.attributes)
        for name, dataset in group.datasets.items():
            self._add_dataset(dataset, path + name)
        for name, inner in group.groups.items():
            self._add_group(inner, f"{path}{name}/")

    def _add_dataset(self, dataset: Any, path: str) -> None:
        from hdmf.data_utils import AbstractDataChunkIterator, DataIO

        self.attributes[path] = dict(dataset.attributes)
        data = dataset.data
        while isinstance(data, DataIO):
            data = data.data
        if _refers(dataset, data):
            self.others.add(path)
        elif isinstance(data, np.memmap):
            self.signals[path] = data
        elif not isinstance(data, AbstractDataChunkIterator):
            self.values[path] = data
        elif hasattr(data, "__getitem__"):
            self.signals[path] = _Signal(data)
        else:
            self.others.add(path)


class _Signal:
    """An iterator of NeuroConv's as an array that is read a region at a time."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator
        self.shape: tuple[int, ...] = tuple(map(int, iterator.maxshape))
        self.dtype: np.dtype[Any] = np.dtype(iterator.dtype)

    def __getitem__(self, region: Any) -> Any:
        return np.asarray(self._iterator[region])


class _Comparison:
    """What was compared with references, and found."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._nodes = {"": root, **dict(root.members(max_depth=None))}
        self.differences: list[str] = []
        self.objects = self.nbytes = self.passed_over = 0

    def compare(self, wanted: _Wanted) -> None:
        """Compare which nodes there are, their attributes, and what is in memory."""
        given = {path for path in self._nodes if not f"{path}/".startswith(_SPECIFICATIONS)}
        for path in sorted(wanted.attributes.keys() - given):
            self._differ(path, "missing", "there", "nothing")
        for path in sorted(given - wanted.attributes.keys()):
            self._differ(path, "extra", "nothing", "there")
        self.passed_over += len(wanted.others)
        for path, attributes in wanted.attributes.items():
            if path in given:
                self._compare_attributes(path, attributes)
        for path, data in wanted.values.items():
            if path in given and path.rpartition("/")[2] not in _OWN:
                self._compare_value(path, data, self._nodes[path][()])

    def take(self, differences: Iterator[str], *, nbytes: int, objects: int) -> None:
        """Add what another comparison found."""
        self.differences += differences
        self.nbytes += nbytes
        self.objects += objects

    def _compare_attributes(self, path: str, attributes: dict[str, Any]) -> None:
        given = self._nodes[path].attrs
        for name, value in attributes.items():
            if name in _OWN or value is None or not _is_plain(value):
                continue
            if name not in given:
                self._differ(f"{path}@{name}", "missing", value, "nothing")
                continue
            self._compare_value(f"{path}@{name}", value, given[name])

    def _compare_value(self, path: str, wanted: Any, given: Any) -> None:
        self.objects += 1
        one, other = _plain(wanted), _plain(given)
        self.nbytes += one.nbytes if one.dtype.kind in "biufc" else 0
        if one.shape != other.shape or not _equal(one, other):
            self._differ(path, "values", wanted, given)

    def _differ(self, path: str, kind: str, original: Any, references: Any) -> None:
        shown = [text if len(text := repr(each)) < 80 else f"{text[:80]}…" for each in (original, references)]
        self.differences.append(f"/{path}: {kind}: original {shown[0]}, references {shown[1]}")


def _compare_signals(job: RecordingJob, wanted: _Wanted, comparison: _Comparison) -> None:
    """Compare what is read from the recording, by the judge of all references."""
    if not wanted.signals:
        return
    mode: Mode = "full" if job.mode == "full" else "sample"
    report = verify_rfs(Path(job.staged), wanted.signals, mode=mode, seed=job.seed)
    found = (each for each in report.differences if each.kind != "extra")  # which were compared above
    lines = (f"{e.path}: {e.kind}: original {e.original}, references {e.references}" for e in found)
    comparison.take(lines, nbytes=report.counts.get("bytes", 0), objects=report.counts.get("arrays", 0))


def _refers(dataset: Any, data: Any) -> bool:
    """Whether a dataset's values are references to objects, or hold some."""
    from hdmf.build import Builder, ReferenceBuilder

    kinds = (Builder, ReferenceBuilder)
    if data is None or isinstance(data, kinds) or not isinstance(dataset.dtype, str | type | np.dtype | None):
        return True
    first = data[0] if isinstance(data, list | tuple) and data else None
    return dataset.dtype in ("object", "region") or isinstance(first, kinds)


def _is_plain(value: Any) -> bool:
    from hdmf.build import Builder, ReferenceBuilder

    return not isinstance(value, Builder | ReferenceBuilder | dict)


def _plain(value: Any) -> np.ndarray[Any, Any]:
    """Numbers as they are, and text as text, whatever holds it."""
    array = np.asarray(value)
    if array.dtype.kind in "biufc":
        return array
    texts = [each.decode() if isinstance(each, bytes) else str(each) for each in np.ravel(array).tolist()]
    return np.asarray(texts, str).reshape(array.shape)


def _equal(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    is_number = [each.dtype.kind in "biufc" for each in (one, other)]
    if is_number[0] != is_number[1]:
        return False
    return bool(
        np.array_equal(one, other, equal_nan=is_number[0] and "f" in one.dtype.kind + other.dtype.kind)
    )
