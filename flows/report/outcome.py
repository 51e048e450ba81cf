"""The outcome of a run in a sentence, and how assets ended, as shares of a bar. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shadowzarr.catalog.plan import UNCHANGED
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_summary import RunSummary

Status = Literal["good", "partial", "bad"]


@dataclass(frozen=True)
class Share:
    """Assets that ended alike.

    Attributes
    ----------
    kind : str
        Class that colours it.
    label : str
        What the legend says.
    count : int
        How many.
    """

    kind: str
    label: str
    count: int


def status(summary: RunSummary) -> Status:
    """Return how the run went, as its exit code says it."""
    return {0: "good", 3: "partial"}.get(summary.exit_code, "bad")  # type: ignore[return-value]


def headline(summary: RunSummary) -> str:
    """Say in a sentence what came of the run."""
    if summary.not_started:
        return _stopped(summary)
    if summary.failures:
        return _with_quarantine(_failed(summary), summary)
    if summary.records:
        return _with_quarantine(_done(summary), summary)
    return _idle(summary)


def shares(summary: RunSummary) -> list[Share]:
    """Return how all assets of the run ended, worst last; those that are none are left out."""
    outcomes, unchanged = summary.outcome_counts, unchanged_count(summary)
    found = [
        Share("indexed", summary.words.done, outcomes.get("indexed", 0)),
        Share("partial", f"{summary.words.done}, objects left out", outcomes.get("partial", 0)),
        Share("unchanged", "unchanged", unchanged),
        Share("passed", "passed over", len(summary.skipped) - unchanged),
        Share("waiting", "not started", summary.not_started),
        Share("failed", "failed", len(summary.failures)),
    ]
    return [share for share in found if share.count]


def unchanged_count(summary: RunSummary) -> int:
    """Return how many assets an earlier run had done."""
    return sum(asset.reason == UNCHANGED for asset in summary.skipped)


def verified(record: IndexRecord) -> bool:
    """Whether values were compared with the original and found equal."""
    verification = record.verification
    return verification is not None and verification.mode != "none" and verification.equal


def _stopped(summary: RunSummary) -> str:
    waiting, planned = summary.not_started, len(summary.records) + summary.not_started
    sentence = f"Stopped early: {waiting:,} of {summary.words.counted(planned)} {_was(waiting)} not started"
    return f"{sentence}, {len(summary.failures):,} failed." if summary.failures else f"{sentence}."


def _failed(summary: RunSummary) -> str:
    worked, failed, unchanged = len(summary.records), len(summary.failures), unchanged_count(summary)
    total, others = worked + unchanged, worked - failed
    if failed == total:
        return f"{_all_of(total, summary)} failed."
    sentence = f"{failed:,} of {summary.words.counted(total)} failed; "
    if not others:
        return f"{sentence}{_the_others(unchanged)} {_is(unchanged)} unchanged."
    if not unchanged:
        return f"{sentence}{_the_others(others)} {_was(others)} {_indexed_how(summary)}."
    sentence += f"{others:,} {_was(others)} {_indexed_how(summary)}"
    return f"{sentence}, {unchanged:,} {_is(unchanged)} unchanged."


def _done(summary: RunSummary) -> str:
    worked, unchanged = len(summary.records), unchanged_count(summary)
    partial = summary.outcome_counts.get("partial", 0)
    sentence = f"{_subject(worked, unchanged, summary)} {_was(worked)} {_indexed_how(summary)}"
    if partial == worked:
        sentence += ", with some objects left out"
    elif partial:
        sentence += f", {partial:,} of them with some objects left out"
    return (
        f"{sentence}; {_the_others(unchanged)} {_is(unchanged)} unchanged." if unchanged else f"{sentence}."
    )


def _subject(worked: int, unchanged: int, summary: RunSummary) -> str:
    if unchanged:
        return f"{worked:,} of {summary.words.counted(worked + unchanged)}"
    return _all_of(worked, summary)


def _all_of(count: int, summary: RunSummary) -> str:
    return f"The {summary.words.noun}" if count == 1 else f"All {summary.words.counted(count)}"


def _the_others(count: int) -> str:
    return "the other one" if count == 1 else f"the other {count:,}"


def _idle(summary: RunSummary) -> str:
    unchanged, quarantined, words = unchanged_count(summary), summary.quarantined, summary.words
    if quarantined:
        held = f"{words.counted(quarantined)} that failed before {_is(quarantined)} in quarantine"
        done = f"{words.counted(unchanged)} {_is(unchanged)} {summary.words.done} and unchanged"
        return f"Nothing to do: {done}; {held}." if unchanged else f"Nothing to do: {held}."
    if not unchanged:
        return f"No {words.noun} was chosen: the configuration matches none."
    if unchanged == 1:
        return f"Nothing to do: the {words.noun} is {summary.words.done} and unchanged."
    return f"Nothing to do: all {words.counted(unchanged)} are {summary.words.done} and unchanged."


def _with_quarantine(sentence: str, summary: RunSummary) -> str:
    """Add the assets that nothing was tried with, because they failed before."""
    count = summary.quarantined
    return f"{sentence} {count:,} more {_is(count)} in quarantine." if count else sentence


def _indexed_how(summary: RunSummary) -> str:
    done = [record for record in summary.records if record.outcome != "failed"]
    if all(map(verified, done)):
        return f"{summary.words.done} and verified"
    how = "not all verified" if any(map(verified, done)) else "without verification"
    return f"{summary.words.done}, {how}" if any(map(verified, done)) else f"{summary.words.done} {how}"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
