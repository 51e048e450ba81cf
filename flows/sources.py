"""Where assets come from, as a configuration says it: dandisets, folders of files, lists of files.

The library's words for the same are in `shadowzarr.catalog.request`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, model_validator

from shadowzarr.access.locations import is_remote
from shadowzarr.catalog.plan import DEFAULT_INCLUDE, SelectionRules
from shadowzarr.catalog.request import FILE_INCLUDE, DandisetRequest, FolderRequest, ManifestRequest

from .section import Section, Texts, absolute

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
_NAME_RULE = "up to 80 letters, digits, dots, dashes and underscores; a letter or digit first; no six digits"
DANDISET = r"^\d{6}$"


class DandisetSection(Section):
    """One dandiset, and which of its assets are wanted."""

    id: Annotated[str, StringConstraints(pattern=DANDISET)] = Field(
        description='Identifier of the dandiset: six digits in quotes, such as "000006".'
    )
    version: Annotated[str, StringConstraints(pattern=r"^(draft|latest|0\.\d{6}\.\d{4})$")] = Field(
        default="draft",
        description="draft, latest (the newest published version), or a published version such as "
        "0.240101.1200.",
    )
    include: Texts = Field(
        default=list(DEFAULT_INCLUDE),
        description="Glob patterns of asset paths that are wanted; * stays within a folder, ** does not.",
    )
    exclude: Texts = Field(default=[], description="Glob patterns of asset paths that are not wanted.")
    limit: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="At most so many of the wanted assets, the first by path."
    )


CollectionName = Annotated[str, StringConstraints(pattern=_NAME)]
"""A name that is that of a folder on every system; it must be no dandiset's besides."""

Change = Literal["time", "digest"]
_CHANGE = (
    "How it is noticed that a local file has changed: time: its size and time of modification; digest: its "
    "bytes, all of which are read in every run."
)


class FolderSection(Section):
    """A folder of files, and which of them are wanted."""

    path: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="The folder; relative to the working directory."
    )
    name: CollectionName | None = Field(
        default=None,
        description=f"What its results are called ({_NAME_RULE}); the folder's own name when left out.",
    )
    include: Texts = Field(
        default=list(FILE_INCLUDE),
        description="Glob patterns of paths below the folder that are wanted; * stays within a folder, ** "
        "does not.",
    )
    recordings: bool = Field(
        default=True,
        description="Whether recordings that NEO reads are wanted too, whatever include says; the files of "
        "one are one asset, called as its folder or its first file. false: those that include matches.",
    )
    exclude: Texts = Field(default=[], description="Glob patterns of paths that are not wanted.")
    limit: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="At most so many of the wanted files, the first by path."
    )
    url_prefix: Annotated[str, StringConstraints(pattern=r"^(https?|s3)://[^\s?#@]+$")] | None = Field(
        default=None,
        description="URL under which the folder is hosted; references then point there, and the files are "
        "read here. Without it they point to the local files.",
    )
    identity: Change = Field(default="time", description=_CHANGE)

    @property
    def title(self) -> str:
        """What its results are called."""
        return self.name or absolute(self.path).name

    @model_validator(mode="after")
    def _has_title(self) -> Self:
        return _named(self, f"path: {self.path}")


class ManifestSection(Section):
    """A list of files, and which of them are wanted."""

    file: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="The list, a path or URL: one URL or path a line, a table with columns url or path, "
        "name, size and etag (.csv with commas, any other with tabs), or the same as .json."
    )
    name: CollectionName | None = Field(
        default=None,
        description=f"What its results are called ({_NAME_RULE}); the name of the list without its ending "
        "when left out.",
    )
    include: Texts = Field(default=["**"], description="Glob patterns of names that are wanted.")
    exclude: Texts = Field(default=[], description="Glob patterns of names that are not wanted.")
    limit: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="At most so many of the wanted files, the first by name."
    )
    identity: Change = Field(default="time", description=_CHANGE)

    @property
    def title(self) -> str:
        """What its results are called."""
        return self.name or urlsplit(self.file).path.rpartition("/")[2].rpartition(".")[0]

    @model_validator(mode="after")
    def _has_title(self) -> Self:
        return _named(self, f"file: {self.file}")


def dandiset_section(value: Any) -> Any:
    """Take the short form: a dandiset is an identifier."""
    return {"id": value} if isinstance(value, str) else value


def folder_section(value: Any) -> Any:
    """Take the short form: a folder is a path."""
    return {"path": value} if isinstance(value, str) else value


def manifest_section(value: Any) -> Any:
    """Take the short form: a manifest is a path or URL."""
    return {"file": value} if isinstance(value, str) else value


ENTRIES: dict[int | str, str] = {"dandisets": "id", "folders": "path", "manifests": "file"}
"""Lists of what is indexed, and the key that the short form of an entry stands for."""


def dandiset_request(section: DandisetSection) -> DandisetRequest:
    """The same in the library's words."""
    return DandisetRequest(section.id, section.version, _rules(section))


def folder_request(section: FolderSection) -> FolderRequest:
    """The same in the library's words."""
    return FolderRequest(
        section.title,
        absolute(section.path),
        replace(_rules(section), recordings=section.recordings),
        section.url_prefix or "",
        section.identity,
    )


def manifest_request(section: ManifestSection) -> ManifestRequest:
    """The same in the library's words."""
    file = section.file if is_remote(section.file) else str(absolute(section.file))
    return ManifestRequest(section.title, file, _rules(section), section.identity)


def _rules(section: DandisetSection | FolderSection | ManifestSection) -> SelectionRules:
    is_own = "include" in section.model_fields_set
    return SelectionRules(tuple(section.include), tuple(section.exclude), section.limit, is_own)


def _named[S: FolderSection | ManifestSection](section: S, entry: str) -> S:
    """Refuse a dandiset's name, and a folder or list whose own name cannot be that of results."""
    if section.name is not None and re.fullmatch(DANDISET, section.name):
        raise ValueError(f"expected another name than {section.name!r}: six digits are a dandiset's")
    if not re.fullmatch(_NAME, section.title) or re.fullmatch(DANDISET, section.title):
        raise ValueError(
            f"expected a name: beside {entry}, since {section.title!r} cannot be that of results "
            f"({_NAME_RULE})"
        )
    return section
