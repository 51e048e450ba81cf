"""Rows of assets → the files that the page loads: an overview, and the rows by columns in parts (pure).

The overview is all that the first view needs beside the first part. No part is larger than `LARGEST_PART`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from ..tables.columns import Row
from .site_rows import COLUMNS

DATA_VERSION: Final = 1
"""Raised with every change of the files; the page refuses those of another version."""

LARGEST_PART: Final = 1_000_000
"""Bytes of the rows of one part, which its file does not exceed."""

STATES: Final = ("indexed", "partial", "stale", "failed", "skipped")
_MOST_CHOICES: Final = 500
"""Values that a filter offers; the search finds all."""

_FEW: Final = frozenset(
    {"dandiset", "version", "state", "problem", "verification", "species", "sex", "age", "genotype"}
    | {"session_description", "institution", "lab", "types", "experimenters", "keywords"}
)
"""Columns whose values repeat: their parts hold each once."""

OVERVIEW: Final = "catalog.json"


def site_files(rows: Sequence[Row], *, page_files: Sequence[str], report: str | None) -> dict[str, bytes]:
    """Return the data files of a site, by their names.

    Parameters
    ----------
    rows : sequence of Row
        In their order, with the values of `COLUMNS`.
    page_files : sequence of str
        Scripts and styles of the page that goes with them.
    report : str or None
        The latest run's report, relative to the output.
    """
    files, parts = {}, []
    for number, part in enumerate(_parts(rows)):
        name = f"assets-{number}.json"
        files[name] = orjson.dumps(_columns(part))
        parts.append({"file": name, "rows": len(part)})
    overview = {
        "version": DATA_VERSION,
        "assets": len(rows),
        "parts": parts,
        "dandisets": list(_dandisets(rows)),
        "types": _choices(name for row in rows for name in row["types"] or ()),
        "species": _choices(row["species"] for row in rows if row["species"]),
        "report": report,
        "page": list(page_files),
    }
    return {OVERVIEW: orjson.dumps(overview), **files}


def _parts(rows: Sequence[Row]) -> Iterator[list[Row]]:
    part: list[Row] = []
    nbytes = 0
    for row in rows:
        size = len(orjson.dumps(row))
        if part and nbytes + size > LARGEST_PART:
            yield part
            part, nbytes = [], 0
        part.append(row)
        nbytes += size
    yield part


def _columns(rows: Sequence[Row]) -> dict[str, Any]:
    return {name: _column([row[name] for row in rows], is_few=name in _FEW) for name in COLUMNS}


def _column(values: list[Any], *, is_few: bool) -> Any:
    if not is_few:
        return values
    codes: dict[str, int] = {}

    def code(value: Any) -> Any:
        if isinstance(value, list):
            return [code(item) for item in value]
        return None if value is None else codes.setdefault(value, len(codes))

    coded = [code(value) for value in values]
    return {"values": list(codes), "codes": coded}


def _dandisets(rows: Sequence[Row]) -> Iterator[Mapping[str, Any]]:
    """What is told of each version of a dandiset."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["dandiset"], row["version"]), []).append(row)
    for (dandiset, version), its in found.items():
        done = [row for row in its if row["references"] is not None]
        states = Counter(row["state"] for row in its)
        skipped = Counter(row["problem"].partition(":")[0] for row in its if row["state"] == "skipped")
        yield {
            "dandiset": dandiset,
            "version": version,
            "assets": len(its),
            "states": {state: states[state] for state in STATES if states[state]},
            "passed_over": dict(sorted(skipped.items())),
            "size": sum(row["size"] for row in done),
            "references_bytes": sum(row["references_bytes"] for row in done),
            "last_indexed": max((row["indexed_at"] or "" for row in its), default="") or None,
            "url": next((row["url"] for row in its if row["url"]), None),
        }


def _choices(values: Iterable[str]) -> list[tuple[str, int]]:
    """Values and in how many assets they are, the commonest of them, by name."""
    return sorted(Counter(values).most_common(_MOST_CHOICES))
