"""Published tables and lists of what was passed over → one row for each asset, with its state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from ...errors import InvalidReferencesError
from ..asset_names import printable_text
from ..layout import OutputLayout
from ..output_store import OutputStore
from ..plan import NO_ETAG, NOT_FAILED, NOT_SINCE
from ..run_summary import LEFT_FOR_LATER, QUARANTINED
from ..tables.columns import Row
from ..tables.query import ask

_NOT_FOR_NOW: Final = frozenset({QUARANTINED, LEFT_FOR_LATER, NOT_SINCE, NOT_FAILED, NO_ETAG})
"""Why an asset is passed over that ought to be indexed again: what is there of it is of an earlier file."""

_LONGEST: Final = 300
"""Characters of a text that a row holds; references have all of it."""
_MOST: Final = 64
"""Items of a list that a row holds."""

_TEXTS: Final = (
    "species",
    "sex",
    "age",
    "genotype",
    "subject_id",
    "session_id",
    "session_start_time",
    "session_description",
    "institution",
    "lab",
)
_LISTS: Final = ("types", "experimenters", "keywords")
COLUMNS: Final = (
    *("dandiset", "version", "path", "asset_id", "etag", "url", "size", "state", "problem"),
    *("references", "references_bytes", "arrays", "chunks", "left_out", "verification", "indexed_at"),
    *_TEXTS,
    *_LISTS,
)
"""Values of each row; nothing where there is none."""

_ASSETS_SQL: Final = f"""
WITH types_of AS (
  SELECT dandiset, version, asset_path, asset_id,
    list(DISTINCT neurodata_type ORDER BY neurodata_type) AS types
  FROM objects WHERE neurodata_type IS NOT NULL GROUP BY ALL
), verified AS (
  SELECT DISTINCT etag, options_digest FROM assets WHERE is_verified
)
SELECT a.dandiset, a.version, a.asset_path AS path, a.asset_id, a.etag, a.url, a.size, a.outcome,
  CASE WHEN error_message IS NULL THEN NULL ELSE concat_ws(': ', error_stage, error_message) END AS problem,
  a.references_path AS "references", a.references_bytes, a.array_count AS arrays, a.chunk_count AS chunks,
  a.left_out_count AS left_out, a.indexed_at,
  CASE WHEN a.is_verified THEN a.verification WHEN v.etag IS NULL THEN NULL ELSE 'same blob' END
    AS verification,
  {", ".join(f"a.{name}" for name in _TEXTS)}, t.types, a.experimenters, a.keywords
FROM assets a
LEFT JOIN types_of t ON t.dandiset = a.dandiset AND t.version = a.version AND t.asset_path = a.asset_path
  AND t.asset_id = a.asset_id
LEFT JOIN verified v ON v.etag = a.etag AND v.options_digest = a.options_digest
ORDER BY a.dandiset, a.version, a.asset_path, a.indexed_at
"""  # noqa: S608  (names of our own)


def site_rows(layout: OutputLayout, passed_over: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return the rows of an output, in the order of dandisets, versions and paths.

    Parameters
    ----------
    layout : OutputLayout
        Its catalogue must be there.
    passed_over : iterable of mapping
        As `read_passed_over` gives them.

    Raises
    ------
    UsageError, ReadError
        As `ask` raises them.
    """
    answer = ask(layout, _ASSETS_SQL)
    recorded = (dict(zip(answer.columns, values, strict=True)) for values in answer.rows)
    return merged_rows(recorded, passed_over)


def merged_rows(recorded: Iterable[Row], passed_over: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Put together what is known of each asset (pure).

    Parameters
    ----------
    recorded : iterable of Row
        One for each record; an asset has two where a changed file fails for now.
    passed_over : iterable of mapping
        `SkippedAsset` as JSON.
    """
    found: dict[tuple[str, str, str], tuple[list[Row], list[Mapping[str, Any]]]] = {}
    for row in recorded:
        found.setdefault((row["dandiset"], row["version"], row["path"]), ([], []))[0].append(row)
    for skipped in passed_over:
        key = tuple(printable_text(str(skipped[name])) for name in ("dandiset", "version", "path"))
        found.setdefault(key, ([], []))[1].append(skipped)  # type: ignore[arg-type]
    return [_row(key, *found[key]) for key in sorted(found)]


def passed_over_files(store: OutputStore) -> Iterator[str]:
    """Names of the lists of assets that were passed over."""
    for room in ("dandisets", "collections"):
        for folder in store.children(room):
            yield from (name for name in store.children(folder) if name.endswith(".skipped.json"))


def read_passed_over(content: bytes, name: str) -> list[dict[str, Any]]:
    """Read one of these lists; embargoed assets are left out, which no public list should hold.

    Raises
    ------
    InvalidReferencesError
        When it cannot be understood.
    """
    try:
        assets = orjson.loads(content)
        needed = ("dandiset", "version", "path", "asset_id", "size", "reason", "detail", "private")
        chosen = [{key: asset[key] for key in needed} for asset in assets]
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidReferencesError(
            f"{name} cannot be understood ({error}); the next run of its dandiset writes it anew"
        ) from error
    return [asset for asset in chosen if not asset["private"]]


def _row(key: tuple[str, str, str], records: list[Row], passed_over: list[Mapping[str, Any]]) -> Row:
    done = [row for row in records if row["references"] is not None]
    failed = [row for row in records if row["references"] is None]
    row: Row = dict.fromkeys(COLUMNS)
    row |= dict(zip(("dandiset", "version", "path"), key, strict=True))
    if done:
        return row | _known(done[-1]) | _state_of_done(done[-1], failed, passed_over)
    if failed:
        return row | _known(failed[-1]) | {"state": "failed", "references_bytes": None}
    skipped = passed_over[-1]
    return row | {
        "asset_id": printable_text(str(skipped["asset_id"])),
        "size": skipped["size"],
        "state": "skipped",
        "problem": _passed_over_text(skipped),
    }


def _known(record: Row) -> Row:
    """What a record and its references tell, cut to what a row may hold."""
    known: Row = {name: record[name] for name in COLUMNS if name in record}
    known |= {name: _cut(record[name]) for name in (*_TEXTS, "problem")}
    known |= {name: [_cut(item) for item in (record[name] or [])[:_MOST]] for name in _LISTS}
    # A path of the machine that indexed says nothing to a reader of the page.
    known["url"] = record["url"] if record["url"].startswith(("http://", "https://", "s3://")) else None
    return known


def _state_of_done(record: Row, failed: list[Row], passed_over: list[Mapping[str, Any]]) -> Row:
    if failed:
        return {"state": "stale", "problem": _cut(f"a later file failed; {failed[-1]['problem']}")}
    waiting = [each for each in passed_over if each["reason"] in _NOT_FOR_NOW]
    if waiting:
        return {"state": "stale", "problem": _passed_over_text(waiting[-1])}
    return {"state": record["outcome"]}


def _passed_over_text(skipped: Mapping[str, Any]) -> str:
    return str(_cut(": ".join(filter(None, (str(skipped["reason"]), str(skipped["detail"]))))))


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= _LONGEST:
        return None if text is None else printable_text(text)
    return printable_text(text[: _LONGEST - 1].rstrip()) + "…"
