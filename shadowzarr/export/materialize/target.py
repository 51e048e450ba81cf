"""The new store while it is filled: what is written, how many bytes that are, and errors that say where."""

from __future__ import annotations

import threading
from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from zarr import AsyncArray
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import StorePath, WrapperStore

from ...errors import OutputError, ShadowzarrError
from ...refs.chunk_key import metadata_key
from ...store.served_metadata import parse_by_zarr
from .fill import Values, same

if TYPE_CHECKING:
    from zarr.abc.store import Store
    from zarr.core.buffer import Buffer


class CountingStore(WrapperStore["Store"]):
    """A store that knows how many bytes were written below each prefix that it is asked for.

    Parameters
    ----------
    store : zarr.abc.store.Store
        What is written to.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.nbytes = 0
        self._lock = threading.Lock()

    async def set(self, key: str, value: Buffer) -> None:
        """Write, and count."""
        await self._store.set(key, value)
        with self._lock:
            self.nbytes += len(value)


class TargetArray:
    """One array of the new store, which need not have its metadata yet.

    Parameters
    ----------
    store : zarr.abc.store.Store
        The new store.
    path : str
        Without leading slash.
    document : mapping
        Its ``zarr.json``.
    place : str
        What messages call the store.
    """

    def __init__(self, store: Store, path: str, document: Mapping[str, Any], place: str) -> None:
        self._path = path
        self._place = place
        self._store = CountingStore(store)
        metadata: Any = parse_by_zarr(document, path)
        config: Any = {"write_empty_chunks": True}  # what is empty is decided here, bit for bit
        self._array: Any = zarr.Array(AsyncArray(metadata, StorePath(self._store, path), config))

    @property
    def array(self) -> Any:
        """The zarr array."""
        return self._array

    @property
    def stored_nbytes(self) -> int:
        """Bytes of chunks that were written."""
        return self._store.nbytes

    def key(self, unit: tuple[int, ...]) -> str:
        """The key of what is written at a time, a chunk or a shard."""
        name: str = self._array.metadata.encode_chunk_key(unit)
        return f"{self._path}/{name}" if self._path else name

    def write(self, region: tuple[slice, ...], values: Values) -> None:
        """Write one chunk or shard.

        Raises
        ------
        OutputError
            When it cannot be written; the message says why.
        """
        try:
            self._array[region] = values
        except Exception as error:
            raise _not_written(error, self._path, self._place) from error

    def check(self, region: tuple[slice, ...], values: Values) -> None:
        """Read one chunk or shard back.

        Raises
        ------
        OutputError
            When it is not what was read from the source.
        """
        try:
            found = np.asarray(self._array[region])
        except Exception as error:
            raise OutputError(
                f"what was written of array {'/' + self._path!r} cannot be read back from {self._place}: "
                f"{error}"
            ) from error
        if not same(found, values):
            where = ", ".join(f"{part.start}:{part.stop}" for part in region)
            raise OutputError(
                f"array {'/' + self._path!r} reads back from {self._place} with other values at [{where}]; a "
                "codec of its layout that loses precision does that, or a disk that is at fault"
            )

    def set_stored(self, unit: tuple[int, ...], data: bytes) -> None:
        """Write the stored bytes of one chunk.

        Raises
        ------
        OutputError
            When they cannot be written.
        """
        try:
            sync(self._store.set(self.key(unit), default_buffer_prototype().buffer.from_bytes(data)))
        except Exception as error:
            raise _not_written(error, self._path, self._place) from error

    def stored(self, unit: tuple[int, ...]) -> bytes | None:
        """The stored bytes of one chunk."""
        found = sync(self._store.get(self.key(unit), default_buffer_prototype()))
        return None if found is None else found.to_bytes()


def set_document(store: Store, path: str, data: bytes, place: str) -> None:
    """Write the metadata document of a node.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    try:
        sync(store.set(metadata_key(path), default_buffer_prototype().buffer.from_bytes(data)))
    except Exception as error:
        raise _not_written(error, path, place) from error


def _not_written(error: Exception, path: str, place: str) -> ShadowzarrError:
    if isinstance(error, ShadowzarrError):
        return error
    reason = (
        error.strerror if isinstance(error, OSError) and error.strerror else str(error).partition("\n")[0]
    )
    return OutputError(f"cannot write {'/' + path!r} to {place}: {reason or type(error).__name__}")


NOTHING: Container[str] = frozenset()
"""The keys of a store that nothing was written to."""
