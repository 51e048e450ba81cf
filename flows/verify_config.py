"""What the flow verify_outputs can be asked to do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.layout import OutputLayout, layout_at

from .archive_section import Archive, public_archive
from .flow_config import FlowConfig
from .notify_section import Notify
from .output_section import PlacesSection, output_section
from .run_section import Run, RunSection
from .section import Section


class SampleSection(Section):
    """Which outputs are checked."""

    count: Annotated[int, Field(ge=1)] | None = Field(
        default=50,
        description="How many outputs are checked, chosen by chance from all; null for all of them.",
    )
    seed: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="What chooses them; null takes the day, so that every day others are checked.",
    )

    @property
    def chosen_seed(self) -> int:
        """The seed, or today's."""
        return datetime.now(UTC).date().toordinal() if self.seed is None else self.seed


class VerifyOutputsConfig(FlowConfig):
    """Configuration of the flow verify_outputs: published references, compared anew with the archive."""

    flow: Literal["verify_outputs"] = Field(description="Which flow the configuration is for.")
    archive: Archive = Field(default_factory=public_archive)
    output: Annotated[PlacesSection, BeforeValidator(output_section)] = Field(
        description="Where the references are: a folder, or a section."
    )
    sample: SampleSection = Field(default_factory=SampleSection, description="Which outputs are checked.")
    mode: Literal["sample", "full"] = Field(
        default="sample",
        description="sample: everything but the values of inner chunks, of which a choice is compared; "
        "full: all values.",
    )
    run: Run = Field(default_factory=RunSection)
    notify: Notify = None

    @property
    def layouts(self) -> list[tuple[OutputLayout, bool]]:
        """The outputs, each with whether it is the private one."""
        places = [(self.output.place, False), (self.output.private_place, True)]
        return [(layout_at(place), is_private) for place, is_private in places if place is not None]

    def verification(self, seed: int) -> VerificationOptions:
        """How references are compared, in the library's words."""
        return VerificationOptions(self.mode, seed)

    @property
    def warnings(self) -> list[str]:
        """What may be a mistake."""
        return self.archive.warnings
