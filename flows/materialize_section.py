"""What a configuration says about Zarr stores of assets: what they look like, and where they go."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shadowzarr.catalog.layout import OutputLayout, layout_at
from shadowzarr.catalog.materialize_plan import MaterializeOptions

from .output_section import PlaceSection
from .run_section import RunSection
from .section import Section, Texts

MIB = 2**20

AssetSeconds = Annotated[
    Annotated[float, Field(gt=0)] | None,
    Field(
        description="Seconds that one asset may take; null for no limit. The next run goes on where it was."
    ),
]
"""How long materializing one asset may take."""


class StoresSection(Section):
    """Which assets become Zarr stores, and what these look like."""

    include: Texts = Field(
        default=["**"],
        description="Glob patterns of asset paths that are wanted; * stays within a folder, ** does not.",
    )
    exclude: Texts = Field(default=[], description="Glob patterns of asset paths that are not wanted.")
    layout: Literal["default", "ephys", "imaging"] = Field(
        default="default",
        description="default: whole rows along the first axis; ephys: time by 64 channels; imaging: whole "
        "frames; each in chunks of about 4 MiB.",
    )
    form: Literal["folder", "zip"] = Field(
        default="folder", description="folder: a store of many files; zip: one file for each asset."
    )
    verify: bool = Field(
        default=True, description="Whether what was written is read back and compared bit for bit."
    )
    max_memory: Annotated[int, Field(ge=MIB)] = Field(
        default=1024 * MIB,
        description="Bytes of data that one asset holds at a time; below run.memory_limit.",
    )

    @property
    def options(self) -> MaterializeOptions:
        """What stores look like, in the library's words."""
        return MaterializeOptions(self.layout, self.form)

    def check_memory(self, run: RunSection) -> None:
        """Refuse a memory that cannot be held.

        Raises
        ------
        ValueError
            When it is not below the limit of a process.
        """
        limit = run.memory_limit
        if limit is not None and self.max_memory >= limit:
            raise ValueError(
                f"expected max_memory, {self.max_memory:,} bytes, below run.memory_limit, {limit:,} bytes"
            )


class MaterializeSection(StoresSection, PlaceSection):
    """Zarr stores of the assets, written at the end of a run as materialize_assets does."""

    enabled: bool = Field(default=True, description="Whether the section applies.")
    folder: Annotated[str, Field(min_length=1)] = Field(
        description="Where stores are written: a folder, relative to the working directory; or "
        "s3://BUCKET/PREFIX. Credentials come from the AWS_ variables of the environment."
    )
    timeout: AssetSeconds = None

    @property
    def target(self) -> OutputLayout:
        """The destination."""
        return layout_at(self.place)
