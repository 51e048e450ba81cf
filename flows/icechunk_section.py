"""What a configuration says about Icechunk repositories: where they are, and what they keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.bucket_output import BucketOutput
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.refresh.request import PLACE_NAME, RefreshRequest
from shadowzarr.catalog.request import DandisetRequest

from .section import Section, absolute

LONGEST_DAYS = 36_500
"""A hundred years; null says for ever."""


def _place(value: str) -> str:
    """Take a folder or a bucket, and nothing else that has a scheme."""
    if "://" in value and not value.startswith("s3://"):
        raise ValueError("expected a folder, or s3://BUCKET/PREFIX")
    return value


class RepositoriesSection(Section):
    """Icechunk repositories, one per dandiset."""

    repository: Annotated[str, StringConstraints(min_length=1), AfterValidator(_place)] | None = Field(
        default=None,
        description="Where the repositories are, each in a folder named by its dandiset: a folder, or "
        "s3://BUCKET/PREFIX with the credentials of the AWS_ variables; the folder icechunk of the output "
        "when left out.",
    )
    branch: Annotated[str, StringConstraints(min_length=1)] = Field(
        default="main", description="Branch that follows the archive."
    )
    versions: Literal["all", "latest", "none"] = Field(
        default="all", description="Which published versions become tags."
    )
    keep_days: Annotated[float, Field(ge=0, le=LONGEST_DAYS)] | None = Field(
        default=30.0,
        description="Days for which snapshots stay in the history; those of tags and the newest one stay for "
        "ever, and null keeps all.",
    )
    grace_days: Annotated[float, Field(ge=0, le=LONGEST_DAYS)] = Field(
        default=1.0,
        description="Days for which objects stay that no snapshot needs; longer than any run takes.",
    )
    copy_selections: bool = Field(
        default=False,
        description="Copy the data of arrays that cannot be virtual, rather than leave their assets out.",
    )


class IcechunkSection(RepositoriesSection):
    """Icechunk repositories of the dandisets, refreshed at the end of a run as refresh_icechunk does."""

    enabled: bool = Field(default=True, description="Whether the section applies.")


def refresh_request(
    section: RepositoriesSection,
    *,
    archive: ArchiveAddress,
    output: Path | BucketOutput,
    dandisets: tuple[DandisetRequest, ...],
    force: bool = False,
) -> RefreshRequest:
    """The same in the library's words."""
    place, public = section.repository, layout_at(output)
    bucket = public.bucket if place is None else None
    if place is None:
        place = public.store.location(PLACE_NAME)
    elif "://" not in place:
        place = str(absolute(place))
    return RefreshRequest(
        archive,
        public,
        place,
        dandisets,
        branch=section.branch,
        versions=section.versions,
        keep_days=section.keep_days,
        grace_days=section.grace_days,
        copy_selections=section.copy_selections,
        force=force,
        endpoint=None if bucket is None else bucket.endpoint,
        region=None if bucket is None else bucket.region,
    )
