"""What flows can be asked to do: one model per flow, a description on every field.

Reading a file into a model, and what is said about a wrong one, is the subject of `flows.load_config`;
the library never sees a model (`IndexDandisetsConfig.request`).
"""

from __future__ import annotations

import hashlib
import os
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import BeforeValidator, ConfigDict, Field, PrivateAttr, StringConstraints, model_validator

from shadowzarr.access.archives import archive_named
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.plan import DEFAULT_INCLUDE
from shadowzarr.catalog.request import IndexRequest
from shadowzarr.catalog.run_summary import Fate

from .prices_section import PricesSection
from .redo_section import RedoSection
from .sources import (
    ENTRIES,
    DandisetSection,
    FolderSection,
    Globs,
    ManifestSection,
    Section,
    absolute,
    dandiset_request,
    dandiset_section,
    folder_request,
    folder_section,
    manifest_request,
    manifest_section,
)

MIB = 2**20
ARCHIVE_NAMES = ("dandi", "dandi-sandbox")
FATES: dict[str, Fate] = {"keep": "kept", "move": "moved aside", "delete": "deleted"}


def _archive(value: Any) -> Any:
    """Take an archive's name, or the URL of its API, in place of the section."""
    if not isinstance(value, str):
        return value
    archive = archive_named(value) if value in ARCHIVE_NAMES else None
    if archive is not None:
        return {"api_url": archive.api_url, "api_key_env": archive.key_env}
    if value.startswith(("http://", "https://")):
        return {"api_url": value}
    names = " or ".join(ARCHIVE_NAMES)
    raise ValueError(f"expected {names}, the URL of an API, or a section with api_url|{list(ARCHIVE_NAMES)}")


class ArchiveSection(Section):
    """Where assets are listed and read."""

    api_url: Annotated[str, StringConstraints(pattern=r"^https?://[^/\s?#@]+(/[^\s?#]*)?$")] = Field(
        description="Root of the archive's API, such as https://api.dandiarchive.org/api."
    )
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = Field(
        default=None,
        description="Name of the environment variable that holds the API key; the key itself never "
        "stands in a configuration.",
    )

    @property
    def lacks_key(self) -> bool:
        """Whether a key is named and not there; those of the public archives are named by themselves."""
        named = [archive_named(name) for name in ARCHIVE_NAMES]
        is_public = any(each is not None and each.api_url == self.api_url for each in named)
        return self.api_key_env is not None and not is_public and not os.environ.get(self.api_key_env)


class OutputSection(Section):
    """Where results are written."""

    folder: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Folder for references, records and the report; relative to the working directory."
    )
    private_output: Annotated[str, StringConstraints(min_length=1)] | None = Field(
        default=None,
        description="Folder for everything about embargoed assets, which are passed over without it.",
    )
    gone: Literal["keep", "move", "delete"] = Field(
        default="keep",
        description="What becomes of results whose assets were removed from their version or renamed: keep "
        "them, move them to the folder gone beside all others, or delete them.",
    )

    @model_validator(mode="after")
    def _keep_apart(self) -> Self:
        """Refuse a private output that is published with the public one, or the other way round."""
        if self.private_output is not None:
            public, private = absolute(self.folder), absolute(self.private_output)
            if public.is_relative_to(private) or private.is_relative_to(public):
                raise ValueError("expected private_output to be outside of folder, and folder outside of it")
        return self


class ReferencesSection(Section):
    """What references look like; a change here does all assets again."""

    chunk_index_threshold: Annotated[int, Field(ge=0)] | None = Field(
        default=1000,
        description="Arrays with more chunks get a chunk index; null lists every chunk.",
    )
    contiguous_chunk_bytes: Annotated[int, Field(ge=1)] = Field(
        default=4 * MIB, description="Contiguous datasets are cut into pieces of about so many bytes."
    )
    on_unsupported: Literal["copy", "skip", "error"] = Field(
        default="copy",
        description="Values that no codec can decode: copy them into the references, skip them by name, "
        "or fail the asset.",
    )
    inline_limit: Annotated[int, Field(ge=0)] = Field(
        default=64 * MIB, description="Bytes of inline and copied values in the references of one asset."
    )
    url: Literal["download", "blob"] = Field(
        default="download",
        description="Which URL of an asset references use: download works for every asset, blob needs no "
        "redirect and works for open assets only.",
    )
    form: Literal["directory", "json"] = Field(
        default="directory",
        description="directory: refs.json with index arrays, opens at once whatever the number of chunks; "
        "json: one file with every chunk, for fsspec and kerchunk readers.",
    )


class VerificationSection(Section):
    """How references are compared with the original before they are published."""

    mode: Literal["sample", "full", "none"] = Field(
        default="sample",
        description="sample: everything but the values of inner chunks, of which a choice is compared; "
        "full: all values; none: publish unverified.",
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=0, description="Seed of the choice of chunks.")


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


class IcechunkSection(Section):
    """Icechunk repositories of the indexed assets. Comes with a later version; not done by this one."""

    enabled: bool = Field(default=True, description="Whether the section applies.")
    repository: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Folder or URL of the repositories, one per dandiset."
    )
    branch: Annotated[str, StringConstraints(min_length=1)] = Field(
        default="main", description="Branch that follows the archive."
    )


