"""What Prefect's own page shows of a run: how far it is, its summary, its failures, where the report is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_summary import RunSummary

from .summary_text import EMBARGOED_NAME, markdown_summary

STEP = 5.0
"""Per cent after which progress is told again: twenty requests in a run, however many assets it has."""

MOST_FAILURES = 500
"""Rows of the table of failures; the report has all."""


class ProgressArtifact:
    """Tells how many of the planned assets have ended.

    Parameters
    ----------
    flow : str
        Name of the flow, as in configurations.
    total : int
        Planned assets, or other things.
    plural : str
        What they are called.
    """

    def __init__(self, flow: str, total: int, plural: str = "assets") -> None:
        self._total = total
        self._ended = 0
        self._told = 0.0
        self._id: UUID | None = None
        if total:
            found: Any = create_progress_artifact(
                0.0, key=_key(flow, "progress"), description=f"{total:,} {plural}"
            )
            self._id = found

    def asset_ended(self) -> None:
        """Count an asset, and tell when that makes a step."""
        self._ended += 1
        share = 100.0 * self._ended / self._total if self._total else 100.0
        if self._id is not None and (share >= self._told + STEP or self._ended == self._total):
            self._told = share
            update_progress_artifact(self._id, min(share, 100.0))


def create_artifacts(summary: RunSummary, *, report: str) -> None:
    """Leave the summary of a run, a table of its failures, and a link to its report."""
    leave_artifacts(
        summary.flow,
        markdown_summary(summary),
        failures=failure_rows(summary.failures, noun=summary.words.noun),
        report=report,
        description=f"{summary.words.counted(len(summary.failures))} failed; the report says what to do",
    )


def leave_artifacts(
    flow: str, markdown: str, *, failures: Sequence[dict[str, Any]], report: str, description: str = ""
) -> None:
    """Leave what a run did on Prefect's page.

    Parameters
    ----------
    flow : str
        Name of the flow, as in configurations.
    markdown : str
        The summary.
    failures : sequence of dict
        Rows of the table of failures, of which the first are shown; no table without.
    report : str
        Place of the file that says more; empty when there is none.
    description : str
        What is said above the table.
    """
    create_markdown_artifact(markdown, key=_key(flow, "summary"))
    if failures:
        create_table_artifact(
            list(failures[:MOST_FAILURES]),
            key=_key(flow, "failures"),
            description=description or f"{len(failures):,} failed",
        )
    if report:
        link = report if "://" in report else Path(report).absolute().as_uri()
        create_link_artifact(link, link_text=report.rpartition("/")[2], key=_key(flow, "report"))


def failure_rows(failures: Sequence[IndexRecord], *, noun: str = "asset") -> list[dict[str, Any]]:
    """Rows of the table of failures; embargoed assets have no names there."""
    return [
        {
            "dandiset": record.dandiset,
            noun: EMBARGOED_NAME if record.private else record.path,
            "kind": record.error.kind if record.error is not None else "",
            "cause": record.failure_text,
            "stays": "until the file changes" if record.error and record.error.permanent else "may pass",
        }
        for record in failures[:MOST_FAILURES]
    ]


def _key(flow: str, what: str) -> str:
    return f"{flow.replace('_', '-')}-{what}"
