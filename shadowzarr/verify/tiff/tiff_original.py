"""A TIFF file as an original: which array of the references each series and level must be.

Series ``i`` is at ``"i"``; one with more resolutions than one is a group, with level ``j`` at ``"i/j"``. How
values are read is the subject of ``series_values``.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import threading
from collections.abc import Iterator
from typing import IO, Any, Final, cast

import numpy as np

from ..._optional import require
from ...access.locations import without_query
from ...errors import DamagedSourceError, ShadowzarrError, UsageError
from ..arrays import OriginalArray, ReadRegion, compare_arrays
from ..original import Choice
from ..references import References
from ..source_file import SourceFile
from ..tally import Tally
from .series_values import SeriesValues

_PARTS: Final = re.compile(r"page \d+")
"""How the rest of a file is called whose chain of pages is broken there."""

_FILE_NAME: Final = re.compile(r"""\bFileName\s*=\s*["']([^"']*)""")
"""In OME metadata, a file that holds planes (OME model 2016-06, UUID)."""


class TiffOriginal:
    """An open TIFF file that references are compared with; see `original.Original`.

    Parameters
    ----------
    series : list of tifffile.TiffPageSeries
        All of it, in order.
    """

    def __init__(self, series: list[Any]) -> None:
        self._arrays = {
            path: _original_array(level)
            for number, each in enumerate(series)
            for path, level in _levels(str(number), each)
        }

    def compare(self, references: References, tally: Tally, choice: Choice) -> None:
        """Compare the shape, data type, axes and values of every series and level."""
        with _quiet_tifffile():
            compare_arrays(self._arrays, references, tally, choice, parts=_PARTS)


@contextlib.contextmanager
def open_tiff(file: SourceFile) -> Iterator[TiffOriginal]:
    """Open a TIFF file as an original.

    Raises
    ------
    MissingDependencyError
        When tifffile is not installed.
    DamagedSourceError
        When tifffile cannot read its pages or tell its series.
    UsageError
        When it is one of several files and read over the network.
    """
    tifffile = require("tifffile", extra="tiff")
    name = without_query(file.location)
    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(_opened(tifffile, file, stack))
            if file.stream is not None and opened.is_ome:
                _refuse_others(opened, name)
            with _quiet_tifffile():
                series = list(opened.series)
        except ShadowzarrError:
            raise
        except Exception as error:  # tifffile raises whatever a damaged tag leads to
            raise DamagedSourceError(f"{name} cannot be read as TIFF: {error}") from error
        yield TiffOriginal(series)


def _opened(tifffile: Any, file: SourceFile, stack: contextlib.ExitStack) -> Any:
    with _quiet_tifffile():
        if file.stream is None:
            return tifffile.TiffFile(file.location)
        # a buffer in between fills arrays of either byte order
        buffered = stack.enter_context(cast("IO[bytes]", io.BufferedReader(file.stream)))
        return tifffile.TiffFile(buffered, name=without_query(file.location).rpartition("/")[2])


def _refuse_others(opened: Any, name: str) -> None:
    """Refuse one of several files behind a URL: tifffile shows zeros in place of what is in the others."""
    own = name.rpartition("/")[2].lower()
    others = {each for each in _FILE_NAME.findall(opened.ome_metadata or "") if each.lower() != own}
    if others:
        raise UsageError(
            f"{name} is one of {len(others) + 1} files of an OME-TIFF, and tifffile reads the others from a "
            "folder only; compare with a local copy of all of them (against)"
        )


def _levels(path: str, series: Any) -> Iterator[tuple[str, Any]]:
    if len(series.levels) == 1:
        yield path, series
        return
    for number, level in enumerate(series.levels):
        yield f"{path}/{number}", level


def _original_array(series: Any) -> OriginalArray:
    dtype = np.dtype(series.dtype)

    def opened() -> ReadRegion:
        return SeriesValues(series).read

    return OriginalArray(
        tuple(map(int, series.shape)),
        dtype,
        opened,
        # tifffile shows the first in parts of pages that are not stored, and 0 for pages that are missing
        fill_values=tuple(np.asarray(value).astype(dtype)[()] for value in (series.keyframe.nodata, 0)),
        dimension_names=_axis_names(tuple(series.dims)),
    )


def _axis_names(letters: tuple[str, ...]) -> tuple[str, ...]:
    """Letters of the axes, as tifffile has them, in lower case unless two would be one then."""
    lower = tuple(letter.lower() for letter in letters)
    return lower if len(set(lower)) == len(lower) else letters


@contextlib.contextmanager
def _quiet_tifffile() -> Iterator[None]:
    """Keep what tifffile logs in this thread from being shown: what it means is in the report."""
    logger, thread = logging.getLogger("tifffile"), threading.get_ident()

    def is_of_another(record: logging.LogRecord) -> bool:
        return record.thread != thread

    logger.addFilter(is_of_another)
    try:
        yield
    finally:
        logger.removeFilter(is_of_another)
