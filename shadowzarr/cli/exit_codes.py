"""How a command ends, for all commands of this repository; docs/command-line.md has the same table."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
FAILED: Final = 1
CALLED_WRONGLY: Final = 2
LEFT_OUT: Final = 3
HUNG_UP: Final = 129
INTERRUPTED: Final = 130
TERMINATED: Final = 143

MEANINGS: Final = {
    DONE: "done",
    FAILED: "failed, or different where two things were compared",
    CALLED_WRONGLY: "called wrongly: nothing was tried",
    LEFT_OUT: "done, but something is left out by name",
    HUNG_UP: "ended since the terminal was closed",
    INTERRUPTED: "interrupted by Ctrl-C",
    TERMINATED: "ended by the system, or by another program",
}
"""What each says; programs that are ended by signal N end with 128 + N, as everywhere."""
