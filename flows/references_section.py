"""What a configuration says about what references look like."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .section import Section

MIB = 2**20


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
