"""A record → its rows in the tables of assets and of objects that are left out."""

from __future__ import annotations

from ..records import IndexRecord
from .columns import Row


def asset_key(record: IndexRecord) -> Row:
    """The columns that all tables begin with."""
    return {
        "dandiset": record.dandiset,
        "version": record.version,
        "asset_path": record.path,
        "asset_id": record.asset_id,
    }


def asset_row(record: IndexRecord) -> Row:
    """The row of a record, without what only its references tell."""
    counts, error, verification = record.counts, record.error, record.verification
    return {
        **asset_key(record),
        "etag": record.etag,
        "size": record.size,
        "url": record.url,
        "outcome": record.outcome,
        "references_path": record.references,
        "references_bytes": record.references_bytes,
        "format_version": record.format_version,
        "options_digest": record.options_digest,
        "group_count": counts.groups,
        "array_count": counts.arrays,
        "chunk_count": counts.chunks,
        "array_bytes": counts.array_bytes,
        "left_out_count": len(record.skipped),
        "verification": None if verification is None else verification.mode,
        "is_verified": verification is not None and verification.equal,
        "error_stage": None if error is None else error.stage,
        "error_kind": None if error is None else error.kind,
        "error_message": None if error is None else error.message,
        "is_error_transient": None if error is None else error.transient,
        "requests": _whole(record, "requests"),
        "bytes_read": _whole(record, "bytes_read"),
        "seconds": round(record.seconds, 4),
        "indexed_at": record.stages[0].started if record.stages else None,
        "library_version": record.libraries.get("shadowzarr"),
    }


def left_out_rows(record: IndexRecord) -> list[Row]:
    """A row for each object that the references of a record leave out."""
    return [
        {**asset_key(record), "path": each.path, "kind": each.kind, "reason": each.reason}
        for each in record.skipped
    ]


def _whole(record: IndexRecord, name: str) -> int | None:
    value = record.statistics.get(name)
    return None if value is None else int(value)
