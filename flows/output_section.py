"""What a configuration says about where results are: in a folder, or below a prefix of a bucket."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from shadowzarr.catalog.bucket_output import SCHEME, BucketOutput, bucket_output
from shadowzarr.catalog.run_summary import Fate

from .section import Section, absolute

FATES: dict[str, Fate] = {"keep": "kept", "move": "moved aside", "delete": "deleted"}


class PlaceSection(Section):
    """A folder, or a prefix of a bucket."""

    folder: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="A folder, relative to the working directory; or s3://BUCKET/PREFIX. Credentials come "
        "from the AWS_ variables of the environment."
    )
    endpoint: Annotated[str, StringConstraints(pattern=r"^https?://[^\s?#@]+$")] | None = Field(
        default=None,
        description="Root of the service that s3:// is at; by default AWS_ENDPOINT_URL, or Amazon's.",
    )
    region: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")] | None = Field(
        default=None, description="Region of the bucket; that of AWS_REGION by default."
    )
    work_folder: Annotated[str, StringConstraints(min_length=1)] | None = Field(
        default=None,
        description="Folder on this machine for unpublished work when results go to s3://; "
        "~/.shadowzarr/outputs by default.",
    )

    @property
    def place(self) -> Path | BucketOutput:
        """The same in the library's words."""
        return self._place(self.folder)

    def _place(self, folder: str) -> Path | BucketOutput:
        if not folder.startswith(SCHEME):
            return absolute(folder)
        workings = None if self.work_folder is None else absolute(self.work_folder)
        return bucket_output(folder, workings=workings, endpoint=self.endpoint, region=self.region)


class PlacesSection(PlaceSection):
    """Where results lie."""

    folder: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Folder for references, records and the report, relative to the working directory; or "
        "s3://BUCKET/PREFIX. Credentials come from the AWS_ variables of the environment."
    )
    private_output: Annotated[str, StringConstraints(min_length=1)] | None = Field(
        default=None,
        description="Folder, or s3://BUCKET/PREFIX, for everything about embargoed assets, which are passed "
        "over without it.",
    )

    @model_validator(mode="after")
    def _keep_apart(self) -> Self:
        """Refuse a private output that is published with the public one, or the other way round."""
        public, private = self.place, self.private_place
        if private is not None and are_nested(public, private):
            raise ValueError("expected private_output to be outside of folder, and folder outside of it")
        return self

    @property
    def private_place(self) -> Path | BucketOutput | None:
        """Where those about embargoed assets are."""
        return None if self.private_output is None else self._place(self.private_output)


class OutputSection(PlacesSection):
    """Where results are written."""

    gone: Literal["keep", "move", "delete"] = Field(
        default="keep",
        description="What becomes of results whose assets were removed from their version or renamed: keep "
        "them, move them to the folder gone beside all others, or delete them.",
    )
    site: bool = Field(
        default=True,
        description="Whether the page of the catalogue (index.html, site/) is brought up to date.",
    )


def are_nested(one: Path | BucketOutput, other: Path | BucketOutput) -> bool:
    """Whether one place lies in another, or is the same."""
    names: list[PurePath] = [each.folder if isinstance(each, BucketOutput) else each for each in (one, other)]
    return names[0].is_relative_to(names[1]) or names[1].is_relative_to(names[0])


def output_section(value: Any) -> Any:
    """Take the short form: an output is a folder."""
    return {"folder": value} if isinstance(value, str) else value
