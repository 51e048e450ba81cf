"""What a configuration says about a run that is done in parts by Prefect's workers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from .section import Section


class SplitSection(Section):
    """Each dandiset, folder and manifest is done by a flow run of its own, on any worker of a work pool."""

    deployment: Annotated[str, StringConstraints(pattern=r"^[^/]+/[^/]+$")] = Field(
        default="index-part/part", description="The deployment of the flow index-part that is run for each."
    )
    tries: Annotated[int, Field(ge=1, le=10)] = Field(
        default=2,
        description="How often a part is begun that breaks off; what is left of it then the run does itself.",
    )
    start_seconds: Annotated[float, Field(gt=0)] = Field(
        default=900.0,
        description="Seconds for which a part may be about to start, or no part move on at all, before it is "
        "given up.",
    )
