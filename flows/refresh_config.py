"""What the flow refresh_icechunk can be asked to do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from shadowzarr.catalog.refresh.request import RefreshRequest

from .archive_section import Archive, public_archive
from .flow_config import FlowConfig
from .icechunk_section import RepositoriesSection, refresh_request
from .notify_section import Notify
from .output_section import PlacesSection, output_section
from .section import Section
from .sources import DandisetSection, dandiset_request, dandiset_section


class RewriteSection(Section):
    """What is written that is there already."""

    force: bool = Field(default=False, description="Write all groups anew, whatever the repositories hold.")


class RetriesSection(Section):
    """How a run deals with errors that may pass."""

    retries: Annotated[int, Field(ge=0, le=20)] = Field(
        default=3,
        description="How often a step is tried again after an error that may pass (429, 5xx, time-outs).",
    )


class RefreshIcechunkConfig(FlowConfig):
    """Configuration of the flow refresh_icechunk: an Icechunk repository per dandiset follows the archive."""

    flow: Literal["refresh_icechunk"] = Field(description="Which flow the configuration is for.")
    archive: Archive = Field(default_factory=public_archive)
    dandisets: list[Annotated[DandisetSection, BeforeValidator(dandiset_section)]] = Field(
        default=[],
        description="Dandisets whose repositories are refreshed, as index_dandisets names them; all that the "
        "output holds, in their drafts, when left out.",
    )
    output: Annotated[PlacesSection, BeforeValidator(output_section)] = Field(
        description="Where index_dandisets has put the references: a folder, or a section. The private "
        "output is not looked at."
    )
    icechunk: RepositoriesSection = Field(
        default_factory=RepositoriesSection, description="Where the repositories are, and what they keep."
    )
    redo: RewriteSection = Field(
        default_factory=RewriteSection, description="What is written that is there already."
    )
    notify: Notify = None
    run: RetriesSection = Field(
        default_factory=RetriesSection, description="How errors that may pass are met."
    )

    @property
    def request(self) -> RefreshRequest:
        """The same in the library's words."""
        return refresh_request(
            self.icechunk,
            archive=self.archive.address,
            output=self.output.place,
            dandisets=tuple(map(dandiset_request, self.dandisets)),
            force=self.redo.force,
        )

    @property
    def warnings(self) -> list[str]:
        """What may be a mistake."""
        return self.archive.warnings
