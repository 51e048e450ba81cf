"""What a configuration says about how much of the machine a run may use."""

from __future__ import annotations

import os
from typing import Annotated

from pydantic import Field

from .sources import Section

MIB = 2**20


class RunSection(Section):
    """How much of the machine a run may use."""

    concurrency: Annotated[int, Field(ge=1, le=256)] = Field(
        default_factory=lambda: os.cpu_count() or 2,
        description="Processes that read files; as many as the machine has processors when left out.",
    )
    retries: Annotated[int, Field(ge=0, le=20)] = Field(
        default=3,
        description="How often a stage is tried again after an error that may pass (429, 5xx, time-outs).",
    )
    timeout: Annotated[float, Field(gt=0)] | None = Field(
        default=3600.0, description="Seconds that one stage of one asset may take; null for no limit."
    )
    memory_limit: Annotated[int, Field(ge=256 * MIB)] | None = Field(
        default=4096 * MIB, description="Bytes of memory that one process may take; null for no limit."
    )
