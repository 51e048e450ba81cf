"""A disk of its own that gets full; only root may have one."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(place: Path, nbytes: int) -> Iterator[Path]:
    """Mount one at a new folder."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={nbytes}", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk may be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def remount(place: Path, option: str) -> None:
    """Change a disk, such as its ``size=`` or to ``ro``."""
    subprocess.run(["mount", "-o", f"remount,{option}", str(place)], check=True)
