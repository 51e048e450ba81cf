"""Options of RfsStore as one type, for the functions that hand them on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypedDict

from ..access.allowed_places import LocalRoots
from ..access.merging import RangeCache
from ..refs.document import Rfs
from .fetch_chunk import FileReader
from .load_rfs import load_rfs


class StoreOptions(TypedDict, total=False):
    """Options of `RfsStore`."""

    validate_sources: bool
    strict_json: bool
    cf_attributes: bool
    phony_dims: bool
    local_cache: RangeCache | None
    merge_gap: int
    max_merge_size: int
    merge_below: int
    reader: FileReader | None
    allow_local_files: bool
    local_roots: LocalRoots | None
    allow_private: bool


def load_with(
    source: str | os.PathLike[str] | Mapping[str, Any], options: StoreOptions | Mapping[str, Any]
) -> Rfs:
    """What `load_rfs` gives under the options of a store that it is loaded for."""
    return load_rfs(
        source,
        reader=options.get("reader"),
        allow_local_files=options.get("allow_local_files", False),
        local_roots=options.get("local_roots"),
        allow_private=options.get("allow_private", True),
    )


SHOWN_OPTIONS = (
    *("validate_sources", "strict_json", "cf_attributes", "phony_dims"),
    *("merge_gap", "max_merge_size", "merge_below"),
)
"""Options that make stores different; where bytes come from and are kept does not."""
