"""What can be told of a process from outside: its memory, and how it ended."""

from __future__ import annotations

import os
import signal
from pathlib import Path

KILLED_BY_SYSTEM = "perhaps by the system for want of memory"


def resident_bytes(process: int) -> int:
    """Return the resident memory of a process, or 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/statm").read_bytes().split()
    except OSError:
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 1 else 0


def crash_message(returncode: int) -> str:
    """Say how a process ended, from its return code (negative: a signal)."""
    if returncode >= 0:
        return f"the process reading it ended by itself (exit code {returncode})"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    if name == "SIGKILL":
        return f"the process reading it was killed (SIGKILL), {KILLED_BY_SYSTEM}"
    return f"the process reading it crashed ({name})"
