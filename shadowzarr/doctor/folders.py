"""Whether results and caches can be written, and whether there is room."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..access.local_cache import DEFAULT_FOLDER
from ..formatting import format_bytes
from .finding import Finding

LEAST_ROOM: Final = 2**30
"""Bytes below which there is a note; runs write references to disk before they publish them."""


def folders() -> Iterator[Finding]:
    """Look at the folder of caches and at that of temporary files."""
    yield _folder("cache", Path(DEFAULT_FOLDER).expanduser(), "set HOME to a folder that is yours")
    yield _folder("temporary files", Path(tempfile.gettempdir()), "set TMPDIR to a folder that is yours")


def _folder(what: str, folder: Path, remedy: str) -> Finding:
    there = folder
    while not there.exists():
        there = there.parent
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return Finding("cache", "wrong", f"{what}: {there} is no folder that can be written to", remedy)
    free = shutil.disk_usage(there).free
    says = f"{what}: {folder} can be written to, {format_bytes(free)} are free"
    if free < LEAST_ROOM:
        return Finding("cache", "note", says, "make room there")
    return Finding("cache", "fine", says)
