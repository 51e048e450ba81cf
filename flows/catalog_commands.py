"""What ``python -m flows catalog`` does for each command; returns the exit code. Prefect is not imported."""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shadowzarr._optional import require_installed
from shadowzarr.catalog.run_summary import EXIT_ALL_WELL, EXIT_FAILURE, EXIT_LEFT_OUT
from shadowzarr.errors import InvalidReferencesError, ShadowzarrError, UsageError
from shadowzarr.formatting import format_bytes, format_count

from .warning_lines import warn

if TYPE_CHECKING:
    from shadowzarr.catalog.layout import OutputLayout

Form = Literal["table", "csv", "jsonl"]


def rebuild(output: str, *, is_private: bool) -> int:
    """Make the catalogue of an output anew; 3 when something of it could not be read."""
    return _guarded(lambda: _rebuild(output_layout(output), is_private=is_private))


def query(output: str, sql: str | None, *, question: str | None, form: Form) -> int:
    """Ask the catalogue of an output."""
    return _guarded(lambda: _query(output_layout(output), sql, question, form))


def questions() -> int:
    """Print the ready questions."""
    from shadowzarr.catalog.tables.questions import QUESTIONS

    for each in QUESTIONS:
        print(f"{each.name}\n  {each.text}")
        print("".join(f"    {line}\n" for line in each.sql.strip().splitlines()))
    return EXIT_ALL_WELL


def find(output: str, wanted: str, *, as_json: bool) -> int:
    """Print where the results of an asset are; 1 when there are none."""
    return _guarded(lambda: _find(output_layout(output), wanted, as_json=as_json))


def _guarded(command: Callable[[], int]) -> int:
    try:
        require_installed("duckdb", extra="pipeline")
        return command()
    except ShadowzarrError as error:
        print(error, file=sys.stderr)
        return EXIT_FAILURE


def output_layout(output: str) -> OutputLayout:
    """Return the output at a folder or an ``s3://`` URL."""
    from shadowzarr.catalog.bucket_output import SCHEME, bucket_output
    from shadowzarr.catalog.layout import layout_at

    return layout_at(bucket_output(output) if output.startswith(SCHEME) else Path(output).absolute())


def _rebuild(layout: OutputLayout, *, is_private: bool) -> int:
    from shadowzarr.catalog.publish import clear_staging, remove_empty_staging
    from shadowzarr.catalog.tables.update import update_catalog

    if not layout.store.is_there():
        raise UsageError(f"the output {layout.title} does not exist")
    if not is_private and _is_of_private_output(layout):
        raise UsageError(
            f"the catalogue of {layout.title} is of a private output, and would lose its embargoed assets; "
            "it is made anew with --private"
        )
    with layout.store.held():
        clear_staging(layout)
        try:
            update = update_catalog(layout, is_private=is_private, anew=True)
        finally:
            remove_empty_staging(layout)
    warn(*update.problems)
    if update.left_out:
        warn(
            f"{format_count(update.left_out, 'record')} of embargoed assets left out; the catalogue of a "
            "private output is made with --private"
        )
    if update.published is not None:
        counts = ", ".join(f"{count:,} {table}" for table, count in update.published.counts.items())
        print(f"{counts.replace('_', ' ')}: {layout.location(update.published.folder)}")
    return EXIT_LEFT_OUT if update.problems or update.left_out else EXIT_ALL_WELL


def _is_of_private_output(layout: OutputLayout) -> bool:
    """Whether the catalogue that is there says so; one that cannot be read is made anew and says nothing."""
    from shadowzarr.catalog.tables.published import read_published

    try:
        return read_published(layout).is_private
    except (UsageError, InvalidReferencesError):
        return False


def _query(output: OutputLayout, sql: str | None, name: str | None, form: Form) -> int:
    from shadowzarr.catalog.tables.query import ask
    from shadowzarr.catalog.tables.questions import question

    if (sql is None) == (name is None):
        raise UsageError("expected SQL, or --question NAME; python -m flows catalog questions lists them")
    answer = ask(output, sql if sql is not None else question(str(name)).sql)
    _WRITERS[form](answer.columns, answer.rows)
    return EXIT_ALL_WELL


def _find(layout: OutputLayout, wanted: str, *, as_json: bool) -> int:
    from shadowzarr.catalog.find import find_records

    found = find_records(layout, wanted)
    if not found:
        print(
            f"{layout.title} has no record of {wanted!r}; expected an asset's identifier, path or ETag",
            file=sys.stderr,
        )
        return EXIT_FAILURE
    for path, record in found:
        references = None if record.references is None else layout.store.location(record.references)
        if as_json:
            facts = {**dataclasses.asdict(record), "record": layout.location(path), "references": references}
            print(json.dumps(facts))
            continue
        print(f"{record.dandiset} {record.version}  {record.path}  {format_bytes(record.size)}")
        print(f"  {record.outcome}" + (f": {record.failure_text}" if record.error is not None else ""))
        print(f"  asset       {record.asset_id}\n  ETag        {record.etag}")
        print(f"  references  {references or 'none'}\n  record      {layout.location(path)}")
    return EXIT_ALL_WELL


def _write_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns)
    for row in rows:
        table.add_row(*(Text(_shown(value)) for value in row))
    # A pipe has no width: nothing is cut there.
    console = Console() if sys.stdout.isatty() else Console(width=100_000)
    console.print(table, soft_wrap=not sys.stdout.isatty())
    print(format_count(table.row_count, "row"))


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([json.dumps(v) if isinstance(v, list) else v for v in row] for row in rows)


def _write_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    for row in rows:
        print(json.dumps(dict(zip(columns, row, strict=True)), default=str))


_WRITERS: dict[Form, Callable[[Sequence[str], Iterable[Sequence[Any]]], None]] = {
    "table": _write_table,
    "csv": _write_csv,
    "jsonl": _write_lines,
}


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return (
            " \N{MULTIPLICATION SIGN} ".join(map(str, value))
            if _are_numbers(value)
            else ", ".join(map(str, value))
        )
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _are_numbers(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(value, int) for value in values)
