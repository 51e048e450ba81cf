"""What is done again although it was tried before, and what is passed over for a while: the quarantine.

An error that may pass is tried again by every run. One that the file itself is the cause of comes back until
the file or the library changes, so its asset is passed over until then, for a number of days at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePath

from ..errors import (
    ForeignJobError,
    InvalidNWBError,
    InvalidReferencesError,
    ReferencesDifferError,
    ShadowzarrError,
    SourceChangedError,
    SourceError,
    UnsupportedError,
)
from .layout import OutputLayout
from .libraries import library_versions
from .records import IndexRecord, load_record

QUARANTINE_DAYS = 30.0

_OF_THE_FILE = (
    SourceError,
    UnsupportedError,
    InvalidNWBError,
    InvalidReferencesError,
    ReferencesDifferError,
    ForeignJobError,
)
"""What the same file gives again; all others are about places, keys, servers or this machine."""


@dataclass(frozen=True)
class RedoRules:
    """Which assets are done that another run has been at.

    Attributes
    ----------
    force : bool
        Do all again, whatever their records say.
    only_failed : bool
        Do nothing but what failed before, in quarantine or not.
    since : datetime, optional
        Do nothing but what the archive says was modified at that time or later.
    quarantine_days : float
        For how long an asset is passed over that failed for good; 0 tries it in every run.
    """

    force: bool = False
    only_failed: bool = False
    since: datetime | None = None
    quarantine_days: float = QUARANTINE_DAYS

    def is_too_old(self, modified: str) -> bool:
        """Tell whether an asset was last modified before ``since``; one of unknown time was not."""
        if self.since is None or not modified:
            return False
        try:
            time = datetime.fromisoformat(modified)
        except ValueError:
            return False
        return (time if time.tzinfo else time.replace(tzinfo=UTC)) < self.since


@dataclass(frozen=True)
class Quarantine:
    """Why an asset is passed over, since when and until when (UTC)."""

    reason: str
    since: datetime
    until: datetime

    @property
    def text(self) -> str:
        """The same in a sentence."""
        return (
            f"failed on {self.since:%Y-%m-%d} and is tried again after {self.until:%Y-%m-%d}: {self.reason}"
        )


def is_permanent(error: BaseException) -> bool:
    """Tell by an error's class whether the same file will give it again.

    An exception that is none of ours is a fault of the library that read the file, unless it is the
    machine's (`OSError`, `MemoryError`).
    """
    if isinstance(error, ShadowzarrError):
        is_passing = error.transient or isinstance(error, SourceChangedError)
        return isinstance(error, _OF_THE_FILE) and not is_passing
    return not isinstance(error, (OSError, MemoryError))


def quarantine_of(record: IndexRecord, *, days: float, now: datetime | None = None) -> Quarantine | None:
    """Say whether later runs pass over what a record tells of; none when it is to be tried again.

    Parameters
    ----------
    record : IndexRecord
        Of a failure.
    days : float
        How long a quarantine lasts.
    now : datetime, optional
        The present time by default.
    """
    if record.error is None or not record.error.permanent or not record.stages:
        return None
    if record.libraries != library_versions():
        return None  # another version may be able to read it
    since = datetime.fromisoformat(record.stages[-1].started)
    until = since + timedelta(days=days)
    if (now or datetime.now(UTC)) >= until:
        return None
    return Quarantine(record.failure_text, since, until)


def quarantine_by_record(rules: RedoRules) -> Callable[[OutputLayout, PurePath], Quarantine | None]:
    """Return a function that reads a record of a failure and says whether its asset is in quarantine."""
    now = datetime.now(UTC)

    def find(layout: OutputLayout, path: PurePath) -> Quarantine | None:
        if rules.force or rules.only_failed or not rules.quarantine_days:
            return None
        try:
            record = load_record(layout.store, layout.relative(path))
            return quarantine_of(record, days=rules.quarantine_days, now=now)
        except (InvalidReferencesError, OSError):
            return None  # a record that cannot be read keeps nobody from trying again

    return find
