"""Files that appear whole or not at all, by one rename."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path

from ..errors import OutputError
from ..replacing import bring_to_disk


def write_whole(path: Path, content: bytes, *, scratch: Path) -> None:
    """Write a file in a scratch folder, bring it to the disk, and rename it to its place.

    Parameters
    ----------
    path : Path
        Where the file goes; its folder is made.
    content : bytes
        All of it.
    scratch : Path
        A folder on the same file system whose left-overs somebody clears, so that a killed process
        leaves nothing beside ``path``.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    temporary = scratch / f"{uuid.uuid4().hex}.tmp"
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        bring_to_disk(temporary)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # the failure itself is told; half a file would keep the disk full
            temporary.unlink(missing_ok=True)
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
