"""How a job fails when its process, not its code, fails."""

from __future__ import annotations

import signal

from ..errors import ShadowzarrError, SourceError

KILLED_BY_SYSTEM = "perhaps by the system for want of memory"


class ChildFailedError(SourceError):
    """The process that worked on a source had to be given up; nothing else was touched.

    Attributes
    ----------
    details : str
        The beginning of what the process wrote to its error stream during the job.
    """

    def __init__(self, message: str, *, details: str = "") -> None:
        super().__init__(message)
        self.details = details


class ChildCrashedError(ChildFailedError):
    """The process ended by itself or by a signal, as a native library does on a damaged file."""


class ChildTimedOutError(ChildFailedError):
    """The job took longer than it may; its process was killed."""


class ChildOutOfMemoryError(ChildFailedError):
    """The job took more memory than it may; its process was killed."""


class ChildStartError(ChildFailedError):
    """No process could be started, which says nothing about the source."""


class PoolClosedError(ShadowzarrError):
    """The pool was closed, so the job did not run or did not end."""


class ForeignJobError(ShadowzarrError):
    """A job raised an exception that could not be brought back as it was."""


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
