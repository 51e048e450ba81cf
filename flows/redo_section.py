"""What a configuration says about assets that another run has been at."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from shadowzarr.catalog.redo import QUARANTINE_DAYS, RedoRules

from .section import Section


def _time(value: Any) -> Any:
    """Take a date, which YAML reads as one, as the text that it was."""
    text = value.isoformat() if isinstance(value, date) else value
    if isinstance(text, str):
        try:
            datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(
                "expected a date or a time, such as 2026-03-02 or 2026-03-02T12:00:00Z"
            ) from None
    return text


class RedoSection(Section):
    """Which assets are done that were done or tried before; all that changed are done anyway."""

    force: bool = Field(default=False, description="Do all wanted assets again, whatever was done before.")
    only_failed: bool = Field(
        default=False, description="Do nothing but assets that failed before, those in quarantine too."
    )
    since: Annotated[str | None, BeforeValidator(_time)] = Field(
        default=None,
        description="Do nothing but assets that the archive says were modified then or later: a date or a "
        "time, UTC unless it says otherwise.",
    )
    quarantine_days: Annotated[float, Field(ge=0)] = Field(
        default=QUARANTINE_DAYS,
        description="Days for which an asset is passed over that failed for good; 0 tries it in every run.",
    )

    @property
    def rules(self) -> RedoRules:
        """The same in the library's words."""
        since = None if self.since is None else datetime.fromisoformat(self.since)
        if since is not None and since.tzinfo is None:
            since = since.replace(tzinfo=UTC)
        return RedoRules(self.force, self.only_failed, since, self.quarantine_days)
