"""What the flow watch_deployments can be asked to do."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from shadowzarr.catalog.layout import OutputLayout, layout_at

from .flow_config import FlowConfig
from .notify_section import NotifySection
from .output_section import PlaceSection, output_section
from .section import Section

Hours = Annotated[float, Field(gt=0)]


class DeploymentSection(Section):
    """A deployment that is to run again and again."""

    name: Annotated[str, StringConstraints(pattern=r"^[^/]+/[^/]+$")] = Field(
        description="Flow and deployment, such as index-dandisets/nightly."
    )
    within_hours: Hours = Field(description="A run must have completed in the last so many hours.")


class WatchedOutput(PlaceSection):
    """An output that a run writes to again and again."""

    folder: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="The output: a folder, relative to the working directory; or s3://BUCKET/PREFIX."
    )
    file: Annotated[str, StringConstraints(min_length=1)] = Field(
        default="report.html",
        description="What each run writes there: report.html, verification.json of verify_outputs, or "
        "materialized.json of materialize_assets.",
    )
    within_hours: Hours = Field(description="It must have been written in the last so many hours.")

    @property
    def layout(self) -> OutputLayout:
        """The same in the library's words."""
        return layout_at(self.place)


class WatchDeploymentsConfig(FlowConfig):
    """Configuration of the flow watch_deployments: what has not run, or not written, when it should have."""

    flow: Literal["watch_deployments"] = Field(description="Which flow the configuration is for.")
    deployments: list[DeploymentSection] = Field(
        default=[], description="Deployments at Prefect's server that must have run."
    )
    outputs: list[Annotated[WatchedOutput, BeforeValidator(output_section)]] = Field(
        default=[], description="Outputs that must have been written."
    )
    notify: NotifySection | None = Field(
        default=None, description="Who is told what is missing; nobody when left out."
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        """Refuse a configuration that looks at nothing."""
        if not (self.deployments or self.outputs):
            raise ValueError("expected at least one entry in deployments or outputs")
        return self

    @property
    def warnings(self) -> list[str]:
        """What may be a mistake: nothing."""
        return []
