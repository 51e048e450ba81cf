"""What this process is working on, told to a process that watches it; nothing where nobody does.

A watching process gives the writing end of a pipe. It is never waited for: what it does not read is lost.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Final

WORKING_ON, BYTES_CAME, ALLOWED, MAKING = b"w", b"b", b"a", b"m"
"""First byte of each line: what it says."""

_PAUSE: Final = 0.5
"""Seconds after which it is told again that bytes come."""


class _Teller:
    """The pipe, and when it was last told that bytes came."""

    def __init__(self) -> None:
        self.pipe: int | None = None
        self.last = 0.0

    def tell(self, what: bytes, text: str = "") -> None:
        if self.pipe is None:
            return
        line = what + text.replace("\n", " ").encode("utf-8", "backslashreplace")[:2000] + b"\n"
        with contextlib.suppress(OSError):  # nobody reads any more, or not fast enough
            os.write(self.pipe, line)


_TELLER: Final = _Teller()


def watch_through(pipe: int) -> None:
    """Tell through a pipe from now on."""
    os.set_blocking(pipe, False)
    _TELLER.pipe = pipe


def working_on(name: str) -> None:
    """Say which object is worked on now, or what else is done."""
    _TELLER.tell(WORKING_ON, name)


def bytes_came() -> None:
    """Say that bytes came from somewhere."""
    if _TELLER.pipe is not None and time.monotonic() - _TELLER.last > _PAUSE:
        _TELLER.last = time.monotonic()
        _TELLER.tell(BYTES_CAME)


def allow(seconds: float) -> None:
    """Say how long one object may take without a byte being read."""
    _TELLER.tell(ALLOWED, str(seconds))


def making(path: str | os.PathLike[str]) -> None:
    """Say which file is no use unless this process ends well."""
    _TELLER.tell(MAKING, os.fspath(path))
