"""Files that appear whole or not at all, by one rename."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import OutputError

TEMPORARY_SUFFIX = ".being-written"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside its own, then rename it.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        os.replace(temporary, path)  # noqa: PTH105 (Path.replace is the same call, but says less)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
