"""What a configuration says about how much of the machine a run may use."""

from __future__ import annotations

import os
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from .section import Section

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
    task_runner: Literal["threads", "dask", "ray"] = Field(
        default="threads",
        description="Where files are read: in processes of this run (threads), or in those of workers of "
        "Dask or Ray.",
    )
    cluster: Annotated[str, StringConstraints(min_length=1)] | None = Field(
        default=None,
        description="Address of Dask's scheduler or of Ray's cluster; a cluster of this machine, for the "
        "run alone, when left out.",
    )

    @model_validator(mode="after")
    def _cluster_of_a_runner(self) -> Self:
        """Refuse a cluster that nothing would be run on."""
        if self.cluster is not None and self.task_runner == "threads":
            raise ValueError("expected task_runner to be dask or ray, as there is a cluster")
        return self

    @property
    def is_elsewhere(self) -> bool:
        """Whether files are read by workers that are no processes of the run."""
        return self.task_runner != "threads"


Run = Annotated[RunSection, Field(description="How much of the machine the run may use.")]
"""What a configuration has as its ``run``."""
