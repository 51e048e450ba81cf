"""The one interface for bytes of files, and the reader that serves every kind of location.

How local and remote files are read is said in `local_reader` and `http_reader`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..errors import UsageError
from ..refs.byte_range import FileRange
from .allowed_places import LocalRoots, real_roots
from .http_client import RetryPolicy
from .http_reader import IN_FLIGHT, HttpReader
from .local_reader import LocalReader
from .locations import is_remote
from .source_identity import Buffer, RangeAnswer, Source


class RangeReader(Protocol):
    """Reads byte ranges of files.

    A buffer is returned for every range, in the order asked, and has exactly the length asked for;
    everything else is an error. With a `source` the file must be that one, or `SourceChangedError` is raised.
    """

    def read(self, url: str, ranges: Sequence[FileRange], *, source: Source | None = None) -> list[Buffer]:
        """Read ranges, blocking; several of them in parallel."""
        ...

    async def read_async(
        self, url: str, ranges: Sequence[FileRange], *, source: Source | None = None
    ) -> list[Buffer]:
        """Read ranges, awaited in any event loop."""
        ...


class DefaultReader:
    """Reads local paths, ``file://``, http(s) and ``s3://`` URLs, and archives' download URLs.

    It may be used by many threads and event loops at once, pickled, and carried over a fork.

    Parameters
    ----------
    in_flight : int, optional
        Requests under way at once.
    retries : RetryPolicy, optional
        How often a remote request is tried.
    allow_private : bool, optional
        Whether hosts with internal addresses may be read (`allowed_places.is_internal`).
    local_roots : iterable of path, optional
        Folders below which local files may be read, symbolic links followed; anywhere by default.

    Raises
    ------
    UsageError
        When a root is not a local folder's path.
    """

    def __init__(
        self,
        *,
        in_flight: int = IN_FLIGHT,
        retries: RetryPolicy | None = None,
        allow_private: bool = True,
        local_roots: LocalRoots | None = None,
    ) -> None:
        self._settings = (in_flight, retries, allow_private, real_roots(local_roots))
        self._local = LocalReader(roots=self._settings[3])
        self._http = HttpReader(in_flight=in_flight, retries=retries, allow_private=allow_private)

    def restricted(self, *, allow_private: bool, local_roots: LocalRoots | None) -> DefaultReader:
        """A reader like this one that may read less."""
        in_flight, retries, may_be_private, roots = self._settings
        return DefaultReader(
            in_flight=in_flight,
            retries=retries,
            allow_private=allow_private and may_be_private,
            local_roots=roots if local_roots is None else local_roots,
        )

    def read(self, url: str, ranges: Sequence[FileRange], *, source: Source | None = None) -> list[Buffer]:
        """Read ranges of a file; see `HttpReader.read` for what is returned and raised."""
        return self._for(url).read(url, ranges, source=source)

    async def read_async(
        self, url: str, ranges: Sequence[FileRange], *, source: Source | None = None
    ) -> list[Buffer]:
        """Like `read`, awaited in any event loop."""
        return await self._for(url).read_async(url, ranges, source=source)

    def read_one(self, url: str, wanted: FileRange, *, source: Source | None = None) -> Buffer:
        """Read one range, waiting for no other thread; see `HttpReader.read_one`."""
        if is_remote(url):
            return self._http.read_one(url, wanted, source=source)
        return self._local.read(url, [wanted], source=source)[0]

    def read_whole(self, url: str, *, source: Source | None = None) -> Buffer:
        """Read a whole file of any size."""
        return self._for(url).read_whole(url, source=source)

    async def read_whole_async(self, url: str, *, source: Source | None = None) -> Buffer:
        """Like `read_whole`, awaited in any event loop."""
        return await self._for(url).read_whole_async(url, source=source)

    def probe(self, url: str, nbytes: int = 1) -> RangeAnswer:
        """Size (`total`) and ETag of a file; of a remote one also that many of its first bytes, or fewer."""
        return self._http.probe(url, nbytes) if is_remote(url) else self._local.probe(url)

    def _for(self, url: str) -> HttpReader | LocalReader:
        return self._http if is_remote(url) else self._local

    def limit(self, in_flight: int) -> None:
        """Have no more remote requests under way from now on; what is under way is brought to its end."""
        self._http.limit(in_flight)


def restricted[R](
    reader: R | None, *, allow_private: bool, local_roots: LocalRoots | None
) -> R | DefaultReader:
    """What reads files, restricted as is asked.

    Raises
    ------
    UsageError
        When it is a reader of another kind, whose connections cannot be checked.
    """
    if allow_private and local_roots is None:
        return reader if reader is not None else _DEFAULT
    own = _DEFAULT if reader is None else reader
    if not isinstance(own, DefaultReader):
        raise UsageError(
            "allow_private=False and local_roots need a reader that can be restricted, a "
            f"shadowzarr.access.range_reader.DefaultReader; {type(own).__name__} is none"
        )
    return own.restricted(allow_private=allow_private, local_roots=local_roots)


_DEFAULT = DefaultReader()


def default_reader() -> DefaultReader:
    """The reader of this process: its connections and resolved URLs are shared by everything that uses it."""
    return _DEFAULT


def limit_requests(most: int | None) -> None:
    """Let the reader of this process have no more than so many requests under way; None for its own limit.

    It holds for blocking reads of several ranges together, and for each event loop. What h5py asks for by
    itself is one request at a time, on the thread that waits for it.
    """
    _DEFAULT.limit(most or IN_FLIGHT)
