"""``shadowzarr cache``: what the local cache holds, and emptying it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ..formatting import format_bytes
from .written import as_json


def cache(
    action: Literal["info", "clear"],
    *,
    folder: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Show what the cache of remote files' bytes holds, or empty it.

    Parameters
    ----------
    action
        What to do: show, or empty.
    folder
        The folder that was given to LocalCache; ~/.shadowzarr/cache by default.
    json
        Print what it holds, or held before it was emptied, as one JSON object.
    """
    from ..access.local_cache import DEFAULT_FOLDER, LocalCache
    from ..errors import UsageError

    kept = LocalCache(folder or DEFAULT_FOLDER)
    if folder is not None and not kept.path.exists():
        raise UsageError(f"there is no cache in {folder}: LocalCache would have {kept.path.name} there")
    before = kept.info()
    if action == "clear":
        kept.clear()
    if json:
        print(as_json(before))
    elif action == "clear":
        print(f"{before.path}: {format_bytes(before.nbytes)} dropped")
    else:
        print(f"path      {before.path}")
        print(f"files     {before.sources:,}")
        print(f"ranges    {before.ranges:,}")
        print(f"bytes     {format_bytes(before.nbytes)}")
        print(f"on disk   {format_bytes(before.on_disk)}")
    return 0
