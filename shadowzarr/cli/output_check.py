"""Whether references can be written to a place, asked before the work rather than after it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def check_output(out: str, *, force: bool, sources: Iterable[str | None]) -> None:
    """Refuse at once what would be refused after the work.

    Parameters
    ----------
    out : str
        Where references are to be written.
    force : bool
        Whether references that are there may be replaced.
    sources : iterable of str or None
        Files that are read, and must not be written to.

    Raises
    ------
    OutputError, UsageError
        When it cannot be written, or must not be.
    """
    from ..access.locations import written_path
    from ..errors import OutputError
    from ..write import check_replaceable

    path = written_path(out)
    if any(source is not None and _is_same_file(source, path) for source in sources):
        other = path.with_suffix(".shadowzarr")
        other = path.with_name(f"{path.stem}-2.shadowzarr") if other == path else other
        raise OutputError(
            f"{out} is the source itself and is never written to; name another place for the references, "
            f"such as {other}"
        )
    parent = path.absolute().parent
    if not parent.is_dir():
        raise OutputError(f"{out} cannot be written: there is no directory {parent}")
    if not os.access(parent, os.W_OK):
        raise OutputError(f"{out} cannot be written: {parent} is not writable")
    check_replaceable(path)
    if path.exists() and not force:
        raise OutputError(f"{out} exists; give --force to replace it")


def _is_same_file(source: str, path: Path) -> bool:
    try:
        return path.samefile(source.removeprefix("file://"))
    except (OSError, ValueError):
        return False  # one of them does not exist, or the source is a URL
