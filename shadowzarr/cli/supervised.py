"""A verb in a process of its own, so that HDF5 may crash or never end and the user reads a message.

HDF5 ends the process on some files (a fault in its own memory) and loops for ever on others, which no
Python code can catch. The verbs that use HDF5 are therefore run by a second process of the same command, with
the same arguments, streams and exit code; how it ended by a signal is told here, and it is ended when it
stands still.
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
from typing import NoReturn

from ..access import watched
from ..catalog.child_main import end_with_parent
from ..catalog.process_facts import crash_message
from ..errors import ChildCrashedError, ChildTimedOutError
from .stall import Watch
from .verbs import tell_stopped

RISKY = frozenset({"generate", "verify", "to-hdf5", "convert"})
"""Verbs that let HDF5 read or write a file."""

_HELP = frozenset({"--help", "-h", "--version"})
_LIFE_LINE = "SHADOWZARR_LIFE_LINE"
_WATCHED = "SHADOWZARR_WATCHED"
_START = "import sys; sys.path.append({root!r}); from shadowzarr.cli.supervised import serve; serve()"
_ADVICE = "the file is damaged, or holds what this HDF5 library cannot read"
_GRACE = 5.0
"""Seconds that the other process has to end when it is asked to; HDF5 may not let it answer."""


def is_wanted(arguments: Sequence[str]) -> bool:
    """Whether the command is to be run by another process; in that process it is not."""
    life_line, pipe = os.environ.pop(_LIFE_LINE, None), os.environ.pop(_WATCHED, None)
    if life_line is not None:
        end_with_parent(int(life_line))
        if pipe is not None:
            watched.watch_through(int(pipe))
        return False
    return bool(arguments) and arguments[0] in RISKY and _HELP.isdisjoint(arguments)


def serve() -> NoReturn:
    """Be the other process: run the command and end, without HDF5's own clearing up, which may crash."""
    from .command import main

    signal.signal(signal.SIGTERM, _terminate)
    try:
        code = main()
    except SystemExit as asked:
        code = asked.code if isinstance(asked.code, int) else 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # `main` has told what it could not write
            if stream is not None:
                stream.flush()
    os._exit(code)


def _terminate(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)  # so that what is half made is taken away


def run(arguments: Sequence[str]) -> int:
    """Run the command in another process; gives its exit code.

    Raises
    ------
    ChildCrashedError
        When a signal ended it.
    ChildTimedOutError
        When it stood still and was ended.
    """
    theirs, ours = os.pipe()
    news, telling = os.pipe()
    start = _START.format(root=str(Path(__file__).resolve().parents[2]))
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, ours)
        stack.callback(os.close, news)
        process = subprocess.Popen(  # noqa: S603 - this command itself
            [sys.executable, "-P", "-c", start, *arguments],
            env={**os.environ, _LIFE_LINE: str(theirs), _WATCHED: str(telling)},
            pass_fds=(theirs, telling),
            process_group=0,  # an interrupt reaches it once, from here
        )
        os.close(theirs)
        os.close(telling)
        watch = Watch(process.pid, news)
        asked = stack.enter_context(_passing_on(process, watch))
        while process.poll() is None and watch.wait():
            pass
        if process.poll() is None:
            process.kill()
        code = process.wait()
        watch.read()
    return _outcome(code, arguments, watch, asked)


def _outcome(code: int, arguments: Sequence[str], watch: Watch, asked: list[int]) -> int:
    if code >= 0:
        return code
    for path in watch.half_made:
        path.unlink(missing_ok=True)
    if signal.SIGINT in asked:  # the other process did not come to say it
        tell_stopped(arguments)
    if asked or -code in (signal.SIGINT, signal.SIGTERM):
        return 128 + (asked[0] if asked else -code)
    at = f" at {watch.object}" if watch.object else ""
    if watch.stood_still:
        raise ChildTimedOutError(
            f"{_subject(arguments)}: nothing was read and no object was done for {watch.seconds:g} s{at}, so "
            f"it was given up; {_ADVICE}, or needs a longer --timeout"
        )
    raise ChildCrashedError(f"{_subject(arguments)}: {crash_message(code)}{at}; {_ADVICE}")


def _subject(arguments: Sequence[str]) -> str:
    """The file that the command was about."""
    named = [each for each in arguments[1:] if not each.startswith("-")]
    return named[0] if named else arguments[0]


@contextlib.contextmanager
def _passing_on(process: subprocess.Popen[bytes], watch: Watch) -> Iterator[list[int]]:
    """Pass on what asks this process to end; the other one answers. Gives what was asked."""
    asked: list[int] = []

    def send(number: int, _frame: FrameType | None) -> None:
        asked.append(number)
        watch.end_within(_GRACE)
        process.send_signal(number)

    before = {number: signal.signal(number, send) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
