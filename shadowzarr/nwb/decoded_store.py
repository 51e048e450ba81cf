"""A zarr store as hdmf-zarr needs it: attributes that are not finite are numbers again.

hdmf-zarr 0.14 does not know the convention they are stored by, and takes ``"NaN"`` for text where pynwb wants
a number. `RfsStore` decodes them itself; Icechunk and materialized stores keep what is strict JSON.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zarr.abc.store import Store
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import WrapperStore

from ..attributes import decode_non_finite
from ..refs.chunk_key import METADATA_NAME
from ..store.byte_requests import bounds

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype


def decoded(store: Store, *, group: str | None = None) -> Store:
    """Wrap a zarr store for `NWBZarrIO`.

    Parameters
    ----------
    store : zarr.abc.store.Store
        Any, such as the ``store`` of an Icechunk session.
    group : str, optional
        Path of the group that holds the NWB file, when it is not the root.

    Returns
    -------
    zarr.abc.store.Store
        Read-only; serves ``zarr.json`` with bare NaN and infinities, which zarr-python reads, and everything
        else as it is.
    """
    return DecodedStore(store, (group or "").strip("/"))


class DecodedStore(WrapperStore[Store]):
    """A store, or a group of one, whose metadata documents are decoded.

    Parameters
    ----------
    store : zarr.abc.store.Store
        What is wrapped.
    group : str, optional
        Path of the group that is this store's root; empty for the root.
    """

    def __init__(self, store: Store, group: str = "") -> None:
        super().__init__(store)
        self._group = group
        self._prefix = f"{group}/" if group else ""

    def _with_store(self, store: Store) -> DecodedStore:
        return DecodedStore(store, self._group)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DecodedStore) and (self._store, self._group) == (other._store, other._group)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return DecodedStore, (self._store, self._group)

    supports_writes = False
    supports_deletes = False

    @property
    def read_only(self) -> bool:
        """Always: decoded metadata are never written back."""
        return True

    @property
    def supports_consolidated_metadata(self) -> bool:
        """As the wrapped store says."""
        return self._store.supports_consolidated_metadata

    @property
    def _supports_sync_io(self) -> bool:
        return False  # metadata are decoded in `get` alone

    def __str__(self) -> str:
        """The same for the same store, as hdmf-zarr keeps what it has built by this name."""
        return "/".join([f"decoded-{_name(self._store)}", *([self._group] if self._group else [])])

    def __repr__(self) -> str:
        return f"DecodedStore({self._store!r})"

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """A value, decoded when it is a metadata document."""
        if key.rpartition("/")[2] != METADATA_NAME:
            return await self._store.get(self._prefix + key, prototype, byte_range)
        data = await self._store.get(self._prefix + key, default_buffer_prototype())
        if data is None:
            return None
        start, stop = bounds(byte_range)
        return prototype.buffer.from_bytes(_decode(data.to_bytes())[start:stop])

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Values, or parts of values, of several keys."""
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        """Whether there is a value."""
        return await self._store.exists(self._prefix + key)

    async def list(self) -> AsyncIterator[str]:
        """Every key."""
        async for key in self.list_prefix(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Every key that begins with ``prefix``."""
        async for key in self._store.list_prefix(self._prefix + prefix):
            yield key.removeprefix(self._prefix)

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Names directly below ``prefix``."""
        async for name in self._store.list_dir((self._prefix + prefix).rstrip("/")):
            yield name

    async def _get_many(
        self, requests: Iterable[tuple[str, BufferPrototype, ByteRequest | None]]
    ) -> AsyncGenerator[tuple[str, Buffer | None], None]:
        for key, prototype, byte_range in requests:
            yield key, await self.get(key, prototype, byte_range)

    async def get_ranges(
        self,
        key: str,
        byte_ranges: Sequence[ByteRequest | None],
        *,
        prototype: BufferPrototype,
        max_concurrency: int | None = None,
        max_gap_bytes: int | None = None,
        max_coalesced_bytes: int | None = None,
    ) -> AsyncIterator[Sequence[tuple[int, Buffer | None]]]:
        """Several parts of a value, as the wrapped store reads them."""
        async for part in super().get_ranges(
            self._prefix + key,
            byte_ranges,
            prototype=prototype,
            max_concurrency=max_concurrency,
            max_gap_bytes=max_gap_bytes,
            max_coalesced_bytes=max_coalesced_bytes,
        ):
            yield part

    async def set(self, key: str, value: Buffer) -> None:
        """Refused: the store is read-only."""
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Refused: the store is read-only."""
        self._check_writable()

    def _check_writable(self) -> None:
        raise ValueError("store was opened in read-only mode and does not support writing")


def _decode(data: bytes) -> bytes:
    """A metadata document, and those that it consolidates, with attributes decoded."""
    document = json.loads(data)
    if not isinstance(document, dict):
        return data
    nodes = [document]
    consolidated = document.get("consolidated_metadata")
    if isinstance(consolidated, Mapping) and isinstance(consolidated.get("metadata"), Mapping):
        nodes += consolidated["metadata"].values()
    changed = [_decode_node(node) for node in nodes]
    return json.dumps(document, separators=(",", ":")).encode() if any(changed) else data


def _decode_node(node: Any) -> bool:
    """Decode the attributes of a node in place; tells whether that changed them."""
    attributes = node.get("attributes") if isinstance(node, dict) else None
    if not isinstance(attributes, Mapping):
        return False
    plain = decode_non_finite(attributes)
    is_changed = plain.keys() != attributes.keys() or plain != attributes
    node["attributes"] = plain
    return is_changed


def _name(store: Store) -> str:
    """A name that tells stores apart; an Icechunk store has none but that of its snapshot."""
    session = getattr(store, "session", None)
    snapshot = getattr(session, "snapshot_id", None)
    return f"{type(store).__name__}-{snapshot}" if snapshot is not None else str(store)
