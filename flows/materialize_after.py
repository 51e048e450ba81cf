"""The section ``materialize:`` of flows that index: Zarr stores of what is verified, at the end of a run.

What is done is that of the flow materialize_assets, without task runs of its own, for the versions that the
run is about. Embargoed assets have no stores here: a destination takes what the public output holds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.index_run import RunLog
from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.materialize_job import PRELOAD
from shadowzarr.catalog.materialize_plan import MaterializePlan, MaterializeRules, plan_materialize
from shadowzarr.catalog.materialize_record import MaterializeRecord, MaterializeSummary
from shadowzarr.catalog.materialize_run import SUMMARY_NAME, MaterializeBench, materialize_assets
from shadowzarr.errors import ShadowzarrError
from shadowzarr.formatting import format_count

from .materialize_text import counts_line, record_line
from .summary_text import EMBARGOED_NAME

if TYPE_CHECKING:
    from .index_config import IndexDandisetsConfig
    from .materialize_section import MaterializeSection

SHOWN = 20
"""Failures that are named as warnings of the run."""


@dataclass(frozen=True)
class StoresReport:
    """What became of the stores.

    Attributes
    ----------
    place : str
        The destination.
    summary : MaterializeSummary
    error : str
        Why nothing, or not all, was done.
    """

    place: str
    summary: MaterializeSummary
    error: str = ""

    @property
    def failed(self) -> int:
        """Stores that were not written; 1 when none could be."""
        return len(self.summary.failures) or int(bool(self.error))

    @property
    def lacking(self) -> int:
        """Assets without a store for a reason, and stores that lack objects which references leave out."""
        plan = self.summary.plan
        return len(plan.passed_over) + plan.left_out_before + self.summary.counts.get("partial", 0)

    @property
    def warnings(self) -> Iterator[str]:
        """What went wrong or is missing."""
        if self.error:
            yield f"Zarr stores in {self.place}: {self.error}"
        failures = self.summary.failures
        for record in failures[:SHOWN]:
            yield f"Zarr store {record_line(record)}"
        if len(failures) > SHOWN:
            more = len(failures) - SHOWN
            yield f"{format_count(more, 'more Zarr store')} failed; {SUMMARY_NAME} in {self.place} names all"
        if passed_over := self.summary.plan.passed_over:
            first = passed_over[0]
            name = EMBARGOED_NAME if first.private else first.place
            count = format_count(len(passed_over), "asset")
            yield f"{count} without a Zarr store, the first {name}: {first.reason}; {first.detail}"


def write_stores(config: IndexDandisetsConfig, log: RunLog) -> StoresReport | None:
    """Materialize what is verified of the run's versions and has no store yet; None when that is not asked.

    Each failure is told as it happens, and what was done in a line. A run that ends at its first failure
    writes none.
    """
    section = config.materialize
    if section is None or not section.enabled or (config.on_error == "stop" and log.has_failed):
        return None
    target = section.target
    report = StoresReport(target.title, MaterializeSummary(MaterializePlan()))
    try:
        plan = plan_materialize(
            config.request.public, target, _rules(config.request.public, section, log), section.options
        )
        report = StoresReport(target.title, MaterializeSummary(plan))
        if plan.work:
            report = StoresReport(target.title, _materialize(config, section, plan))
    except ShadowzarrError as error:
        report = StoresReport(target.title, report.summary, str(error))
    print(f"Zarr stores: {report.error or counts_line(report.summary)}", file=sys.stderr, flush=True)
    return report


def _materialize(
    config: IndexDandisetsConfig, section: MaterializeSection, plan: MaterializePlan
) -> MaterializeSummary:
    run = config.run
    with ChildPool(
        run.concurrency, timeout=section.timeout, memory_limit=run.memory_limit, preload=PRELOAD
    ) as pool:
        bench = MaterializeBench(pool, config.request.archive, section.verify, section.max_memory)
        return materialize_assets(
            plan, bench, section.target, concurrency=run.concurrency, on_ended=_tell_failure
        )


def _rules(public: OutputLayout, section: MaterializeSection, log: RunLog) -> MaterializeRules:
    return MaterializeRules(
        versions=tuple((each.dandiset, each.version) for each in log.versions),
        include=tuple(section.include),
        exclude=tuple(section.exclude),
        gone=frozenset(
            public.relative(public.version_folder(each.dandiset, each.version) / each.path)
            for each in log.plan.kept
            if not each.private
        ),
    )


def _tell_failure(record: MaterializeRecord) -> None:
    if record.error is not None:
        print(f"Zarr store {record_line(record)}", file=sys.stderr, flush=True)
