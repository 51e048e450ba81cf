"""Zarr stores and Icechunk sessions as places: what makes the keys there one store at once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from zarr.abc.store import Store
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from ...errors import OutputError, UsageError
from ...refs.chunk_key import METADATA_NAME
from .place import NOTE, OTHERS, Place, going_on, is_of_no_use


class StorePlace(Place):
    """Any zarr store, such as a bucket's: keys appear whole, and the root's metadata come last.

    Parameters
    ----------
    store : zarr.abc.store.Store
        Written to.
    name : str
        What messages call it.
    is_anywhere : bool, optional
        As for `Place`.
    """

    def __init__(self, store: Store, name: str, *, is_anywhere: bool = False) -> None:
        self.store = store
        self.name = name
        self.is_anywhere = is_anywhere

    def begin(self, digest: str) -> None:
        """See what is there, and leave a note of what is made."""
        try:
            keys = sync(_listed(self.store))
            note = sync(self.store.get(NOTE, default_buffer_prototype())) if NOTE in keys else None
        except Exception as error:
            raise OutputError(f"cannot look into {self.name}: {_first_line(error)}") from error
        if note is not None:
            if json.loads(note.to_bytes()).get("plan") != digest:
                raise OutputError(OTHERS.format(self.name))
            self.present = keys
            return
        if keys:
            raise OutputError(f"{self.name} is not empty, with {min(keys)!r}; name another place")
        if self._set_note(json.dumps({"plan": digest}).encode()) != digest:  # of two at once the first counts
            raise OutputError(OTHERS.format(self.name))

    def finish(self, *, verify: bool) -> None:
        """Take the note away."""
        try:
            sync(self.store.delete(NOTE))
        except Exception as error:
            raise OutputError(f"cannot delete {NOTE} in {self.name}: {_first_line(error)}") from error

    def give_up(self, own: Sequence[str]) -> bool:
        """Take away the note."""
        try:
            keys = sync(_of_no_use(self.store, own))
            for key in keys or ():
                sync(self.store.delete(key))
        except Exception:  # noqa: BLE001 - the failure itself is told, and where what is left lies
            return False
        return keys is not None

    def advice(self, *, is_changed: bool) -> str:
        """Where what was written is."""
        place = f"; what is written so far stays in {self.name}"
        return place + going_on(is_changed=is_changed)

    def _set_note(self, data: bytes) -> str | None:
        """Leave a note where there is none; gives the digest of the one that is there then."""
        prototype = default_buffer_prototype()
        try:
            sync(self.store.set_if_not_exists(NOTE, prototype.buffer.from_bytes(data)))
            found = sync(self.store.get(NOTE, prototype))
            return None if found is None else json.loads(found.to_bytes()).get("plan")
        except Exception as error:
            raise OutputError(f"cannot write to {self.name}: {_first_line(error)}") from error


class SessionPlace(Place):
    """An Icechunk session; committing it is the caller's.

    Parameters
    ----------
    session : icechunk.Session
        A writable one.
    """

    is_metadata_first = True

    def __init__(self, session: Any) -> None:
        if session.read_only:
            raise UsageError("the session is read-only; writing needs repo.writable_session(branch)")
        self.store = session.store
        self.name = "the Icechunk session"

    def begin(self, digest: str) -> None:
        """See that nothing is there but a bare group."""
        keys = sync(_names(self.store))
        root = sync(self.store.get(METADATA_NAME, default_buffer_prototype()))
        is_bare = root is None or not json.loads(root.to_bytes()).get("attributes")
        others = sorted(keys - {METADATA_NAME})
        if others or not is_bare:
            raise OutputError(
                f"the Icechunk session is not empty, with {(others or ['attributes'])[0]!r}; write into a "
                "new repository"
            )

    def finish(self, *, verify: bool) -> None:
        """Nothing: the caller commits."""

    def advice(self, *, is_changed: bool) -> str:
        """That nothing is lost."""
        return "; nothing is committed: give the session up"


async def _of_no_use(store: Store, own: Sequence[str]) -> list[str] | None:
    """All keys, the note last; None when one of them is of use."""
    found = []
    async for key in store.list():
        if not is_of_no_use(key, own):
            return None
        found.append(key)
    return sorted(found, key=lambda key: key == NOTE)


async def _listed(store: Store) -> set[str]:
    return {key async for key in store.list()}


async def _names(store: Store) -> set[str]:
    names: AsyncIterator[str] = store.list_dir("")
    return {name async for name in names}


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
