"""Published references, chosen from all that were ever made, compared anew with what the archive has now.

Nothing of an output is changed. What is stale (the archive has another file, or none), what is broken (the
references are damaged or give other values), and what could not be checked are told apart.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePath
from typing import Final, Literal

import orjson

from ..errors import (
    DamagedSourceError,
    InvalidReferencesError,
    NotInArchiveError,
    OutputError,
    ReferencesDifferError,
    SourceChangedError,
    SourceNotFoundError,
)
from .archive_address import ArchiveAddress
from .child_pool import ChildPool
from .jobs import VERIFY_FUNCTION, VerificationOptions, VerifyJob
from .layout import OutputLayout, parse_record_name
from .records import IndexRecord, load_record
from .run_summary import EXIT_ALL_WELL, EXIT_FAILURE, EXIT_LEFT_OUT
from .stages import error_summary

CHECKS_NAME: Final = "verification.json"

Verdict = Literal["equal", "stale", "broken", "unchecked"]


NO_ORIGINAL = "no single file is its original; convert_recordings compares such results when it makes them"
"""Why what was made of a recording is not checked."""


@dataclass(frozen=True)
class PublishedOutput:
    """References that lie in an output, by their record.

    Attributes
    ----------
    layout : OutputLayout
    record : PurePath
        The place of the record.
    private : bool
        Whether it is in the private output.
    """

    layout: OutputLayout
    record: PurePath
    private: bool = False

    @property
    def name(self) -> str:
        """The record relative to its output."""
        return self.layout.relative(self.record)

    @property
    def label(self) -> str:
        """What it is called where others may look, such as in an orchestrator: no path that is private."""
        return _by_names(self).asset_id if self.private else self.name


@dataclass(frozen=True)
class OutputCheck:
    """What came of checking one.

    Attributes
    ----------
    record : str
        The record, relative to the output.
    verdict : str
        ``equal``; ``stale``: the archive has another file there, or none; ``broken``: the references
        are damaged, missing or give other values; ``unchecked``: it could not be told.
    dandiset, version, path, asset_id : str
        Of the asset; by the names of its files when the record cannot be read.
    reason : str
        What was found; empty when all is equal.
    private : bool
        Whether it is in the private output.
    """

    record: str
    verdict: Verdict
    dandiset: str = ""
    version: str = ""
    path: str = ""
    asset_id: str = ""
    reason: str = ""
    private: bool = False


@dataclass(frozen=True)
class ChecksSummary:
    """A run of checks.

    Attributes
    ----------
    outputs : int
        References that there are.
    seed : int
        What chose those that were checked.
    checks : list of OutputCheck
    """

    outputs: int
    seed: int
    checks: list[OutputCheck] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """Checks per verdict."""
        return dict(Counter(check.verdict for check in self.checks))

    @property
    def exit_code(self) -> int:
        """1 when something is stale or broken, 3 when something could not be checked, else 0."""
        if self.counts.get("stale") or self.counts.get("broken"):
            return EXIT_FAILURE
        return EXIT_LEFT_OUT if self.counts.get("unchecked") else EXIT_ALL_WELL


@dataclass(frozen=True)
class CheckBench:
    """What all checks of a run share."""

    pool: ChildPool
    archive: ArchiveAddress
    verification: VerificationOptions


def list_outputs(layouts: Iterable[tuple[OutputLayout, bool]]) -> list[PublishedOutput]:
    """List all references that records say are there; pairs of an output and whether it is private.

    Raises
    ------
    OutputError
        When an output cannot be listed.
    """
    return [
        PublishedOutput(layout, record.path, is_private)
        for layout, is_private in layouts
        for _, records in sorted(layout.list_all().records.items())
        for record in records
        if record.outcome != "failed"
    ]


def choose(outputs: Sequence[PublishedOutput], *, count: int | None, seed: int) -> list[PublishedOutput]:
    """Choose outputs by chance, the same for the same seed; all when there are no more than ``count``."""
    if count is None or count >= len(outputs):
        return list(outputs)

    def place(output: PublishedOutput) -> bytes:
        return hashlib.sha256(f"{seed}\0{output.name}".encode()).digest()

    chosen = set(sorted(outputs, key=place)[:count])
    return [output for output in outputs if output in chosen]


def check_output(bench: CheckBench, output: PublishedOutput) -> OutputCheck:
    """Compare references with what the archive has now, in a child process.

    Raises
    ------
    ShadowzarrError
        When the error may pass, so that it is worth trying again; see `failed_check`.
    """
    try:
        record = load_record(output.layout.store, output.name)
    except (InvalidReferencesError, OSError) as error:
        return failed_check(output, error)
    if not record.url:
        return _check(output, record, "unchecked", NO_ORIGINAL)
    try:
        with output.layout.store.local_copy(str(record.references)) as references:
            if not references.exists():
                return _check(output, record, "broken", "its references are not there")
            bench.pool.run(
                VERIFY_FUNCTION, VerifyJob(record.url, references, bench.verification, bench.archive)
            )
    except FileNotFoundError:
        return _check(output, record, "broken", "its references are not there")
    except Exception as error:
        if getattr(error, "transient", False):
            raise
        return failed_check(output, error, record)
    return _check(output, record, "equal", "")


def failed_check(
    output: PublishedOutput, error: BaseException, record: IndexRecord | None = None
) -> OutputCheck:
    """Say what an error means for the output that was checked; its record is read where it is not given."""
    record = record or _readable(output)
    if not _is_there(output):
        return _check(output, record, "unchecked", "it was made anew while it was checked")
    reason = error_summary("verify", error).message.removesuffix(f"; {ReferencesDifferError.advice}")
    return _check(output, record, _verdict(error), reason)


def write_checks(summary: ChecksSummary, layout: OutputLayout, *, private: bool, started: str) -> PurePath:
    """Write what was found beside the outputs: every check of this output that is not equal.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    mine = [check for check in summary.checks if check.private == private]
    content = {
        "started": started,
        "seed": summary.seed,
        "checked": len(mine),
        "counts": dict(Counter(check.verdict for check in mine)),
        "found": [asdict(check) for check in mine if check.verdict != "equal"],
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    path = layout.folder / CHECKS_NAME
    layout.store.write(CHECKS_NAME, orjson.dumps(content, option=options), scratch=layout.workings)
    return path


def _is_there(output: PublishedOutput) -> bool:
    """Whether the record is still there; one that cannot be looked for is."""
    try:
        return output.layout.store.exists(output.name)
    except OutputError:
        return True


def _readable(output: PublishedOutput) -> IndexRecord | None:
    try:
        return load_record(output.layout.store, output.name)
    except (InvalidReferencesError, OSError):
        return None


def _verdict(error: BaseException) -> Verdict:
    if isinstance(error, (SourceChangedError, SourceNotFoundError, NotInArchiveError)):
        return "stale"
    is_broken = isinstance(error, (ReferencesDifferError, InvalidReferencesError, DamagedSourceError))
    return "broken" if is_broken else "unchecked"


def _check(output: PublishedOutput, record: IndexRecord | None, verdict: Verdict, reason: str) -> OutputCheck:
    of = _by_names(output) if record is None else record
    return OutputCheck(
        record=output.name,
        verdict=verdict,
        dandiset=of.dandiset,
        version=of.version,
        path=of.path,
        asset_id=of.asset_id,
        reason=reason,
        private=output.private,
    )


@dataclass(frozen=True)
class _Names:
    """What the names of an asset's files say of it."""

    dandiset: str
    version: str
    path: str
    asset_id: str


def _by_names(output: PublishedOutput) -> _Names:
    _, dandiset, version, *folders, name = output.name.split("/")
    parsed = parse_record_name(name)
    stem, asset_id = (name, "") if parsed is None else (parsed[0], parsed[1].asset_id)
    return _Names(dandiset, version, "/".join([*folders, stem]), asset_id)
