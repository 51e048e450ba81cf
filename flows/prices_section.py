"""What a configuration says about prices, so that a plan can tell what it will cost."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from shadowzarr.catalog.estimate import Prices

from .section import Section

Price = Annotated[float, Field(ge=0)]


class PricesSection(Section):
    """What things cost; a plan tells the sum of those that are given."""

    per_thousand_requests: Price = Field(default=0.0, description="Price of a thousand requests.")
    per_gib_read: Price = Field(default=0.0, description="Price of a GiB read from the archive.")
    per_hour: Price = Field(default=0.0, description="Price of an hour of the machine.")
    currency: Annotated[str, StringConstraints(min_length=1, max_length=10)] = Field(
        default="USD", description="The currency, as it is printed."
    )

    @property
    def prices(self) -> Prices:
        """The same in the library's words."""
        return Prices(**self.model_dump())
