"""generate_rfs: one HDF5 file → references."""

from __future__ import annotations

import contextlib
import os

from ...access.remfile import Remfile
from ...access.traffic import counted
from ...errors import UsageError
from ...refs.chunk_index import CHUNK_INDEX_THRESHOLD
from ...refs.document import Rfs
from ...refs.slabs import CONTIGUOUS_CHUNK_BYTES
from ..progress import ProgressCallback, event_now
from .dataset_context import OnUnsupported
from .generation import Generation
from .opening import ReadAheadReport, open_source
from .read_ahead import Tally

INLINE_LIMIT = 64 * 2**20
"""Bytes of values that a document holds at most."""


def generate_rfs(
    source: str | os.PathLike[str],
    *,
    local_hdf5_path: str | os.PathLike[str] | None = None,
    chunk_index_threshold: int | None = CHUNK_INDEX_THRESHOLD,
    contiguous_chunk_bytes: int = CONTIGUOUS_CHUNK_BYTES,
    on_unsupported: OnUnsupported = "copy",
    inline_limit: int = INLINE_LIMIT,
    allow_external: bool = False,
    hdf5_section: bool = True,
    progress: ProgressCallback | None = None,
) -> Rfs:
    """Make references for an HDF5 file.

    Parameters
    ----------
    source : str or path-like
        A local path, an http(s) or s3 URL, or a DANDI URL. References name it, local paths absolute.
    local_hdf5_path : str or path-like, optional
        A local copy of ``source`` to read instead; refused when it is not the same file.
    chunk_index_threshold : int or None, optional
        Written chunks above which an array has a chunk index in place of references; None for never.
    contiguous_chunk_bytes : int, optional
        Bytes above which a contiguous dataset is cut into slabs of about that size.
    on_unsupported : {"copy", "skip", "error"}, optional
        What to do with values that no Zarr codec can decode in place: hold them in the document, leave
        them out by name, or raise.
    inline_limit : int, optional
        Bytes of values that the document may hold; what does not fit is left out by name.
    allow_external : bool, optional
        Whether other files that the file names, in links, virtual datasets or as raw storage, may lie
        outside its own folder, or that folder of a URL.
    hdf5_section : bool, optional
        Whether the document describes what Zarr cannot say exactly, so that `to_hdf5` can write the file
        again.
    progress : callable, optional
        Called with each `GenerationEvent`.

    Returns
    -------
    Rfs
        What is left out is in ``skipped`` and what was changed in ``converted``, by name.

    Raises
    ------
    SourceNotFoundError, NotHDF5Error, DamagedSourceError
        When the source is not there, is not HDF5, or cannot be opened.
    SourceChangedError
        When the source changes meanwhile, or the local copy is another file.
    UnsupportedError
        With ``on_unsupported="error"``, for the first object that cannot be referenced.
    """
    if on_unsupported not in ("copy", "skip", "error"):
        raise UsageError(f'on_unsupported is {on_unsupported!r}; expected "copy", "skip" or "error"')
    with counted(), contextlib.ExitStack() as stack:
        opened = stack.enter_context(open_source(source, local_hdf5_path, report=_reporter(progress)))
        run = Generation(
            opened,
            stack,
            chunk_index_threshold=chunk_index_threshold,
            contiguous_chunk_bytes=max(1, contiguous_chunk_bytes),
            on_unsupported=on_unsupported,
            inline_limit=inline_limit,
            allow_external=allow_external,
            is_described=hdf5_section,
            progress=progress,
        )
        rfs = run.document()
        stack.close()  # notices that the source changed meanwhile
        run.report("done", len(run.nodes), len(run.nodes))
    return rfs


def _reporter(progress: ProgressCallback | None) -> ReadAheadReport:
    """What tells the caller of the rounds of requests before the file is open."""

    def report(_stream: Remfile, tally: Tally) -> None:
        if progress is not None:
            progress(event_now("read_ahead", levels=tally.levels, nodes=tally.nodes))

    return report
