"""What a process holds to read remote files: connections, resolved URLs, threads; and one request's course.

The course is a generator (`Connections.steps`) that does no I/O; a blocking and an awaiting driver carry it
out, so that both resolve, check and try again alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..errors import AccessDeniedError, ReadError, ShadowzarrError
from ..refs.byte_range import FileRange
from . import obstore_transport, s3_locations
from .http_client import PastTheEndError, Retries, RetryPolicy, range_ignored
from .locations import without_query
from .obstore_transport import ObstoreTransport, RefusedWithoutReasonError
from .source_identity import Buffer, RangeAnswer, Source, check_answer, check_identity
from .traffic import Traffic, current
from .url_resolver import UrlResolver

if TYPE_CHECKING:
    from .urllib3_transport import Urllib3Transport

_FORGET_REFUSAL = 60.0  # seconds for which a server that ignores Range is not asked again


@dataclass(frozen=True, slots=True)
class _Resolve:
    url: str


@dataclass(frozen=True, slots=True)
class _Get:
    address: str
    wanted: FileRange | None
    if_match: str | None
    is_fast: bool


@dataclass(frozen=True, slots=True)
class _Pause:
    seconds: float


type _Step = _Resolve | _Get | _Pause
type _Steps = Generator[_Step, Any, RangeAnswer]


class Connections:
    """What belongs to one process: connections, resolved URLs, threads."""

    def __init__(self, in_flight: int, policy: Callable[[], RetryPolicy], *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self.fast = ObstoreTransport() if obstore_transport.is_usable() else None
        self.resolver = UrlResolver(lambda: self.slow, policy)
        self._policy = policy
        self._in_flight = in_flight
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        self._without_ranges: dict[str, float] = {}

    @cached_property
    def slow(self) -> Urllib3Transport:
        """The slow path, which most processes never need; urllib3 is half of what there is to import."""
        from .urllib3_transport import Urllib3Transport

        return Urllib3Transport(allow_private=self._allow_private)

    def fetcher(self, url: str, source: Source | None, *, share: bool) -> Callable[[FileRange], Buffer]:
        """A function that reads one range on the thread that calls it; it counts for whoever asked for it."""
        traffic = current()

        def fetch(wanted: FileRange) -> Buffer:
            if wanted.length == 0:
                return b""
            return drive(self, url, self.steps(url, wanted, source), share=share, traffic=traffic).data

        return fetch

    def executor(self) -> ThreadPoolExecutor:
        """The threads of blocking reads, made when first needed."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self._in_flight, thread_name_prefix="shadowzarr-read")
            return self._executor

    def gate(self) -> asyncio.Semaphore:
        """What bounds the requests of the running event loop."""
        return self._gates.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._in_flight))

    def steps(
        self, url: str, wanted: FileRange | None, source: Source | None, *, may_end: bool = False
    ) -> _Steps:
        """The course of one request, with retries and at most one new resolution.

        The file may end within the range only when that is said beforehand.
        """
        retries = Retries(self._policy())
        is_refreshed = False
        if_match = None if source is None else source.if_match
        self._check_ranges(url, wanted)
        while True:
            address = ""
            try:
                address = yield _Resolve(url)
                answer: RangeAnswer = yield from self._one_try(
                    address, wanted, if_match, is_first=not retries.failures
                )
                check_answer(answer, _until_end(wanted, answer) if may_end else wanted, url, source)
            except PastTheEndError as error:
                if source is not None:
                    check_identity(source, size=error.total, etag=error.etag)
                    _check_end(source, wanted)
                raise
            except AccessDeniedError as error:
                if is_refreshed or error.status != 403 or address in {"", url}:
                    raise
                is_refreshed = True
                self.resolver.forget(url, address)
            except ReadError as error:
                self._note_ranges(url, error)
                yield _Pause(retries.pause_after(error))
            else:
                return answer

    def _one_try(
        self, address: str, wanted: FileRange | None, if_match: str | None, *, is_first: bool
    ) -> _Steps:
        """Ask fast; when that fails without a reason, ask again slowly to learn it."""
        may_be_fast = self.fast is not None and self._allow_private
        if may_be_fast and (is_first or _needs_signing(address)):
            try:
                answer: RangeAnswer = yield _Get(address, wanted, if_match, is_fast=True)
            except RefusedWithoutReasonError:
                pass  # the slow request below learns the reason, or succeeds
            else:
                return answer
        answer = yield _Get(address, wanted, if_match, is_fast=False)
        return answer

    def get(self, step: _Get) -> RangeAnswer:
        """Carry out a request, blocking."""
        address = _http_form(step.address)
        if step.is_fast and self.fast is not None:
            return self.fast.get(address, step.wanted, step.if_match)
        return self.slow.get(self._slow_address(address), step.wanted, step.if_match)

    async def get_async(self, step: _Get) -> RangeAnswer:
        """Carry out a request, awaited."""
        if step.is_fast and self.fast is not None:
            return await self.fast.get_async(_http_form(step.address), step.wanted, step.if_match)
        return await asyncio.get_running_loop().run_in_executor(self.executor(), self.get, step)

    def _slow_address(self, address: str) -> str:
        if not address.startswith("s3://"):
            return address
        if self.fast is None:
            raise ReadError(
                f"{without_query(address)}: signed S3 requests do not work in a forked process; "
                "start processes with the spawn method"
            )
        return self.fast.signed_url(address)

    def _check_ranges(self, url: str, wanted: FileRange | None) -> None:
        until = self._without_ranges.get(without_query(url))
        if wanted is not None and until is not None and time.monotonic() < until:
            raise range_ignored(url)

    def _note_ranges(self, url: str, error: ReadError) -> None:
        if error.status == 200:
            self._without_ranges[without_query(url)] = time.monotonic() + _FORGET_REFUSAL


