"""The table of assets: one row per record, its numbers both to read and to sort by. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from shadowzarr.catalog.records import IndexRecord
from shadowzarr.formatting import NO_VALUE, format_bytes, format_count, format_seconds, format_share

from .outcome import verified
from .safe_text import safe_text

MOST_ROWS = 2_000
"""Of a larger run the table shows those that did not go well, and the first of the others."""

OUTCOME_WORDS = {"indexed": "indexed", "partial": "left out", "failed": "failed"}


@dataclass(frozen=True)
class Cell:
    """One number of a row.

    Attributes
    ----------
    text : str
        As it is read.
    order : float
        What it sorts by; below zero when there is none.
    """

    text: str
    order: float


@dataclass(frozen=True)
class AssetRow:
    """One asset of the table.

    Attributes
    ----------
    place : str
        Dandiset and version.
    folder, name : str
        Its path, cut before the last name.
    outcome, outcome_word : str
        As the record has it, and as it is read.
    link : str
        Where its references are, relative to the report, with ``%`` escapes; nothing when there are none.
    size, references, share, arrays, chunks, generate, verify, publish : Cell
    verification : str
        What was compared, and whether it was equal.
    """

    place: str
    folder: str
    name: str
    outcome: str
    outcome_word: str
    link: str
    size: Cell
    references: Cell
    share: Cell
    arrays: Cell
    chunks: Cell
    generate: Cell
    verify: Cell
    publish: Cell
    verification: str


def asset_rows(records: Iterable[IndexRecord], *, most: int = MOST_ROWS) -> list[AssetRow]:
    """Return the rows: what failed first, then what leaves objects out, then by dandiset and path."""
    rank = {"failed": 0, "partial": 1, "indexed": 2}
    chosen = sorted(records, key=lambda record: (rank[record.outcome], record.dandiset, record.path))
    return [asset_row(record) for record in chosen[:most]]


def asset_row(record: IndexRecord) -> AssetRow:
    """Return the row of one record."""
    folder, slash, name = safe_text(record.path).rpartition("/")
    done = record.references is not None
    share = record.references_bytes / record.size if done and record.size else -1.0
    return AssetRow(
        place=f"{record.dandiset}/{record.version}",
        folder=folder + slash,
        name=name,
        outcome=record.outcome,
        outcome_word=OUTCOME_WORDS[record.outcome],
        link=_link(record),
        size=Cell(format_bytes(record.size), record.size),
        references=_cell(format_bytes(record.references_bytes), record.references_bytes, shown=done),
        share=_cell(format_share(record.references_bytes, record.size), share, shown=done),
        arrays=_cell(format_count(record.counts.arrays), record.counts.arrays, shown=done),
        chunks=_cell(format_count(record.counts.chunks), record.counts.chunks, shown=done),
        generate=_time(record, "index", "headers", "write"),
        verify=_time(record, "validate", "verify"),
        publish=_time(record, "store", "publish"),
        verification=verification_text(record),
    )


def verification_text(record: IndexRecord) -> str:
    """Say what was compared: ``equal · 120 objects, 3.1 MB (sample)``."""
    verification = record.verification
    if verification is None or verification.mode == "none":
        return "same blob, verified before" if record.repointed_from else "not verified"
    scope = f"{format_count(verification.objects, 'object')}, {format_bytes(verification.bytes)}"
    if verified(record):
        return f"equal · {scope} ({verification.mode})"
    return f"{format_count(verification.difference_count, 'difference')} · {scope} ({verification.mode})"


def _cell(text: str, order: float, *, shown: bool) -> Cell:
    return Cell(text, order) if shown else Cell(NO_VALUE, -1)


def _time(record: IndexRecord, *stages: str) -> Cell:
    seconds = [time.seconds for time in record.stages if time.stage in stages]
    return Cell(format_seconds(sum(seconds)), round(sum(seconds), 4)) if seconds else Cell(NO_VALUE, -1)


def _link(record: IndexRecord) -> str:
    """Return a relative link; quoting leaves no colon, so that it is no address of another kind."""
    if record.references is None:
        return ""
    document = "" if record.references.endswith(".json") else "/refs.json"
    return "./" + quote(record.references + document, safe="/", errors="surrogatepass")
