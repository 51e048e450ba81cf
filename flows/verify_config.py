"""What the flow verify_outputs can be asked to do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.layout import OutputLayout, layout_at

from .archive_section import ArchiveSection, archive_section
from .flow_config import FlowConfig
from .notify_section import NotifySection
from .output_section import PlacesSection, output_section
from .run_section import RunSection
from .sources import Section


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
    archive: Annotated[ArchiveSection, BeforeValidator(archive_section)] = Field(
        default_factory=lambda: ArchiveSection.model_validate(archive_section("dandi")),
        description="dandi, dandi-sandbox, the URL of an archive's API, or a section with api_url and "
        "api_key_env.",
    )
    output: Annotated[PlacesSection, BeforeValidator(output_section)] = Field(
        description="Where the references are: a folder, or a section."
    )
    sample: SampleSection = Field(default_factory=SampleSection, description="Which outputs are checked.")
    mode: Literal["sample", "full"] = Field(
        default="sample",
        description="sample: everything but the values of inner chunks, of which a choice is compared; "
        "full: all values.",
    )
    run: RunSection = Field(
        default_factory=RunSection, description="How much of the machine the run may use."
    )

    notify: NotifySection | None = Field(
        default=None, description="Who is told how a run ended; nobody when left out."
    )

    @property
    def layouts(self) -> list[tuple[OutputLayout, bool]]:
        """The outputs, each with whether it is the private one."""
        places = [(self.output.place, False), (self.output.private_place, True)]
        return [(layout_at(place), is_private) for place, is_private in places if place is not None]

    @property
    def address(self) -> ArchiveAddress:
        """The archive in the library's words."""
        return ArchiveAddress(self.archive.api_url.rstrip("/"), self.archive.api_key_env)

    def verification(self, seed: int) -> VerificationOptions:
        """How references are compared, in the library's words."""
        return VerificationOptions(self.mode, seed)

    @property
    def warnings(self) -> list[str]:
        """What may be a mistake."""
        return self.archive.warnings
