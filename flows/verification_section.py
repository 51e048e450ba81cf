"""What a configuration says about comparing references with the original before they are published."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .section import Section


class VerificationSection(Section):
    """How references are compared with the original before they are published."""

    mode: Literal["sample", "full", "none"] = Field(
        default="sample",
        description="sample: everything but the values of inner chunks, of which a choice is compared; "
        "full: all values; none: publish unverified.",
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=0, description="Seed of the choice of chunks.")
