"""HttpReader: byte ranges of remote files, read blocking, awaited, or many at a time.

One request's course, with its retries, is `process_connections`'; which bytes to ask for together is
decided by `merging`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from ..errors import ReadError
from ..refs.byte_range import FileRange
from . import http_client, obstore_transport
from .http_client import PastTheEndError, RetryPolicy
from .locations import without_query
from .process_connections import Connections, drive, drive_async
from .source_identity import Buffer, RangeAnswer, Source
from .traffic import current

IN_FLIGHT = 128
"""Requests under way at once: per event loop, and in all for blocking reads of several ranges."""


class HttpReader:
    """Reads ranges of http(s) and ``s3://`` URLs; archives' download URLs are resolved.

    It holds no sockets that outlive a fork or go into a pickle: what is bound to a process is made again
    in the next one.

    Parameters
    ----------
    in_flight : int, optional
        Requests under way at once.
    retries : RetryPolicy, optional
        How often a request is tried; `http_client.DEFAULT_RETRIES` by default.
    allow_private : bool, optional
        Whether internal addresses may be connected to. Where they may not, all requests are urllib3's, for
        obstore does not tell which address it connects to.
    """

    def __init__(
        self,
        *,
        in_flight: int = IN_FLIGHT,
        retries: RetryPolicy | None = None,
        allow_private: bool = True,
    ) -> None:
        self._in_flight = in_flight
        self._retries = retries
        self._allow_private = allow_private
        self._live: dict[tuple[int, bool], Connections] = {}  # by process id, and whether obstore may be used

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_live": {}}

    def read(self, url: str, ranges: Sequence[FileRange], *, source: Source | None = None) -> list[Buffer]:
        """Read ranges of a file in parallel.

        A single range is read by the calling thread itself.

        Parameters
        ----------
        url : str
            An http(s) or ``s3://`` URL.
        ranges : sequence of FileRange
            The bytes wanted, in any order.
        source : Source, optional
            What the file must be. Without it nothing is checked but lengths.

        Returns
        -------
        list of buffers
            One per range, in the order of `ranges`, each of the length asked for.

        Raises
        ------
        SourceChangedError
            When the file is not `source`.
        ReadError
            When bytes could not be had; `TransientReadError` after all retries.
        MissingCredentialsError
            When an archive wants an API key.
        RefusedPlaceError
            When the host is an internal one, and may not be read.
        """
        live = self._now_live()
        fetch = live.fetcher(url, source, share=True)
        if len(ranges) <= 1:
            return [fetch(wanted) for wanted in ranges]
        live.resolver.resolve(url)
        return _in_parallel(live.executor(), fetch, ranges)

    def read_one(self, url: str, wanted: FileRange, *, source: Source | None = None) -> Buffer:
        """Read one range on the calling thread, taking no Python lock and waiting for no other thread.

        For file objects that h5py reads: h5py holds its own lock meanwhile, which another thread may need.
        Errors as in `read`.
        """
        return self._now_live().fetcher(url, source, share=False)(wanted)

    async def read_async(
        self, url: str, ranges: Sequence[FileRange], *, source: Source | None = None
    ) -> list[Buffer]:
        """Like `read`, awaited in any event loop."""
        live = self._now_live()

        async def fetch(wanted: FileRange) -> Buffer:
            if wanted.length == 0:
                return b""
            async with live.gate():
                return (await drive_async(live, url, live.steps(url, wanted, source))).data

        if len(ranges) == 1:
            return [await fetch(ranges[0])]
        return await _gather([fetch(wanted) for wanted in ranges])

    def read_whole(self, url: str, *, source: Source | None = None) -> Buffer:
        """Read a whole file; errors as in `read`."""
        live = self._now_live()
        return drive(live, url, live.steps(url, None, source), share=True, traffic=current()).data

    async def read_whole_async(self, url: str, *, source: Source | None = None) -> Buffer:
        """Like `read_whole`, awaited."""
        live = self._now_live()
        async with live.gate():
            return (await drive_async(live, url, live.steps(url, None, source))).data

    def probe(self, url: str, nbytes: int = 1) -> RangeAnswer:
        """Size and ETag of a file, learnt from a request for its first bytes; errors as in `read`.

        HEAD would not do: signed URLs refuse it.

        Parameters
        ----------
        url : str
            An http(s) or ``s3://`` URL.
        nbytes : int, optional
            Bytes to ask for; a smaller file comes whole.
        """
        live = self._now_live()
        try:
            steps = live.steps(url, FileRange(0, nbytes), None, may_end=True)
            answer = drive(live, url, steps, share=True, traffic=current())
        except PastTheEndError as error:
            # S3 does not tell the size there, but only an empty file has no first byte
            if error.total:
                raise
            return RangeAnswer(b"", 0, error.etag)
        if answer.total is None:
            raise ReadError(f"{without_query(url)}: the server does not say how large the file is")
        return answer

    def limit(self, in_flight: int) -> None:
        """Have no more requests under way from now on."""
        if in_flight != self._in_flight:
            self._in_flight = in_flight
            self._live = {}  # its threads and gates are of the other number

    def _now_live(self) -> Connections:
        """What belongs to this process, made by whichever thread comes first (setdefault is atomic)."""
        process = (os.getpid(), obstore_transport.is_usable())
        live = self._live.get(process)
        if live is None:
            policy = self._retries
            fresh = Connections(
                self._in_flight,
                lambda: policy or http_client.DEFAULT_RETRIES,
                allow_private=self._allow_private,
            )
            live = self._live.setdefault(process, fresh)
        return live


def _in_parallel(
    executor: ThreadPoolExecutor, fetch: Callable[[FileRange], Buffer], ranges: Sequence[FileRange]
) -> list[Buffer]:
    futures: list[Future[Buffer]] = [executor.submit(fetch, wanted) for wanted in ranges]
    try:
        finished, _ = wait(futures, return_when=FIRST_EXCEPTION)
        for future in finished:
            future.result()  # raises the first failure, before slower ones are tried to their end
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()  # after a failure the rest is not wanted


async def _gather(reads: list[Awaitable[Buffer]]) -> list[Buffer]:
    tasks = [asyncio.ensure_future(read) for read in reads]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
