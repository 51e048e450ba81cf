"""A verb in a process of its own, so that HDF5 may crash on a damaged file and the user reads a message.

HDF5 ends the process on some files (a fault in its own memory), which no Python code can catch. The verbs
that read HDF5 files are therefore run by a second process of the same command, with the same arguments,
streams and exit code; only how it ended by a signal is told here.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from ..catalog.child_main import end_with_parent
from ..catalog.child_pool import crash_message
from ..errors import ChildCrashedError

RISKY = frozenset({"generate", "verify"})
"""Verbs that let HDF5 read a file."""

_HELP = frozenset({"--help", "-h", "--version"})
_LIFE_LINE = "SHADOWZARR_LIFE_LINE"
_START = "import sys; sys.path.append({root!r}); from shadowzarr.cli import main; sys.exit(main())"


def is_wanted(arguments: Sequence[str]) -> bool:
    """Whether the command is to be run by another process; in that process it is not."""
    life_line = os.environ.pop(_LIFE_LINE, None)
    if life_line is not None:
        end_with_parent(int(life_line))
        return False
    return bool(arguments) and arguments[0] in RISKY and _HELP.isdisjoint(arguments)


def run(arguments: Sequence[str]) -> int:
    """Run the command in another process; gives its exit code.

    Raises
    ------
    ChildCrashedError
        When a signal ended it.
    """
    theirs, ours = os.pipe()
    start = _START.format(root=str(Path(__file__).resolve().parents[2]))
    try:
        process = subprocess.Popen(  # noqa: S603 - this command itself
            [sys.executable, "-P", "-c", start, *arguments],
            env={**os.environ, _LIFE_LINE: str(theirs)},
            pass_fds=(theirs,),
            process_group=0,  # an interrupt reaches it once, from here
        )
        os.close(theirs)
        with _passing_on(process):
            code = process.wait()
    finally:
        os.close(ours)
    if code in (-signal.SIGINT, -signal.SIGTERM):
        return 128 - code
    if code >= 0:
        return code
    raise ChildCrashedError(f"{_subject(arguments)}: {crash_message(code)}; {_ADVICE}")


_ADVICE = "the file is damaged, or holds what this HDF5 library cannot read"


def _subject(arguments: Sequence[str]) -> str:
    """The file that the command was about."""
    named = [each for each in arguments[1:] if not each.startswith("-")]
    return named[0] if named else arguments[0]


@contextlib.contextmanager
def _passing_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Pass on what asks this process to end; the other one answers."""

    def send(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, send) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
