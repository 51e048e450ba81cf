"""HttpStore: a Zarr hierarchy behind an http(s) or ``s3://`` URL, read only.

For index arrays, materialized stores, and any other Zarr store on a web server. HTTP cannot list, so that
groups show their members only when their metadata are consolidated. Nothing is kept between reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from zarr.abc.store import Store

from ..access.locations import canonical, is_remote, without_query
from ..access.range_reader import DefaultReader, default_reader
from ..access.source_identity import Source
from ..errors import SourceNotFoundError, UnsupportedError, UsageError
from ..refs.byte_range import FileRange, clip
from .byte_requests import bounds
from .chunk_parts import Bytes
from .places import inside

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype


class HttpStore(Store):
    """A read-only zarr store over HTTP.

    Only a key that the server does not have (404) is absent; whatever else keeps it from being read is
    an error. The store may be pickled, copied, and used by many threads and event loops at once.

    Parameters
    ----------
    url : str
        The folder of the store: http(s) or s3. A query goes along with every request.
    reader : DefaultReader, optional
        What reads files; the process's own reader by default.

    Raises
    ------
    UsageError
        When it is not such a URL.
    """

    supports_writes = False
    supports_deletes = False
    supports_listing = False

    def __init__(self, url: str, *, reader: DefaultReader | None = None) -> None:
        super().__init__(read_only=True)
        self.url = canonical(url)
        if not is_remote(self.url):
            raise UsageError(f"{url!r} is not an http(s) or s3 URL; open a local store by its path")
        self._given_reader = reader
        self._reader = reader or default_reader()

    def __str__(self) -> str:
        return without_query(self.url)

    def __repr__(self) -> str:
        return f"HttpStore({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HttpStore) and self.url == other.url

    def __hash__(self) -> int:
        return hash(self.url)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.url, self._given_reader)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The value of a key, or a part of it; None when the server does not have it.

        Raises
        ------
        ReadError
            When the server does not give it for another reason.
        """
        self._is_open = True
        try:
            return prototype.buffer.from_bytes(await self._read(inside(self.url, key), byte_range))
        except SourceNotFoundError:
            return None

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """The values, or parts of values, of several keys, read at the same time."""
        reads = [self.get(key, prototype, byte_range) for key, byte_range in key_ranges]
        return list(await asyncio.gather(*reads))

    async def exists(self, key: str) -> bool:
        """Whether the server has a key."""
        try:
            await asyncio.to_thread(self._reader.probe, inside(self.url, key))
        except SourceNotFoundError:
            return False
        return True

    async def getsize(self, key: str) -> int:
        """Bytes of a value.

        Raises
        ------
        FileNotFoundError
            When the server does not have it.
        """
        try:
            return (await self._size(inside(self.url, key)))[0]
        except SourceNotFoundError:
            raise FileNotFoundError(key) from None

    def list(self) -> AsyncIterator[str]:
        """Refused: HTTP cannot list."""
        self._refuse_listing()

    def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Refused: HTTP cannot list."""
        self._refuse_listing()

    def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Refused: HTTP cannot list."""
        self._refuse_listing()

    async def set(self, key: str, value: Buffer) -> None:
        """Refused: the store is read-only."""
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Refused: the store is read-only."""
        self._check_writable()

    def _refuse_listing(self) -> NoReturn:
        raise UnsupportedError(
            f"{self} cannot be listed over HTTP; name its nodes, or consolidate its metadata"
        )

    async def _read(self, url: str, byte_range: ByteRequest | None) -> Bytes:
        if byte_range is None:
            return await self._reader.read_whole_async(url)
        start, stop = bounds(byte_range)
        # Servers differ in what they answer to ranges without an end or past it: the size is asked first.
        size, source = await self._size(url)
        first, last = clip(size, start, stop)
        return (await self._reader.read_async(url, [FileRange(first, last - first)], source=source))[0]

    async def _size(self, url: str) -> tuple[int, Source]:
        """Bytes of a file, and what it must still be when it is read."""
        answer = await asyncio.to_thread(self._reader.probe, url)
        size = answer.total or 0
        return size, Source(url, size, answer.etag)


def _restore(url: str, reader: DefaultReader | None) -> HttpStore:
    return HttpStore(url, reader=reader)
