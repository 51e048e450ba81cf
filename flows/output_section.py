"""What a configuration says about where results are."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from shadowzarr.catalog.run_summary import Fate

from .sources import Section, absolute

FATES: dict[str, Fate] = {"keep": "kept", "move": "moved aside", "delete": "deleted"}


class PlacesSection(Section):
    """Where results lie."""

    folder: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Folder for references, records and the report; relative to the working directory."
    )
    private_output: Annotated[str, StringConstraints(min_length=1)] | None = Field(
        default=None,
        description="Folder for everything about embargoed assets, which are passed over without it.",
    )

    @model_validator(mode="after")
    def _keep_apart(self) -> Self:
        """Refuse a private output that is published with the public one, or the other way round."""
        if self.private_output is not None:
            public, private = absolute(self.folder), absolute(self.private_output)
            if public.is_relative_to(private) or private.is_relative_to(public):
                raise ValueError("expected private_output to be outside of folder, and folder outside of it")
        return self


class OutputSection(PlacesSection):
    """Where results are written."""

    gone: Literal["keep", "move", "delete"] = Field(
        default="keep",
        description="What becomes of results whose assets were removed from their version or renamed: keep "
        "them, move them to the folder gone beside all others, or delete them.",
    )


def output_section(value: Any) -> Any:
    """Take the short form: an output is a folder."""
    return {"folder": value} if isinstance(value, str) else value
