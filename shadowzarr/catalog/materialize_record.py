"""What came of materializing one asset, beside its store; and what came of a run."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import orjson

from .libraries import library_versions
from .materialize_plan import MaterializePlan, MaterializeWork
from .records import ErrorSummary, SkippedObject
from .run_summary import EXIT_ALL_WELL, EXIT_FAILURE, EXIT_LEFT_OUT
from .stages import error_summary

MaterializeOutcome = Literal["materialized", "partial", "failed"]
"""``partial``: materialized, but the references leave out objects by name, and so the store."""


@dataclass(frozen=True)
class StoreFacts:
    """What a store holds.

    Attributes
    ----------
    arrays : int
        Arrays whose values were read from the source.
    copied : int
        Other arrays, whose values were in the references.
    value_bytes, stored_bytes : int
        Bytes of the values of the former, and of their chunks in the store.
    verified : bool
        Whether all was read back and compared.
    left_out : list of SkippedObject
        What the references leave out.
    """

    arrays: int = 0
    copied: int = 0
    value_bytes: int = 0
    stored_bytes: int = 0
    verified: bool = False
    left_out: list[SkippedObject] = field(default_factory=list)


@dataclass(frozen=True)
class MaterializeRecord:
    """One asset, and what came of materializing it.

    Attributes
    ----------
    asset_id, dandiset, version, path, etag, size, url
        Of the asset, as in the record of its references.
    options : dict
        Of `MaterializeOptions`, with those of the references.
    options_digest, format_version
        What its file's name holds.
    outcome : str
        ``materialized``, ``partial`` or ``failed``.
    private : bool
        Whether the asset is embargoed.
    store : str, optional
        Where the store is, relative to the destination; none when it failed.
    facts : StoreFacts
    error : ErrorSummary, optional
        Only when it failed.
    started : str
        UTC.
    seconds : float
    libraries : dict of str to str
    """

    asset_id: str
    dandiset: str
    version: str
    path: str
    etag: str
    size: int
    url: str
    options: dict[str, Any]
    options_digest: str
    format_version: int
    outcome: MaterializeOutcome
    started: str
    seconds: float = 0.0
    private: bool = False
    store: str | None = None
    facts: StoreFacts = field(default_factory=StoreFacts)
    error: ErrorSummary | None = None
    libraries: dict[str, str] = field(default_factory=library_versions)

    @property
    def content(self) -> bytes:
        """The record's file."""
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        return orjson.dumps(dataclasses.asdict(self), option=options)


def success(work: MaterializeWork, facts: StoreFacts, *, started: str, seconds: float) -> MaterializeRecord:
    """The record of an asset whose store is there."""
    outcome: MaterializeOutcome = "partial" if facts.left_out else "materialized"
    return dataclasses.replace(
        _record(work, outcome, started), seconds=seconds, store=work.store, facts=facts
    )


def failure(work: MaterializeWork, error: BaseException, *, started: str) -> MaterializeRecord:
    """The record of an asset that failed."""
    told = dataclasses.replace(error_summary("index", error), stage="materialize")
    return dataclasses.replace(_record(work, "failed", started), error=told)


@dataclass(frozen=True)
class MaterializeSummary:
    """A run.

    Attributes
    ----------
    plan : MaterializePlan
    records : list of MaterializeRecord
        Of the assets worked on, in the order they ended.
    """

    plan: MaterializePlan
    records: list[MaterializeRecord] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """Assets per outcome."""
        found = Counter(record.outcome for record in self.records)
        return {name: found[name] for name in get_args(MaterializeOutcome) if name in found}

    @property
    def failures(self) -> list[MaterializeRecord]:
        """Records of assets that failed."""
        return [record for record in self.records if record.outcome == "failed"]

    @property
    def exit_code(self) -> int:
        """1 when an asset failed, 3 when assets are passed over or stores leave objects out, else 0."""
        if self.failures:
            return EXIT_FAILURE
        if self.plan.passed_over or self.plan.left_out_before or self.counts.get("partial"):
            return EXIT_LEFT_OUT
        return EXIT_ALL_WELL

    def content(self, *, started: str, finished: str) -> bytes:
        """The file that tells of the latest run; embargoed assets are named, as in all of the destination."""
        told = {
            "started": started,
            "finished": finished,
            "counts": {**self.counts, "unchanged": self.plan.unchanged},
            "passed_over": [dataclasses.asdict(each) for each in self.plan.passed_over if not each.private],
            "passed_over_embargoed": sum(each.private for each in self.plan.passed_over),
            "failures": [
                {"path": record.path, "dandiset": record.dandiset, "error": record.error}
                for record in self.failures
            ],
        }
        return orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _record(work: MaterializeWork, outcome: MaterializeOutcome, started: str) -> MaterializeRecord:
    source = work.record
    return MaterializeRecord(
        asset_id=source.asset_id,
        dandiset=source.dandiset,
        version=source.version,
        path=source.path,
        etag=source.etag,
        size=source.size,
        url=source.url,
        options={**work.options.as_json(), "references": source.options_digest},
        options_digest=work.key.options_digest,
        format_version=work.key.format_version,
        outcome=outcome,
        private=source.private,
        started=started,
    )
