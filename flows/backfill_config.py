"""What the flow backfill can be asked to do: what index_dandisets can, within a budget for each run."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shadowzarr.catalog.budget import Budget
from shadowzarr.catalog.request import IndexRequest

from .index_config import IndexDandisetsConfig
from .section import Section


class BudgetSection(Section):
    """What one run may take; another goes on where it ended."""

    bytes: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Bytes of source files; the first asset is done, however large it is."
    )
    seconds: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="Seconds after which no further asset is started."
    )

    @model_validator(mode="after")
    def _limits(self) -> Self:
        """Refuse a budget that is none."""
        if self.bytes is None and self.seconds is None:
            raise ValueError("expected bytes or seconds, or both")
        return self


class BackfillConfig(IndexDandisetsConfig):
    """Configuration of the flow backfill: references for what is missing, the oldest first, by a budget."""

    flow: Literal["backfill"] = Field(  # type: ignore[assignment]
        description="Which flow the configuration is for."
    )
    budget: BudgetSection = Field(description="What one run may take.")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        """Refuse parts, which would each take the budget."""
        if self.split is not None:
            raise ValueError("expected no split: a budget is that of one run")
        return self

    @property
    def request(self) -> IndexRequest:
        """The same in the library's words."""
        return replace(super().request, budget=Budget(self.budget.bytes, self.budget.seconds))
