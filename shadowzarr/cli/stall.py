"""Does another process of ours get on? It tells by a pipe, and the system says how much it reads."""

from __future__ import annotations

import os
import re
import select
import time
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from ..access.watched import ALLOWED, MAKING, WORKING_ON

TIMEOUT: Final = 600.0
"""Seconds that one object may take without a byte being read. HDF5 decodes any chunk in far less."""

Timeout = Annotated[float, Parameter(validator=Number(gte=0))]
"""The option of the verbs that are watched."""

_LOOK: Final = 1.0
"""Seconds between looks at what the system says."""
_READ: Final = re.compile(rb"^rchar: (\d+)$", re.MULTILINE)


class Watch:
    """Watches one process.

    Parameters
    ----------
    process : int
        Its number.
    news : int
        Reading end of the pipe by which it tells; see `access.watched`.

    Attributes
    ----------
    object : str
        What it is working on.
    half_made : list of pathlib.Path
        Files that are no use unless it ends well.
    seconds : float
        How long it may stand still; 0 for ever.
    stood_still : bool
        Whether it did, for longer.
    """

    def __init__(self, process: int, news: int) -> None:
        os.set_blocking(news, False)
        self._io = Path(f"/proc/{process}/io")
        self._news = news
        self._is_open = True
        self._rest = b""
        self._bytes_read = 0
        self._last = time.monotonic()
        self._end: float | None = None
        self.object = ""
        self.half_made: list[Path] = []
        self.seconds = TIMEOUT
        self.stood_still = False

    def wait(self) -> bool:
        """Wait a moment for news; False when the process is to be ended."""
        now = time.monotonic()
        if self._is_open:
            select.select([self._news], [], [], _LOOK)
        else:
            time.sleep(_LOOK / 20)  # it is ending
        if self.read() or self._has_read():
            self._last = now
        if self._end is not None:
            return time.monotonic() < self._end
        self.stood_still = self.seconds > 0 and time.monotonic() - self._last > self.seconds
        return not self.stood_still

    def end_within(self, seconds: float) -> None:
        """Give the process so many seconds to end, as it was asked to."""
        if self._end is None:
            self._end = time.monotonic() + seconds

    def read(self) -> bool:
        """Take what the process has told; whether it was anything."""
        try:
            content = os.read(self._news, 1 << 20) if self._is_open else b""
        except BlockingIOError:
            return False
        self._is_open = bool(content)
        *lines, self._rest = (self._rest + content).split(b"\n")
        for line in lines:
            self._take(line[:1], line[1:].decode(errors="replace"))
        return bool(lines)

    def _take(self, what: bytes, text: str) -> None:
        if what == WORKING_ON:
            self.object = text
        elif what == ALLOWED:
            self.seconds = float(text)
        elif what == MAKING:
            self.half_made.append(Path(text))

    def _has_read(self) -> bool:
        """Whether the process has read from any file since it was asked last; False where nobody says."""
        try:
            found = _READ.search(self._io.read_bytes())
        except OSError:
            return False
        before, self._bytes_read = self._bytes_read, int(found[1]) if found else 0
        return self._bytes_read > before
