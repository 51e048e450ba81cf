"""What a configuration says about how much is asked of servers at once."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shadowzarr.catalog.limits import Limits

from .section import Section

Count = Annotated[int, Field(ge=1)] | None


class LimitsSection(Section):
    """What may be asked of servers at once, beside run.concurrency."""

    assets_per_host: Count = Field(
        default=None,
        description="Assets of one host in flight; those of other hosts go before what waits for it. Null "
        "for no limit but run.concurrency.",
    )
    requests: Count = Field(
        default=None,
        description="Requests for bytes under way in all, shared out between the processes; null for up to "
        "128 in each.",
    )
    requests_per_host: Count = Field(
        default=None, description="Requests for bytes under way to one host; null for no limit but the other."
    )

    @property
    def limits(self) -> Limits:
        """The same in the library's words."""
        return Limits(self.assets_per_host, self.requests, self.requests_per_host)