class MaterializeSection(Section):
    """Ordinary Zarr stores of chosen assets. Comes with a later version; not done by this one."""

    enabled: bool = Field(default=True, description="Whether the section applies.")
    folder: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Folder or URL of the stores."
    )
    include: Globs = Field(
        default=list(DEFAULT_INCLUDE), description="Glob patterns of asset paths to materialize."
    )


def _output(value: Any) -> Any:
    return {"folder": value} if isinstance(value, str) else value


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
    if location == ("output",):
        return {"folder": value}
    if len(location) == 2 and location[0] in ENTRIES:
        return {ENTRIES[location[0]]: value}
    if location == ("archive",):
        return {} if replaced == "api_url" else _archive(value)
    return value


class IndexDandisetsConfig(Section):
    """Configuration of the flow index_dandisets: references for assets of dandisets, and for other files."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": [name]} for name in ENTRIES]}  # what a validator says too
    )

    flow: Literal["index_dandisets"] = Field(description="Which flow the configuration is for.")
    archive: Annotated[ArchiveSection, BeforeValidator(_archive)] = Field(
        default_factory=lambda: ArchiveSection.model_validate(_archive("dandi")),
        description="dandi, dandi-sandbox, the URL of an archive's API, or a section with api_url and "
        "api_key_env.",
    )
    dandisets: list[Annotated[DandisetSection, BeforeValidator(dandiset_section)]] = Field(
        default=[], description="Dandisets to be indexed; an entry may be just an identifier in quotes."
    )
    folders: list[Annotated[FolderSection, BeforeValidator(folder_section)]] = Field(
        default=[], description="Folders of files to be indexed; an entry may be just a path."
    )
    manifests: list[Annotated[ManifestSection, BeforeValidator(manifest_section)]] = Field(
        default=[], description="Lists of files to be indexed; an entry may be just a path or URL."
    )
    output: Annotated[OutputSection, BeforeValidator(_output)] = Field(
        description="Where results are written: a folder, or a section."
    )
    references: ReferencesSection = Field(
        default_factory=ReferencesSection, description="What references look like."
    )
    verification: VerificationSection = Field(
        default_factory=VerificationSection, description="How references are verified."
    )
    run: RunSection = Field(
        default_factory=RunSection, description="How much of the machine the run may use."
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
    icechunk: IcechunkSection | None = Field(
        default=None, description="Icechunk repositories of the indexed assets (a later version)."
    )
    materialize: MaterializeSection | None = Field(
        default=None, description="Ordinary Zarr stores of chosen assets (a later version)."
    )
    _source: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _has_sources(self) -> Self:
        """Refuse a configuration that asks for nothing, and two folders or manifests of one name."""
        if not (self.dandisets or self.folders or self.manifests):
            raise ValueError("expected at least one entry in dandisets, folders or manifests")
        names = [each.title for each in self.folders] + [each.title for each in self.manifests]
        folded = [name.casefold() for name in names]
        twice = next((name for name in names if folded.count(name.casefold()) > 1), None)
        if twice is not None:
            raise ValueError(f"expected one folder or manifest of the name {twice!r}; give each a name")
        return self

    @property
    def source(self) -> str:
        """The file it was read from, as it was named; empty when it came from elsewhere."""
        return self._source

    def read_from(self, path: str) -> Self:
        """Remember which file it was read from."""
        self._source = path
        return self

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits, the same for the same content."""
        content = orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(content).hexdigest()[:12]

    @property
    def warnings(self) -> list[str]:
        """What is asked for and not done by this version, and the like."""
        found = [
            f"the section {name}: is accepted, but that step comes with a later version: it is NOT done"
            for name, section in (("icechunk", self.icechunk), ("materialize", self.materialize))
            if section is not None and section.enabled
        ]
        if self.verification.mode == "none":
            found.append("verification.mode is none: references are published unverified")
        if self.dandisets and self.archive.lacks_key:
            found.append(
                f"the variable {self.archive.api_key_env} that archive.api_key_env names is not set: "
                "the archive is asked without a key, and shows open dandisets alone"
            )
        return found

    @property
    def request(self) -> IndexRequest:
        """The same in the library's words."""
        private = self.output.private_output
        return IndexRequest(
            archive=ArchiveAddress(self.archive.api_url.rstrip("/"), self.archive.api_key_env),
            dandisets=tuple(map(dandiset_request, self.dandisets)),
            folders=tuple(map(folder_request, self.folders)),
            manifests=tuple(map(manifest_request, self.manifests)),
            output=absolute(self.output.folder),
            private_output=None if private is None else absolute(private),
            options=ReferenceOptions(**self.references.model_dump()),
            verification=VerificationOptions(**self.verification.model_dump()),
            concurrency=self.run.concurrency,
            timeout=self.run.timeout,
            memory_limit=self.run.memory_limit,
            stop_on_error=self.on_error == "stop",
            redo=self.redo.rules,
            gone=FATES[self.output.gone],
        )


FLOWS: dict[str, type[IndexDandisetsConfig]] = {"index_dandisets": IndexDandisetsConfig}
"""The model of each flow, by the value of ``flow:``."""
