"""One decoder process, seen from the reader's: started, given chunks, ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from io import FileIO
from typing import IO, cast

from ..errors import ChildStartError
from .decoder_messages import EndedError, Request, read_answer, write_request

_DETAIL_BYTES = _MESSAGE_BYTES = 2**16
_PIPE_BYTES = 2**20  # as much as a process may ask for: a chunk crosses in few pieces
_F_SETPIPE_SZ = 1031  # Linux
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); "
    f"from {__package__}.decoder_main import main; main()"
)


class LostError(Exception):
    """A decoder process ended instead of answering; the message says how.

    Attributes
    ----------
    by_timer : bool
        Whether its time was over.
    """

    def __init__(self, message: str, *, by_timer: bool = False) -> None:
        super().__init__(message)
        self.by_timer = by_timer


class DecoderProcess:
    """A process that decodes one chunk after the other.

    Parameters
    ----------
    seconds : float
        Time for a chunk, to which a second is added per MiB.

    Attributes
    ----------
    is_used : bool
        Whether it has been given a chunk.

    Raises
    ------
    ChildStartError
        When it does not start.
    """

    def __init__(self, seconds: float) -> None:
        self.is_used = False
        with tempfile.TemporaryFile() as errors:
            self._process = _start(seconds, errors)
            self._requests = cast(FileIO, self._process.stdin)
            self._answers = cast(FileIO, self._process.stdout)
            try:
                _widen(self._requests, self._answers)
                self._answer(0)
            except LostError as error:
                self.close()
                errors.seek(0)
                details = errors.read(_DETAIL_BYTES).decode(errors="replace")
                raise _not_started(details.strip().rpartition("\n")[2] or str(error), details) from None
            except BaseException:
                self.close()
                raise

    def run(self, request: Request) -> tuple[int, memoryview]:
        """Send a request and wait for its answer: its kind and content.

        Raises
        ------
        LostError
            When the process ends instead.
        """
        self.is_used = True
        with contextlib.suppress(BrokenPipeError):  # it is gone, which is noticed below, with its reason
            write_request(self._requests.write, request)
        # What a filter cannot make smaller it may make a little larger.
        return self._answer(request.nbytes + request.nbytes // 4 + _MESSAGE_BYTES)

    def is_alive(self) -> bool:
        """Whether it can be given a chunk."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process, whatever it does, and give back what it held; it has nothing to lose."""
        self._process.kill()
        self._process.wait()
        self._close_pipes()

    def forget(self) -> None:
        """Close the pipes: all that a forked child may do to a process of its parent."""
        self._process.returncode = 0  # nothing to wait for, nothing to warn about
        self._close_pipes()

    def _answer(self, most: int) -> tuple[int, memoryview]:
        try:
            return read_answer(self._answers.readinto, most)
        except EndedError:
            self._process.kill()  # when it has only closed its pipe, or said what cannot be true
            code = self._process.wait()
        raise LostError(_ending(code), by_timer=-code == getattr(signal, "SIGALRM", None))

    def _close_pipes(self) -> None:
        self._requests.close()
        self._answers.close()


def _start(seconds: float, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    if getattr(sys, "frozen", False) or not sys.executable:
        raise _not_started("there is no Python that could be started", "")
    try:
        return subprocess.Popen(  # noqa: S603 (our own module)
            [sys.executable, "-c", _CODE, str(seconds), json.dumps([str(place) for place in sys.path])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # numpy's threads would take address space
            start_new_session=True,  # an interrupt is for the reader
        )
    except OSError as error:
        raise _not_started(str(error), "") from error


def _not_started(reason: str, details: str) -> ChildStartError:
    return ChildStartError(
        f"HDF5's filters are undone in a process of their own, which could not be started: {reason}",
        details=details,
    )


def _widen(*pipes: FileIO) -> None:
    if sys.platform == "linux":
        import fcntl

        for pipe in pipes:
            with contextlib.suppress(OSError):  # the user has used up what there is for pipes
                fcntl.fcntl(pipe, _F_SETPIPE_SZ, _PIPE_BYTES)


def _ending(code: int) -> str:
    """How a process ended, from its return code (negative: a signal)."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
