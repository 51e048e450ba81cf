"""A pool of long-lived child processes that may crash, hang or grow without harm to anything else.

h5py serialises remote reads within a process, and HDF5 can crash on a damaged file; so each job runs
in a process of its own choosing, with a limit of time and of memory. Every slot of the pool is one
supervised process, spawned (never forked: network clients hang after a fork) and replaced when it is
lost. A `concurrent.futures.ProcessPoolExecutor` will not do: one dead child fails all its jobs.

Jobs are named functions, so that nothing but names and small values crosses the pipe. Secrets reach
children by the environment, never by the command line.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self

from ..errors import (
    ChildCrashedError,
    ChildFailedError,
    ChildOutOfMemoryError,
    ChildStartError,
    ChildTimedOutError,
    PoolClosedError,
    UsageError,
)
from .child_main import JOB_ERROR, JOB_PROGRESS, Job
from .child_messages import MessageReader, send
from .clock import utc_now
from .process_facts import crash_message, resident_bytes

MEMORY_LOOK_SECONDS = 0.05
"""How often a running job's memory is looked at; a process can touch about 100 MB in that time."""
START_SECONDS = 120.0
"""A child imports numpy, h5py and zarr before its first job; on a busy machine that takes long."""
CLOSE_SECONDS = 10.0
DETAIL_BYTES = 2000

Progress = Callable[[Any], None]


@dataclass(frozen=True)
class JobResult:
    """What a job returned, and which slot of the pool ran it, when and for how many seconds.

    The time counts from when the job was handed to a process that was ready for it.
    """

    value: Any
    worker: int
    started: str
    seconds: float


class ChildPool:
    """A fixed number of supervised child processes.

    Parameters
    ----------
    size : int
        Number of processes; so many jobs run at once, others wait.
    timeout : float, optional
        Seconds a job may take.
    memory_limit : int, optional
        Bytes of resident memory a job may take (Linux; elsewhere there is no limit).
    preload : sequence of str
        Modules that a child imports when it starts, so that no job pays for them.
    environment : mapping of str to str, optional
        Variables that children have beside those of this process.
    first_number : int
        Number of the first process.

    Notes
    -----
    `run` may be called from any number of threads. What a pickled pool becomes in another process is the
    subject of `shared_pool`.
    """

    def __init__(
        self,
        size: int,
        *,
        timeout: float | None = None,
        memory_limit: int | None = None,
        preload: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        first_number: int = 0,
    ) -> None:
        if size < 1:
            raise UsageError(f"a pool needs at least one process, not {size}")
        self._limits = _Limits(timeout, memory_limit)
        self._start = _Start(tuple(preload), tuple(sorted((environment or {}).items())))
        self._slots = [_Slot(first_number + number, self._start) for number in range(size)]
        self._free: queue.LifoQueue[_Slot] = queue.LifoQueue()
        for slot in reversed(self._slots):
            self._free.put(slot)
        self._closed = threading.Event()

    def __reduce__(self) -> tuple[Any, ...]:
        limits = self._limits
        return shared_pool, (len(self._slots), limits.timeout, limits.memory, self._start)

    def start(self) -> None:
        """Start all processes without waiting for them, so that their imports overlap."""
        for slot in self._slots:
            slot.ensure_started()

    def run(self, function: str, *arguments: Any, progress: Progress | None = None) -> JobResult:
        """Run a function in a child and wait for it.

        Parameters
        ----------
        function : str
            ``module:name``. With ``progress`` it is called with a keyword ``progress``.
        *arguments
            Anything that can be pickled.
        progress : callable, optional
            Called in this thread with whatever the function reports.

        Raises
        ------
        ChildStartError
            When no process could be started; nothing was tried.
        ChildCrashedError, ChildTimedOutError, ChildOutOfMemoryError
            When the process was lost. The slot has a new process for the next job.
        Exception
            Whatever the function raised.
        """
        slot = self._free.get()
        try:
            self._refuse_when_closed()
            job: Job = (function, arguments, progress is not None)
            slot.wait_until_ready()
            started, start = utc_now(), time.perf_counter()
            value = slot.run(job, progress, self._limits)
            return JobResult(value, slot.number, started, round(time.perf_counter() - start, 4))
        except (ChildCrashedError, ChildStartError):
            self._refuse_when_closed()
            raise
        finally:
            self._free.put(slot)

    def close(self) -> None:
        """Kill all processes; running jobs fail."""
        self.kill()
        idle = [self._free.get(timeout=CLOSE_SECONDS) for _ in self._slots]
        for slot in idle:
            slot.discard()
            self._free.put(slot)  # whoever waits for one is told that the pool is closed

    def kill(self) -> None:
        """Kill all processes and wait for their ends, but not for the threads that use them."""
        self._closed.set()
        for slot in self._slots:
            slot.stop_process()
        for slot in self._slots:
            slot.wait_for_end()

    def _refuse_when_closed(self) -> None:
        if self._closed.is_set():
            raise PoolClosedError("the run is being stopped")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True)
class _Limits:
    timeout: float | None
    memory: int | None


@dataclass(frozen=True)
class _Start:
    """What a process starts with; hashable, for `shared_pool`."""

    preload: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]