def _check_end(source: Source, wanted: FileRange | None) -> None:
    """Say that a refusal of bytes past the end is wrong, when they are before it."""
    if wanted is not None and source.size is not None and wanted.stop <= source.size:
        raise ReadError(
            f"{without_query(source.url)}: the server says (416) that it has no bytes {wanted.offset} to "
            f"{wanted.stop}; the file had {source.size} when it was indexed",
            status=416,
        )


def _until_end(wanted: FileRange | None, answer: RangeAnswer) -> FileRange | None:
    """A range without what lies after the end of the file."""
    if wanted is None or answer.total is None:
        return wanted
    return FileRange(wanted.offset, max(0, min(wanted.stop, answer.total) - wanted.offset))


def _http_form(address: str) -> str:
    is_plain = address.startswith("s3://") and not s3_locations.is_signed(address)
    return s3_locations.http_url(address) if is_plain else address


def _needs_signing(address: str) -> bool:
    return address.startswith("s3://") and s3_locations.is_signed(address)


def drive(live: Connections, url: str, steps: _Steps, *, share: bool, traffic: Traffic) -> RangeAnswer:
    """Carry out a request on this thread."""
    with _noting(url, traffic):
        return _driven(live, steps, share=share, traffic=traffic)


async def drive_async(live: Connections, url: str, steps: _Steps) -> RangeAnswer:
    """Carry out a request in the running event loop."""
    with _noting(url, current()):
        return await _driven_async(live, steps)


@contextlib.contextmanager
def _noting(url: str, traffic: Traffic) -> Iterator[None]:
    """Note the failure that a request ends in."""
    try:
        yield
    except ShadowzarrError as error:
        traffic.failed(url, error)
        raise


def _driven(live: Connections, steps: _Steps, *, share: bool, traffic: Traffic) -> RangeAnswer:
    step = _advance(steps, None)
    while not isinstance(step, RangeAnswer):
        try:
            result: Any = None
            if isinstance(step, _Resolve):
                result = live.resolver.resolve(step.url) if share else live.resolver.resolve_alone(step.url)
            elif isinstance(step, _Get):
                traffic.asked()
                result = live.get(step)
                traffic.received(len(result.data))
            else:
                traffic.retried()
                time.sleep(step.seconds)
        except ShadowzarrError as error:
            step = _advance(steps, error)
        else:
            step = _advance(steps, result)
    return step


async def _driven_async(live: Connections, steps: _Steps) -> RangeAnswer:
    step = _advance(steps, None)
    while not isinstance(step, RangeAnswer):
        try:
            result: Any = None
            if isinstance(step, _Resolve):
                result = await live.resolver.resolve_async(step.url)
            elif isinstance(step, _Get):
                current().asked()
                result = await live.get_async(step)
                current().received(len(result.data))
            else:
                current().retried()
                await asyncio.sleep(step.seconds)
        except ShadowzarrError as error:
            step = _advance(steps, error)
        else:
            step = _advance(steps, result)
    return step


def _advance(steps: _Steps, outcome: object) -> _Step | RangeAnswer:
    """Hand the outcome of the last step to the course, and take the next step or its end."""
    try:
        return steps.throw(outcome) if isinstance(outcome, BaseException) else steps.send(outcome)
    except StopIteration as end:
        answer: RangeAnswer = end.value
        return answer
