"""What the flow materialize_assets can be asked to do."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from shadowzarr.catalog.layout import OutputLayout, layout_at
from shadowzarr.catalog.materialize_plan import MaterializeRules

from .archive_section import Archive, public_archive
from .flow_config import FlowConfig
from .materialize_section import AssetSeconds, StoresSection
from .notify_section import Notify
from .output_section import PlaceSection, are_nested, output_section
from .run_section import RunSection


class MaterializeRunSection(RunSection):
    """How much of the machine the run may use."""

    timeout: AssetSeconds = None


class MaterializeAssetsConfig(StoresSection, FlowConfig):
    """Configuration of the flow materialize_assets: verified references made into ordinary Zarr stores."""

    flow: Literal["materialize_assets"] = Field(description="Which flow the configuration is for.")
    archive: Archive = Field(
        default_factory=public_archive,
        description="dandi, dandi-sandbox, the URL of an archive's API, or a section with api_url and "
        "api_key_env; where embargoed assets are read with the key.",
    )
    references: Annotated[PlaceSection, BeforeValidator(output_section)] = Field(
        description="The output of index_dandisets that is materialized, which is only read: a folder, or a "
        "section."
    )
    destination: Annotated[PlaceSection, BeforeValidator(output_section)] = Field(
        description="Where stores are written: a folder, or a section."
    )
    dandisets: list[Annotated[str, StringConstraints(min_length=1)]] = Field(
        default=[],
        description="Dandisets, and names of folders and manifests, that are wanted; all when left out.",
    )
    embargoed: bool = Field(
        default=False,
        description="Whether embargoed assets of a private output are wanted; the destination is to be "
        "private then.",
    )
    run: MaterializeRunSection = Field(
        default_factory=MaterializeRunSection, description="How much of the machine the run may use."
    )
    notify: Notify = None

    @model_validator(mode="after")
    def _keep_apart(self) -> Self:
        """Refuse a destination in the output that is read, and a memory that cannot be held."""
        if are_nested(self.references.place, self.destination.place):
            raise ValueError("expected destination to be outside of references, and references outside of it")
        if self.run.is_elsewhere:
            raise ValueError("expected run.task_runner to be threads: stores are written by the run itself")
        self.check_memory(self.run)
        return self

    @property
    def origin(self) -> OutputLayout:
        """The output that is read."""
        return layout_at(self.references.place)

    @property
    def target(self) -> OutputLayout:
        """The destination."""
        return layout_at(self.destination.place)

    @property
    def rules(self) -> MaterializeRules:
        """Which assets are wanted, in the library's words."""
        return MaterializeRules(
            tuple(self.dandisets), tuple(self.include), tuple(self.exclude), self.embargoed
        )

    @property
    def warnings(self) -> list[str]:
        """What may be a mistake."""
        found = [] if self.verify else ["verify is false: what is written is not read back"]
        return found + (self.archive.warnings if self.embargoed else [])
