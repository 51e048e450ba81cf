"""generate_rfs_tiff: open the file, let tifffile find its series, represent each level of each.

Every decision about a level is made in `series`; this module knows the order, the paths and the options.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, Literal

from ..._optional import require_installed
from ...access.locations import canonical, is_remote, local_path
from ...access.traffic import counted
from ...access.watched import working_on
from ...builder import RfsBuilder
from ...errors import UnsupportedError, UsageError
from ...refs.document import Rfs
from ..cannot_represent import CannotRepresentError
from ..inline_budget import InlineBudget
from ..progress import ProgressCallback, Stage, event_now
from .attributes import Attributes, dimension_names, file_attributes, level_attributes, multiscales
from .chunks import add_chunks
from .copies import copy_level
from .opening import find_series, open_tiff
from .page_layout import grid_of
from .reasons import NotInPlaceError, hearing_tifffile, reading
from .series import LevelPlan, plan_level
from .stored_file import UrlFor, open_local, open_remote
from .stored_files import StoredFiles

CHUNK_INDEX_THRESHOLD = 1000
"""Chunks above which an array has a chunk index."""

INLINE_LIMIT = 64 * 2**20
"""Bytes of values that a document holds at most."""

OnUnsupported = Literal["copy", "skip", "error"]


def generate_rfs_tiff(
    source: str | os.PathLike[str],
    *,
    url_for: UrlFor | None = None,
    on_unsupported: OnUnsupported = "copy",
    inline_limit: int = INLINE_LIMIT,
    chunk_index_threshold: int | None = CHUNK_INDEX_THRESHOLD,
    progress: ProgressCallback | None = None,
) -> Rfs:
    """Make references for a TIFF file.

    Series ``i``, as tifffile counts them, is the array ``i``; one with several resolutions is a group of
    arrays ``i/0``, ``i/1`` and so on. Values, shapes and data types are those of
    ``tifffile.TiffFile(source).series[i].levels[j].asarray()``.

    Parameters
    ----------
    source : str or path-like
        A local path, an http(s) or s3 URL, or a DANDI URL. References name it, local paths absolute.
    url_for : callable, optional
        Gives the URL under which a local path is hosted, for every local file that holds pages. The URL is
        written down and not asked.
    on_unsupported : {"copy", "skip", "error"}, optional
        What to do with values that no Zarr codec can decode in place: hold them in the document, leave
        them out by name, or raise.
    inline_limit : int, optional
        Bytes of values that the document may hold; what does not fit is left out by name.
    chunk_index_threshold : int or None, optional
        Chunks above which an array has a chunk index in place of references; None for never.
    progress : callable, optional
        Called with each `GenerationEvent`.

    Returns
    -------
    Rfs
        What is left out is in ``skipped`` and what is copied in ``converted``, by name.

    Raises
    ------
    SourceNotFoundError, NotTIFFError, DamagedSourceError
        When the source is not there, is not TIFF, or cannot be understood.
    SourceChangedError
        When the source changes meanwhile.
    UnsupportedError
        When nothing in the file can be represented; with ``on_unsupported="error"`` for the first series or
        level that cannot be referenced.
    MissingDependencyError
        When tifffile or imagecodecs is not installed.
    """
    if on_unsupported not in ("copy", "skip", "error"):
        raise UsageError(f'on_unsupported is {on_unsupported!r}; expected "copy", "skip" or "error"')
    require_installed("tifffile", "imagecodecs", extra="tiff")
    location = canonical(source)
    with contextlib.ExitStack() as stack, counted(), hearing_tifffile() as heard:
        remote = is_remote(location)
        opened = open_remote(location) if remote else open_local(Path(local_path(location)), url_for)
        files = StoredFiles(stack.enter_context(opened), stack, url_for)
        tif = stack.enter_context(open_tiff(files.main))
        run = _Generation(tif, files, on_unsupported, inline_limit, chunk_index_threshold, progress)
        return run.document(heard)


class _Generation:
    """One run of `generate_rfs_tiff`."""

    def __init__(
        self,
        tif: Any,
        files: StoredFiles,
        on_unsupported: OnUnsupported,
        inline_limit: int,
        threshold: int | None,
        progress: ProgressCallback | None,
    ) -> None:
        self._tif, self._files, self._mode = tif, files, on_unsupported
        self._budget, self._threshold, self._progress = InlineBudget(inline_limit), threshold, progress
        self._builder = RfsBuilder()
        self._reasons: list[str] = []
        self._nodes = self._chunks = self._bytes = 0

    def document(self, heard: list[str]) -> Rfs:
        """Represent every level of every series; gives the document."""
        self._report("open", 0, 0)
        series = find_series(self._tif, self._files)
        total = sum(len(each.levels) for each in series)
        self._report("inventory", total, total)
        self._builder.add_group("", self._taken("", file_attributes(self._tif)))
        for number, each in enumerate(series):
            self._add_series(str(number), each, total)
        main = self._files.main
        if not self._nodes:
            reason = next(iter([*self._reasons, *heard]), "tifffile finds no image in it")
            raise UnsupportedError(f"{main.shown}: nothing in it can be represented: {reason}")
        if main.directories.broken:
            self._skip(f"page {main.directories.count}", main.directories.broken)
        for file in (main, *self._files.others):
            self._builder.add_source(*file.identity, linked=file is not main)
        self._report("done", self._nodes, self._nodes)
        return self._builder.build()

    def _add_series(self, path: str, series: Any, total: int) -> None:
        levels = {str(number): level for number, level in enumerate(series.levels)}
        if len(levels) == 1:
            self._add_level(path, series, total)
            return
        added = {
            name: level for name, level in levels.items() if self._add_level(f"{path}/{name}", level, total)
        }
        if added:
            about = multiscales(added, series.name)
            self._builder.add_group(path, {} if about is None else {"ome": about})

    def _add_level(self, path: str, level: Any, total: int) -> bool:
        working_on(f"/{path}")
        try:
            plan = self._plan(level)
        except CannotRepresentError as error:
            self._skip(path, str(error))
            return False
        self._builder.add_array(
            path,
            shape=plan.shape,
            data_type=plan.data_type,
            chunk_shape=plan.chunk_shape,
            codecs=plan.codecs,
            fill_value=plan.fill_value,
            attributes=self._taken(path, level_attributes(level)),
            dimension_names=dimension_names(level),
        )
        grid = grid_of(plan.shape, plan.chunk_shape)
        add_chunks(self._builder, path, plan.chunks, grid, threshold=self._threshold)
        for what in plan.converted:
            self._builder.add_converted(f"/{path}", what)
        self._nodes += 1
        self._chunks += plan.chunks.count
        self._bytes += plan.chunks.nbytes
        self._report("datasets", self._nodes, total)
        return True

    def _plan(self, level: Any) -> LevelPlan:
        try:
            with reading():
                return plan_level(level, self._files)
        except NotInPlaceError as error:
            if self._mode != "copy":
                raise
            return copy_level(level, self._budget, str(error))

    def _taken(self, path: str, attributes: Attributes) -> dict[str, Any]:
        """The attributes of a node, after what is left out of them was told."""
        for name, reason in attributes.skipped.items():
            self._builder.add_skipped(f"/{path}@{name}", "attribute", reason)
        return attributes.values

    def _skip(self, path: str, reason: str) -> None:
        if self._mode == "error":
            raise UnsupportedError(f"{self._files.main.shown}: /{path}: {reason}")
        self._reasons.append(reason)
        self._builder.add_skipped(f"/{path}", "dataset", reason)

    def _report(self, stage: Stage, objects: int, total: int) -> None:
        if self._progress is not None:
            self._progress(event_now(stage, objects, total, chunks=self._chunks, nbytes=self._bytes))
