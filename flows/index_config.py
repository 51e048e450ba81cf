"""What the flow index_dandisets can be asked to do: a description on every field.

Reading a file into a model, and what is said about a wrong one, is the subject of `flows.load_config`;
the library never sees a model (`IndexDandisetsConfig.request`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from shadowzarr.catalog.asset_names import repeated
from shadowzarr.catalog.bucket_output import BucketOutput
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.request import IndexRequest

from .archive_section import Archive, archive_section, public_archive
from .flow_config import FlowConfig
from .icechunk_section import IcechunkSection
from .limits_section import LimitsSection
from .materialize_section import MaterializeSection
from .metrics_section import MetricsSection
from .notify_section import Notify
from .output_section import FATES, OutputSection, are_nested, output_section
from .prices_section import PricesSection
from .redo_section import RedoSection
from .references_section import ReferencesSection
from .run_section import Run, RunSection
from .sources import (
    ENTRIES,
    DandisetSection,
    FolderSection,
    ManifestSection,
    dandiset_request,
    dandiset_section,
    folder_request,
    folder_section,
    manifest_request,
    manifest_section,
)
from .split_section import SplitSection
from .verification_section import VerificationSection


def long_form(location: tuple[int | str, ...], value: Any, *, replaced: int | str) -> Any:
    """Return the section that the short form of one stands for, so that another key of it can be set.

    Parameters
    ----------
    location : tuple
        Where the value stands, such as ``("dandisets", 0)``.
    value
        What stands there; anything but a short form is returned as it is.
    replaced : int or str
        The key that will be set. The address of a named archive goes together with its key: a key is
        never sent to the address that takes its place.

    Raises
    ------
    ValueError
        When it is text that stands for no section.
    """
    if isinstance(value, (dict, list)) or value is None:
        return value
    if location in (("output",), ("references",), ("destination",)):
        return {"folder": value}
    if len(location) == 2 and location[0] in ENTRIES:
        return {ENTRIES[location[0]]: value}
    if location == ("archive",):
        return {} if replaced == "api_url" else archive_section(value)
    return value


class IndexDandisetsConfig(FlowConfig):
    """Configuration of the flow index_dandisets: references for assets of dandisets, and for other files."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": [name]} for name in ENTRIES]}  # what a validator says too
    )

    flow: Literal["index_dandisets"] = Field(description="Which flow the configuration is for.")
    archive: Archive = Field(default_factory=public_archive)
    dandisets: list[Annotated[DandisetSection, BeforeValidator(dandiset_section)]] = Field(
        default=[], description="Dandisets to be indexed; an entry may be just an identifier in quotes."
    )
    folders: list[Annotated[FolderSection, BeforeValidator(folder_section)]] = Field(
        default=[], description="Folders of files to be indexed; an entry may be just a path."
    )
    manifests: list[Annotated[ManifestSection, BeforeValidator(manifest_section)]] = Field(
        default=[], description="Lists of files to be indexed; an entry may be just a path or URL."
    )
    output: Annotated[OutputSection, BeforeValidator(output_section)] = Field(
        description="Where results are written: a folder, or a section."
    )
    references: ReferencesSection = Field(
        default_factory=ReferencesSection, description="What references look like."
    )
    verification: VerificationSection = Field(
        default_factory=VerificationSection, description="How references are verified."
    )
    run: Run = Field(default_factory=RunSection)
    limits: LimitsSection = Field(
        default_factory=LimitsSection, description="How much may be asked of servers at once."
    )
    redo: RedoSection = Field(
        default_factory=RedoSection, description="Which assets are done that were done or tried before."
    )
    prices: PricesSection = Field(
        default_factory=PricesSection, description="What things cost, for the estimate of a plan."
    )
    on_error: Literal["continue", "stop"] = Field(
        default="continue",
        description="After an asset has failed: continue with the others, or start no further one. The run "
        "ends with exit code 1 either way.",
    )
    notify: Notify = None
    icechunk: IcechunkSection | None = Field(
        default=None,
        description="Icechunk repositories of the dandisets, refreshed at the end of a run; none when left "
        "out.",
    )
    materialize: MaterializeSection | None = Field(
        default=None,
        description="Ordinary Zarr stores of verified assets, written at the end of a run; none when left "
        "out.",
    )

    metrics: MetricsSection | None = Field(
        default=None, description="Where numbers of the run are for Prometheus; nowhere when left out."
    )
    split: SplitSection | None = Field(
        default=None,
        description="Have dandisets, folders and manifests done by workers of Prefect, each by a flow run of "
        "its own; one run does all when left out.",
    )

    @model_validator(mode="after")
    def _can_be_split(self) -> Self:
        """Refuse parts over an output whose lock cannot be shared."""
        places = (self.output.place, self.output.private_place)
        if self.split is not None and any(isinstance(place, BucketOutput) for place in places):
            raise ValueError("expected no split, which needs an output in a folder, and not in a bucket")
        return self

    @model_validator(mode="after")
    def _has_sources(self) -> Self:
        """Refuse a configuration that asks for nothing, and two folders or manifests of one name."""
        if not (self.dandisets or self.folders or self.manifests):
            raise ValueError("expected at least one entry in dandisets, folders or manifests")
        names = [each.title for each in self.folders] + [each.title for each in self.manifests]
        twice = repeated(names)
        if twice is not None:
            raise ValueError(f"expected one folder or manifest of the name {twice!r}; give each a name")
        return self

    @model_validator(mode="after")
    def _can_materialize(self) -> Self:
        """Refuse stores among the references, and a memory that cannot be held."""
        section = self.materialize
        if section is None:
            return self
        section.check_memory(self.run)
        for place in (self.output.place, self.output.private_place):
            if place is not None and are_nested(place, section.place):
                raise ValueError("expected materialize.folder outside of output, and output outside of it")
        return self

    @property
    def warnings(self) -> list[str]:
        """What may be a mistake."""
        found = []
        if self.verification.mode == "none":
            found.append("verification.mode is none: references are published unverified")
            if self.materialize is not None and self.materialize.enabled:
                found.append("materialize: takes verified references alone, and none will be")
        return found + (self.archive.warnings if self.dandisets else [])

    @property
    def request(self) -> IndexRequest:
        """The same in the library's words."""
        return IndexRequest(
            archive=self.archive.address,
            dandisets=tuple(map(dandiset_request, self.dandisets)),
            folders=tuple(map(folder_request, self.folders)),
            manifests=tuple(map(manifest_request, self.manifests)),
            output=self.output.place,
            private_output=self.output.private_place,
            options=ReferenceOptions(**self.references.model_dump()),
            verification=VerificationOptions(**self.verification.model_dump()),
            concurrency=self.run.concurrency,
            timeout=self.run.timeout,
            memory_limit=self.run.memory_limit,
            stop_on_error=self.on_error == "stop",
            redo=self.redo.rules,
            limits=self.limits.limits,
            gone=FATES[self.output.gone],
            in_parts=self.split is not None,
        )
