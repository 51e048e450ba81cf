"""One asset: its references made and written to staging, and what they hold counted.

Runs in a child process (`shadowzarr.catalog.child_pool`); everything in and out is small. Whether the
references are right is the subject of `shadowzarr.catalog.verify_asset`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from ..access.range_reader import limit_requests
from ..access.traffic import counted
from ..errors import SourceChangedError
from ..formats.dispatch import generate_references
from ..formats.progress import GenerationEvent
from ..recording_files import recording_at
from ..refs.chunk_index import MISSING
from ..refs.chunk_key import METADATA_NAME
from ..refs.document import Rfs
from ..write import write_rfs
from .jobs import IndexJob, IndexNews, IndexResult
from .records import RecordCounts, SkippedObject
from .repoint import repoint

REPORT_SECONDS = 0.25
"""Progress more often than this is for nobody's eyes."""


def index_asset(job: IndexJob, *, progress: Callable[[IndexNews], None] | None = None) -> IndexResult:
    """Make the references of one asset and write them to staging.

    Raises
    ------
    SourceChangedError
        When the file is not the one that was listed.
    ShadowzarrError
        As `generate_references` and `write_rfs` raise them.
    """
    job.archive.register()
    limit_requests(job.requests)
    if job.twin is not None and job.output is not None:
        known = repoint(job.twin, output=job.output, url=job.url, etag=job.etag, staged=job.staged)
        if known is not None:
            return IndexResult(known.counts, known.skipped, repointed_from=known.asset_id)
    reporter = _Reporter(progress)
    with counted():  # finding out what the file is, too
        rfs = generate_references(
            job.url,
            likely=job.likely,
            local_file=job.local or None,
            defaults={
                "chunk_index_threshold": job.options.chunk_index_threshold,
                "contiguous_chunk_bytes": job.options.contiguous_chunk_bytes,
                "on_unsupported": job.options.on_unsupported,
                "inline_limit": job.options.inline_limit,
            },
            progress=reporter,
        )
    _check_source(rfs, job)
    write_rfs(rfs, job.staged)
    skipped = [SkippedObject(**entry) for entry in rfs.get("skipped", [])]
    return IndexResult(count_objects(rfs), skipped, reporter.statistics)


def count_objects(rfs: Rfs) -> RecordCounts:
    """Count what a document in memory holds."""
    chunks = dict(rfs["refs"])
    documents = [str(chunks.pop(key)) for key in rfs["refs"] if _is_metadata(key)]
    metadata = [orjson.loads(document) for document in documents]
    arrays = [node for node in metadata if node.get("node_type") == "array"]
    indexes = rfs.get("indexes", {})
    return RecordCounts(
        groups=len(metadata) - len(arrays),
        arrays=len(arrays),
        chunks=len(chunks) + _generated(rfs) + sum(_indexed(entry["index"]) for entry in indexes.values()),
        inline_chunks=sum(isinstance(value, str) for value in chunks.values()),
        indexed_arrays=len(indexes),
        array_bytes=sum(_array_bytes(node) for node in arrays),
        converted=len(rfs.get("converted", [])),
    )


class _Reporter:
    """Keeps the last event's numbers, and passes some events on."""

    def __init__(self, progress: Callable[[IndexNews], None] | None) -> None:
        self._progress = progress
        self._next = time.monotonic() + REPORT_SECONDS
        self.statistics: dict[str, float] = {}

    def __call__(self, event: GenerationEvent) -> None:
        if event.stage == "done":
            self.statistics = {
                "requests": event.requests,
                "bytes_read": event.bytes_read,
                "metadata_levels": event.levels,
                "metadata_nodes": event.nodes,
                "referenced_bytes": event.bytes,
                "retries": event.retries,
            }
        elif self._progress is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + REPORT_SECONDS
            self._progress(IndexNews(event.chunks, event.bytes, event.requests))


def _check_source(rfs: Rfs, job: IndexJob) -> None:
    """Compare the asset's own file, or files, with the listing; files it leads to are in no listing."""
    if job.is_recording:
        found = recording_at(Path(job.local or job.url))
        if found is None or found.size != job.size:
            raise SourceChangedError(
                f"{job.size} bytes are listed of the recording, and it has "
                f"{0 if found is None else found.size}; it was changed meanwhile, run again"
            )
        return
    own = [entry for entry in rfs.get("sources", {}).values() if not entry.get("linked")]
    if len(own) != 1:
        raise SourceChangedError(f"{job.size} bytes are listed, but the file does not tell its size")
    size, etag = own[0]["size"], own[0].get("etag", "").strip('"')
    if size != job.size or (etag and job.etag and etag != job.etag):
        raise SourceChangedError(
            f"{job.size} bytes with ETag {job.etag or 'unknown'} are listed, but the file has {size} "
            f"bytes with ETag {etag or 'unknown'}; it was replaced meanwhile, run again"
        )


def _is_metadata(key: str) -> bool:
    return key == METADATA_NAME or key.endswith("/" + METADATA_NAME)


def _generated(rfs: Rfs) -> int:
    return sum(
        math.prod(
            len(range(d.get("start", 0), d["stop"], d.get("step", 1))) for d in entry["dimensions"].values()
        )
        for entry in rfs.get("gen", [])
    )


def _indexed(index: Any) -> int:
    return int((index[..., 0] != MISSING).sum())


def _array_bytes(node: dict[str, Any]) -> int:
    from zarr.core.dtype import get_data_type_from_json

    data_type = get_data_type_from_json(node["data_type"], zarr_format=3)
    item_size: int = getattr(data_type, "item_size", 0)
    return int(math.prod(node["shape"])) * item_size
