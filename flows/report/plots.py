"""The plots of a report, from records. How they are drawn is in `scatter` and `timeline`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from shadowzarr.catalog.records import IndexRecord, StageTime
from shadowzarr.catalog.run_summary import RunSummary
from shadowzarr.formatting import format_bytes, format_count, format_seconds

from .asset_rows import verification_text
from .safe_text import shorten
from .scatter import Axis, Point, scatter
from .timeline import OTHER_LANE, Span, timeline

LONGEST_LABEL = 90
_PER_CHUNK = ((1.0, "1 a chunk"),)
STAGE_WORDS = {
    "index": "generate",
    "headers": "headers",
    "write": "write",
    "validate": "validate",
    "verify": "verify",
    "store": "materialize",
    "publish": "publish",
    "record": "record",
}
"""What a legend calls the stages of an asset, or of a recording."""
_SHARES = ((1.0, "100 %"), (0.01, "1 %"), (0.0001, "0.01 %"))


@dataclass(frozen=True)
class Plot:
    """One plot with what is said above it.

    Attributes
    ----------
    title, note : str
        Its subject, and how to read it.
    drawing : Markup
        The ``svg`` element.
    legend : tuple of (str, str)
        Class and word of each colour that it uses.
    wide : bool
        Whether it takes a row of its own.
    """

    title: str
    note: str
    drawing: Markup
    legend: tuple[tuple[str, str], ...]
    wide: bool = False


def plots(summary: RunSummary) -> list[Plot]:
    """Return the plots that have anything to show."""
    records = summary.records
    drawn = [
        time_plot(records),
        size_plot(records),
        request_plot(records),
        verification_plot(records),
        timeline_plot(summary),
    ]
    return [plot for plot in drawn if plot.drawing]


def time_plot(records: Sequence[IndexRecord]) -> Plot:
    """Plot file sizes against the time of generating references."""
    points = [
        _point(record, stage.seconds, format_seconds(stage.seconds))
        for record in records
        for stage in record.stages
        if stage.stage in ("index", "write")
    ]
    drawing = scatter(
        points,
        title="Size of the file against time to generate references",
        x=Axis("size of the file", format_bytes),
        y=Axis("time to generate", _tick_seconds),
    )
    note = "Each dot is one file; both axes are logarithmic."
    return Plot("Time to generate", note, drawing, _outcome_legend(points))


def size_plot(records: Sequence[IndexRecord]) -> Plot:
    """Plot file sizes against sizes of references."""
    points = [
        _point(record, record.references_bytes, format_bytes(record.references_bytes))
        for record in records
        if record.references is not None
    ]
    drawing = scatter(
        points,
        title="Size of the file against size of its references",
        x=Axis("size of the file", format_bytes),
        y=Axis("size of the references", format_bytes),
        guides=_SHARES,
    )
    note = "Dashed lines: references as a share of the file."
    return Plot("Size of the references", note, drawing, _outcome_legend(points))


def request_plot(records: Sequence[IndexRecord]) -> Plot:
    """Plot the number of chunks against requests for bytes; local files take none and are not in it."""
    points = [
        Point(
            record.counts.chunks,
            record.statistics.get("requests", 0),
            record.outcome,
            f"{_label(record)}: {format_count(record.counts.chunks, 'chunk')}, "
            f"{format_count(int(record.statistics.get('requests', 0)), 'request')}",
        )
        for record in records
        if record.references is not None
    ]
    drawing = scatter(
        points,
        title="Chunks against requests to index them",
        x=Axis("chunks", _tick_count),
        y=Axis("requests", _tick_count),
        guides=_PER_CHUNK,
    )
    note = "Requests to index a file from a server; dashed line: one for each chunk."
    return Plot("Requests", note, drawing, _outcome_legend(points))


def verification_plot(records: Sequence[IndexRecord]) -> Plot:
    """Plot file sizes against the bytes that were compared, by what was found."""
    points = [
        Point(
            record.size,
            record.verification.bytes,
            "indexed" if record.verification.equal else "failed",
            f"{_label(record)}: {verification_text(record)}",
        )
        for record in records
        if record.verification is not None and record.verification.mode != "none"
    ]
    drawing = scatter(
        points,
        title="Size of the file against bytes compared with it",
        x=Axis("size of the file", format_bytes),
        y=Axis("values compared", format_bytes),
        guides=_SHARES,
    )
    equal = sum(point.kind == "indexed" for point in points)
    without = sum(record.outcome != "failed" for record in records) - equal
    note = f"{equal:,} equal, {len(points) - equal:,} different, {without:,} not verified."
    legend = tuple(each for each in (("indexed", "equal"), ("failed", "different")) if _has(points, each[0]))
    return Plot("Verification", note, drawing, legend)


def timeline_plot(summary: RunSummary) -> Plot:
    """Plot what every worker did when."""
    start = datetime.fromisoformat(summary.started) + timedelta(seconds=summary.startup_seconds)
    spans = [
        _span(record, stage, start) for record in summary.records for stage in record.stages if stage.started
    ]
    used = {span.kind for span in spans}
    legend = tuple(
        (f"stage-{stage}", word) for stage, word in STAGE_WORDS.items() if f"stage-{stage}" in used
    )
    drawing = timeline(spans, title="What every worker did when")
    note = "One lane per worker; a gap is a worker that waits."
    if summary.startup_seconds:
        note += f" Prefect's start ({format_seconds(summary.startup_seconds)}) is left out."
    return Plot("Timeline", note, drawing, legend, wide=True)


def _point(record: IndexRecord, value: float, text: str) -> Point:
    label = f"{_label(record)}: {format_bytes(record.size)}, {text}"
    return Point(record.size, value, record.outcome, label)


def _span(record: IndexRecord, stage: StageTime, start: datetime) -> Span:
    offset = (datetime.fromisoformat(stage.started) - start).total_seconds()
    return Span(
        lane=OTHER_LANE if stage.worker is None else f"worker {stage.worker}",
        start=max(offset, 0.0),
        seconds=stage.seconds,
        kind=f"stage-{stage.stage}",
        label=f"{_label(record)}: {stage.stage}, {format_seconds(stage.seconds)}",
    )


def _has(points: Sequence[Point], kind: str) -> bool:
    return any(point.kind == kind for point in points)


def _tick_count(number: float) -> str:
    return f"{number:,g}"


def _tick_seconds(seconds: float) -> str:
    return f"{seconds:,g} s" if seconds >= 1 else f"{seconds * 1000:g} ms"


def _label(record: IndexRecord) -> str:
    return shorten(record.path.rpartition("/")[2], limit=LONGEST_LABEL)


def _outcome_legend(points: Sequence[Point]) -> tuple[tuple[str, str], ...]:
    words = {"indexed": "indexed", "partial": "objects left out", "failed": "failed"}
    used = {point.kind for point in points}
    return tuple((kind, word) for kind, word in words.items() if kind in used)
