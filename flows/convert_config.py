"""What the flow convert_recordings can be asked to do."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from shadowzarr.access.locations import is_remote
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.request import IndexRequest, ManifestRequest
from shadowzarr.conversion.given import check_given
from shadowzarr.conversion.interfaces import check_interface
from shadowzarr.conversion.request import (
    ConversionRequest,
    ConversionRules,
    Interface,
    Recording,
    check_name,
    check_names,
)
from shadowzarr.conversion.sources import named_paths

from .flow_config import FlowConfig
from .notify_section import Notify
from .output_section import PlaceSection, are_nested, output_section
from .prices_section import PricesSection
from .redo_section import RedoSection
from .run_section import Run, RunSection
from .section import Section, Texts, absolute
from .sources import CollectionName
from .verification_section import VerificationSection

_HOSTING = r"^(https?|s3)://[^\s?#@]+$"
_CLASSES = "a class of neuroconv.datainterfaces or neuroconv.converters"


def _known(name: str) -> str:
    """Refuse a name that NeuroConv does not know; where it is not installed, a run is refused later."""
    if importlib.util.find_spec("neuroconv") is not None:
        check_interface(name)
    return name


def _usable(name: str) -> str:
    check_name(name)
    return name


def _hosting(url: str) -> str:
    if not re.fullmatch(_HOSTING, url):
        raise ValueError("expected an http(s):// or s3:// URL of a folder, without user, query and fragment")
    return url


HostingURL = Annotated[str, AfterValidator(_hosting), Field(json_schema_extra={"pattern": _HOSTING})]


class InterfaceSection(Section):
    """One of NeuroConv's interfaces, and what it is given."""

    interface: Annotated[str, AfterValidator(_known)] = Field(
        description=f"Name of the interface, {_CLASSES}, such as SpikeGLXRecordingInterface."
    )
    source_data: dict[str, Any] = Field(
        description="What the interface is made with, such as folder_path and stream_id; paths are relative "
        "to the working directory."
    )
    conversion_options: dict[str, Any] = Field(
        default={}, description="What NeuroConv calls the conversion options of the interface."
    )

    @model_validator(mode="after")
    def _refuse_what_no_record_holds(self) -> Self:
        check_given("source_data", self.source_data)
        check_given("conversion_options", self.conversion_options)
        return self


class RecordingSection(Section):
    """What becomes one NWB file."""

    name: Annotated[str, StringConstraints(min_length=1), AfterValidator(_usable)] = Field(
        description="What the NWB file is called, without .nwb; may have folders, such as "
        "sub-01/sub-01_ecephys."
    )
    interfaces: Annotated[dict[str, InterfaceSection], Field(min_length=1)] = Field(
        description="NeuroConv's interfaces to the recording, by names of your choice."
    )
    metadata: Texts = Field(
        default=[],
        description="YAML or JSON files as NeuroConv takes them, put over the metadata that the interfaces "
        "give; later ones win.",
    )


class ValidationSection(Section):
    """How NWB files are judged by NWB's rules, beside pynwb.validate, which all must pass."""

    critical: Literal["refuse", "tell", "off"] = Field(
        default="refuse",
        description="What nwbinspector finds critical: refuse the recording, tell it in the record, or do "
        "not ask.",
    )


def _local(folder: str) -> str:
    if is_remote(folder):
        raise ValueError("expected a folder of this machine; ordinary NWB files are not written to buckets")
    return folder


class StoreSection(Section):
    """Ordinary NWB files, with all data in them, beside the references."""

    form: Literal["nwb-zarr", "nwb-hdf5"] = Field(
        description="nwb-zarr: a Zarr store; nwb-hdf5: an HDF5 file, written by pynwb."
    )
    folder: Annotated[str, StringConstraints(min_length=1), AfterValidator(_local)] = Field(
        description="Where they are written; outside of output."
    )


