"""A run as JSON lines, for programs that watch it: an object on each line, what it is in ``event``.

Which keys an event has is a promise to its readers, and written in docs/operations.md. Embargoed assets are
counted and not named.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any, TextIO

import orjson

from shadowzarr.catalog.clock import utc_now
from shadowzarr.catalog.estimate import Estimate
from shadowzarr.catalog.plan import Plan
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_summary import RunSummary

from .flow_end import FlowEnd
from .progress_tally import Tally
from .things import Things


class JsonLines:
    """Writes events, from any thread.

    Parameters
    ----------
    stream : text file
        Where they go, flushed after each.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def plan(self, plan: Plan, estimate: Estimate) -> None:
        """What a run would do."""
        self._write(
            "plan",
            assets_total=len(plan.work),
            bytes_total=plan.work_bytes,
            passed_over=_passed_over(plan.skipped),
            estimate={
                "basis": estimate.basis,
                "requests": estimate.requests,
                "bytes_read": estimate.bytes_read,
                "bytes_written": estimate.bytes_written,
                "seconds": estimate.seconds,
                "cost": estimate.cost,
            },
            warnings=plan.warnings,
        )

    def plan_of(self, things: Things[Any], *, warnings: Sequence[str], **more: Any) -> None:
        """What a run of another flow would do."""
        self._write("plan", **_all_of(things), warnings=list(warnings), **more)

    def begin(self, plan: Plan) -> None:
        """What is to be done."""
        self._write(
            "begin",
            assets_total=len(plan.work),
            bytes_total=plan.work_bytes,
            passed_over=_passed_over(plan.skipped),
        )

    def begin_things(self, things: Things[Any]) -> None:
        """What is to be done by another flow."""
        self._write("begin", **_all_of(things))

    def progress(self, tally: Tally) -> None:
        """How far the run is."""
        eta = tally.eta_seconds
        self._write(
            "progress",
            **{f"{tally.plural}_done": tally.assets, f"{tally.plural}_total": tally.total},
            failures=tally.failed,
            bytes_done=tally.bytes_so_far,
            bytes_total=tally.total_bytes,
            chunks=tally.chunks_so_far,
            requests=tally.requests_so_far,
            requests_per_second=round(tally.requests_so_far / tally.seconds, 3),
            seconds=round(tally.seconds, 3),
            eta_seconds=None if eta is None else round(eta, 3),
        )

    def thing(self, noun: str, values: dict[str, Any]) -> None:
        """How a thing of another flow ended."""
        self._write(noun, **values)

    def asset(self, record: IndexRecord) -> None:
        """How an asset ended."""
        error = record.error
        self._write(
            "asset",
            dandiset=record.dandiset,
            version=record.version,
            path=None if record.private else record.path,
            outcome=record.outcome,
            bytes=record.size,
            requests=int(record.statistics.get("requests", 0)),
            retries=int(record.statistics.get("retries", 0)),
            chunks=record.counts.chunks,
            seconds=round(record.seconds, 3),
            error=None
            if error is None
            else {
                "stage": error.stage,
                "kind": error.kind,
                "message": record.failure_text.partition(": ")[2],
                "transient": error.transient,
            },
        )

    def end(self, summary: RunSummary, *, report: str, reasons: Sequence[str]) -> None:
        """What came of the run."""
        self._write(
            "end",
            exit_code=summary.exit_code,
            outcomes=summary.outcome_counts,
            passed_over=_passed_over(summary.skipped),
            not_started=summary.not_started,
            seconds=summary.seconds,
            report=report,
            warnings=summary.warnings,
            reasons=list(reasons),
        )

    def end_of_flow(self, end: FlowEnd, *, seconds: float, warnings: Sequence[str]) -> None:
        """What came of a run of another flow."""
        self._write(
            "end",
            exit_code=end.exit_code,
            outcomes=end.outcomes,
            passed_over=end.passed_over,
            seconds=seconds,
            report=end.report or None,
            warnings=list(warnings),
            reasons=list(end.reasons),
        )

    def error(self, message: str, *, exit_code: int) -> None:
        """Why the run as a whole was impossible."""
        self._write("error", exit_code=exit_code, message=message)

    def _write(self, event: str, **values: Any) -> None:
        line = orjson.dumps({"event": event, "time": utc_now(), **values}).decode()
        with self._lock:
            self._stream.write(f"{line}\n")
            self._stream.flush()


def _all_of(things: Things[Any]) -> dict[str, Any]:
    return {
        f"{things.plural}_total": len(things.sizes),
        "bytes_total": sum(things.sizes),
        "passed_over": dict(things.passed_over),
    }


def _passed_over(skipped: Sequence[Any]) -> dict[str, int]:
    return dict(Counter(asset.reason for asset in skipped))