class _Slot:
    """One place of the pool, and the process that holds it for now."""

    def __init__(self, number: int, start: _Start) -> None:
        self.number = number
        self._start = start
        self._child: _Child | None = None
        self._lock = threading.Lock()

    def ensure_started(self) -> _Child:
        with self._lock:
            if self._child is None or not self._child.is_alive():
                self._discard()
                self._child = _Child(self._start)
            return self._child

    def stop_process(self) -> None:
        """End the process only: a thread that waits for it sees its pipe close and cleans up."""
        with self._lock:
            if self._child is not None:
                self._child.kill()

    def wait_for_end(self) -> None:
        with self._lock:
            if self._child is not None:
                self._child.wait_for_end()

    def discard(self) -> None:
        with self._lock:
            self._discard()

    def wait_until_ready(self) -> None:
        with self._discarding():
            self.ensure_started().wait_until_ready()

    def run(self, job: Job, progress: Progress | None, limits: _Limits) -> Any:
        with self._discarding():
            outcome = self.ensure_started().run(job, progress, limits)
        return outcome.value_or_raise()

    @contextlib.contextmanager
    def _discarding(self) -> Iterator[None]:
        """Give the process up when it is lost, or in the middle of a job that nobody waits for."""
        try:
            yield
        except BaseException:
            self.discard()
            raise

    def _discard(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None


@dataclass(frozen=True)
class _Outcome:
    """How a job ended in a process that is still well."""

    value: Any
    is_error: bool

    def value_or_raise(self) -> Any:
        if self.is_error:
            raise self.value
        return self.value


class _Child:
    """One process, its pipes, and what it said."""

    def __init__(self, start: _Start) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile("a+b")  # noqa: SIM115 (closed in close)
        job_read, job_write = os.pipe()
        result_read, result_write = os.pipe()
        line_read, self._life_line = os.pipe()
        theirs = (job_read, result_write, line_read)
        try:
            self._process = subprocess.Popen(  # noqa: S603 (our own module)
                [sys.executable, "-m", f"{__package__}.child_main", *map(str, theirs), *start.preload],
                env={**os.environ, **dict(start.environment)},
                pass_fds=theirs,
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                start_new_session=True,  # the parent decides what an interrupt means
            )
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self._jobs = os.fdopen(job_write, "wb")
        self._results = result_read
        self._reader = MessageReader(result_read)
        self._ready = False

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    def wait_for_end(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):  # the system kills it when it can
            self._process.wait(timeout=CLOSE_SECONDS)

    def wait_until_ready(self) -> None:
        if self._ready:
            return
        try:
            self._next_message(_Limits(START_SECONDS, None), time.monotonic())
        except ChildFailedError as error:
            last = error.details.strip().rpartition("\n")[2]
            raise ChildStartError(
                f"a process to read files in could not be started: {last or error}", details=error.details
            ) from None
        self._ready = True

    def run(self, job: Job, progress: Progress | None, limits: _Limits) -> _Outcome:
        started = time.monotonic()
        self._forget_details()
        with contextlib.suppress(BrokenPipeError):  # a dead child is noticed below, with its reason
            send(self._jobs, job)
        while True:
            kind, value = self._next_message(limits, started)
            if kind != JOB_PROGRESS:
                return _Outcome(value, is_error=kind == JOB_ERROR)
            if progress is not None:
                progress(value)

    def close(self) -> None:
        """Kill the process and give back everything it held."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._jobs.close()
        os.close(self._results)
        os.close(self._life_line)
        self._errors.close()

    def _next_message(self, limits: _Limits, started: float) -> tuple[str, Any]:
        while not self._reader.has_message():
            wait = MEMORY_LOOK_SECONDS if limits.memory else 1.0
            if limits.timeout is not None:
                wait = min(wait, max(started + limits.timeout - time.monotonic(), 0))
            if select.select([self._results], [], [], wait)[0] and not self._reader.read_some():
                raise self._crashed()
            self._check(limits, started)
        message: tuple[str, Any] = self._reader.next_message()
        return message

    def _check(self, limits: _Limits, started: float) -> None:
        if limits.timeout is not None and time.monotonic() - started >= limits.timeout:
            raise ChildTimedOutError(
                f"it took longer than {limits.timeout:g} s, so the process reading it was stopped; "
                "raise the time-out if that is too short for a file of this size",
                details=self._details(),
            )
        if limits.memory is not None and (used := resident_bytes(self._process.pid)) > limits.memory:
            raise ChildOutOfMemoryError(
                f"it took {used / 2**20:.0f} MiB of memory, more than the limit of "
                f"{limits.memory / 2**20:.0f} MiB, so the process reading it was stopped",
                details=self._details(),
            )

    def _crashed(self) -> ChildCrashedError:
        try:
            message = crash_message(self._process.wait(timeout=10))
        except subprocess.TimeoutExpired:
            message = "the process reading it closed its pipe"
        return ChildCrashedError(message, details=self._details())

    def _forget_details(self) -> None:
        if os.fstat(self._errors.fileno()).st_size:
            os.ftruncate(self._errors.fileno(), 0)

    def _details(self) -> str:
        # The child shares the file's position, so nothing here may seek.
        return os.pread(self._errors.fileno(), DETAIL_BYTES, 0).decode(errors="replace")


_SHARED: dict[Any, ChildPool] = {}
_SHARING = threading.Lock()


def shared_pool(*pool: Any) -> ChildPool:
    """Return the pool of this process that stands for one of another process.

    It is made when it is first asked for, and ends with this process. A task that is handed a pool in a
    worker of another machine so has processes there, with the same limits.
    """
    size, timeout, memory_limit, start = pool
    with _SHARING:
        if pool not in _SHARED:
            _SHARED[pool] = ChildPool(
                size,
                timeout=timeout,
                memory_limit=memory_limit,
                preload=start.preload,
                environment=dict(start.environment),
                first_number=_own_numbers(),
            )
        return _SHARED[pool]


def _own_numbers() -> int:
    """The first of numbers that slots of no other process have, on any machine."""
    own = f"{socket.gethostname()} {os.getpid()}"
    return int.from_bytes(hashlib.sha256(own.encode()).digest()[:4], "big") << 10