class ConvertRecordingsConfig(FlowConfig):
    """Configuration of the flow convert_recordings: recordings that NeuroConv reads, as virtual NWB files."""

    flow: Literal["convert_recordings"] = Field(description="Which flow the configuration is for.")
    name: CollectionName = Field(
        default="recordings", description="What the recordings are called together, in the output."
    )
    recordings: Annotated[list[RecordingSection], Field(min_length=1)] = Field(
        description="What is converted; each entry becomes one NWB file."
    )
    metadata: Texts = Field(
        default=[], description="Metadata of all recordings, as those of one, which win over them."
    )
    output: Annotated[PlaceSection, BeforeValidator(output_section)] = Field(
        description="Where references, records and the report are written: a folder, or a section."
    )
    form: Literal["directory", "json"] = Field(
        default="directory",
        description="directory: refs.json, with index arrays where there are many chunks; json: one file "
        "with every chunk.",
    )
    strict: bool = Field(
        default=True,
        description="Whether a recording fails when data of it cannot be referenced; false lets NeuroConv "
        "copy these into the references.",
    )
    url_for: dict[str, HostingURL] = Field(
        default={},
        description="Where recordings are hosted: URLs of folders, by the folders here; references then "
        "point there. Without it they point to the local files.",
    )
    check_hosts: bool = Field(
        default=True,
        description="Whether each file is asked for at its URL before publishing, and must have the same "
        "size.",
    )
    validation: ValidationSection = Field(
        default_factory=ValidationSection, description="How NWB files are judged by NWB's rules."
    )
    verification: VerificationSection = Field(
        default_factory=VerificationSection,
        description="How references are compared with what NeuroConv's readers give.",
    )
    materialize: StoreSection | None = Field(
        default=None, description="Ordinary NWB files of all recordings; none when left out."
    )
    run: Run = Field(default_factory=RunSection)
    redo: RedoSection = Field(
        default_factory=RedoSection, description="Which recordings are done that were done or tried before."
    )
    prices: PricesSection = Field(
        default_factory=PricesSection, description="What things cost, for the estimate of a plan."
    )
    on_error: Literal["continue", "stop"] = Field(
        default="continue",
        description="After a recording has failed: continue with the others, or start no further one.",
    )
    notify: Notify = None

    @model_validator(mode="after")
    def _keep_apart(self) -> Self:
        """Refuse two recordings of one name, and ordinary files among the references."""
        check_names([each.name for each in self.recordings])
        if self.run.is_elsewhere:
            raise ValueError("expected run.task_runner to be threads: recordings are read on this machine")
        if self.materialize is not None and are_nested(self.output.place, absolute(self.materialize.folder)):
            raise ValueError("expected materialize.folder to be outside of output, and output outside of it")
        return self

    @model_validator(mode="after")
    def _keep_out_of_recordings(self) -> Self:
        """Refuse folders to write to that lie in a recording, which they would change in each run."""
        written = {"output": self.output.place}
        if self.materialize is not None:
            written["materialize.folder"] = absolute(self.materialize.folder)
        for recording in map(self._recording, self.recordings):
            for path in named_paths(recording):
                for key, place in written.items():
                    if isinstance(place, Path) and place.resolve().is_relative_to(path.resolve()):
                        raise ValueError(f"expected {key} to be outside of the recording in {path}")
        return self

    @model_validator(mode="after")
    def _name_folders_once(self) -> Self:
        """Refuse a folder that is hosted at two URLs."""
        if len({absolute(folder) for folder in self.url_for}) < len(self.url_for):
            raise ValueError("expected each folder of url_for once; two of them are the same folder")
        return self

    @property
    def warnings(self) -> list[str]:
        """What may be a mistake."""
        is_none = self.verification.mode == "none"
        return ["verification.mode is none: references are published unverified"] if is_none else []

    @property
    def request(self) -> IndexRequest:
        """Output, processes and limits, in the library's words; the list of the recordings is this file."""
        return IndexRequest(
            archive=ArchiveAddress(""),
            dandisets=(),
            manifests=(ManifestRequest(self.name, self.source),),
            output=self.output.place,
            options=ReferenceOptions(form=self.form),
            verification=VerificationOptions(**self.verification.model_dump()),
            concurrency=self.run.concurrency,
            timeout=self.run.timeout,
            memory_limit=self.run.memory_limit,
            stop_on_error=self.on_error == "stop",
            redo=self.redo.rules,
        )

    @property
    def conversion(self) -> ConversionRequest:
        """All that is asked for, in the library's words."""
        return ConversionRequest(
            self.request, self.name, tuple(map(self._recording, self.recordings)), self._rules
        )

    @property
    def _rules(self) -> ConversionRules:
        store = self.materialize
        return ConversionRules(
            strict=self.strict,
            hosts={str(absolute(folder)): url for folder, url in self.url_for.items()},
            check_hosts=self.check_hosts,
            critical=self.validation.critical,
            store=None if store is None else store.form,
            stores=None if store is None else absolute(store.folder),
        )

    def _recording(self, section: RecordingSection) -> Recording:
        interfaces = {
            key: Interface(each.interface, each.source_data, each.conversion_options)
            for key, each in section.interfaces.items()
        }
        metadata = tuple(absolute(path) for path in [*self.metadata, *section.metadata])
        return Recording(section.name, interfaces, metadata)
