"""What a configuration says about the archive."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from shadowzarr.access.archives import archive_named
from shadowzarr.catalog.archive_address import ArchiveAddress

from .section import Section

ARCHIVE_NAMES = ("dandi", "dandi-sandbox")


def archive_section(value: Any) -> Any:
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
    def address(self) -> ArchiveAddress:
        """The same in the library's words."""
        return ArchiveAddress(self.api_url.rstrip("/"), self.api_key_env)

    @property
    def lacks_key(self) -> bool:
        """Whether a key is named and not there; those of the public archives are named by themselves."""
        named = [archive_named(name) for name in ARCHIVE_NAMES]
        is_public = any(each is not None and each.api_url == self.api_url for each in named)
        return self.api_key_env is not None and not is_public and not os.environ.get(self.api_key_env)

    @property
    def warnings(self) -> list[str]:
        """What may be a mistake."""
        if not self.lacks_key:
            return []
        return [
            f"the variable {self.api_key_env} that archive.api_key_env names is not set: "
            "the archive is asked without a key, and shows open dandisets alone"
        ]


Archive = Annotated[
    ArchiveSection,
    BeforeValidator(archive_section),
    Field(
        description="dandi, dandi-sandbox, the URL of an archive's API, or a section with api_url and "
        "api_key_env."
    ),
]
"""What a configuration has as its ``archive``."""


def public_archive() -> ArchiveSection:
    """Return what a configuration has that names no archive."""
    return ArchiveSection.model_validate(archive_section("dandi"))
