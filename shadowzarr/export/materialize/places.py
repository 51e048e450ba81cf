"""Where a new store is made, so that nobody takes a part of it for the whole.

A folder or a zip file is made in a folder beside it, ``<name>.partial``, and renamed when it is complete.
Below an S3 prefix all chunks come first and the root's metadata last; until then there is nothing to open. In
an Icechunk session all is seen at once, by the commit. What a run that ended early has written is found
again by the next with the same references and layout: chunks appear whole or not at all in all these places.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import zipfile
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from zarr.abc.store import Store
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import LocalStore

from ...errors import OutputBusyError, OutputError, UsageError
from ...refs.chunk_key import METADATA_NAME
from .target import NOTHING

_SUFFIX = ".partial"
_PLAN = "plan.json"
_DATA = "data"
_OTHERS = (
    "{} holds what an earlier run has written from other references, or with another layout; remove it, or "
    "name another place"
)
_GO_ON = ", and the same call goes on from there"
_REMOVE = ": remove it, or name another place, to materialize references that are made anew"
_LEFT_BY_ZARR = re.compile(r"\.[0-9a-f]{32}\.partial$")
"""Names of files that zarr's local store had not renamed when its process was killed."""


class Place(ABC):
    """Where a store is made.

    Attributes
    ----------
    name : str
        What messages call it.
    store : zarr.abc.store.Store
        Where keys are written meanwhile.
    is_metadata_first : bool
        Whether nodes have to be there before their chunks.
    is_anywhere : bool
        Whether other processes, of other machines too, can write to a copy of the store.
    present : container of str
        Keys that an earlier run has written.
    """

    name: str
    store: Store
    is_metadata_first = False
    is_anywhere = False
    present: Container[str] = NOTHING

    @abstractmethod
    def begin(self, digest: str) -> None:
        """Make sure that there is room, and find what an earlier run has written of the same plan.

        Raises
        ------
        OutputError
            When something is there, or it cannot be written.
        """

    @abstractmethod
    def finish(self, *, verify: bool) -> None:
        """Make the store appear, once everything is written."""

    def scratch(self) -> Path | None:
        """A folder for files that are needed meanwhile, on the same disk; None for the usual one."""
        return None

    def give_up(self, own: Sequence[str]) -> bool:
        """After a failure, take away what was written when there is nothing of use in it.

        Parameters
        ----------
        own : sequence of str
            Prefixes of the keys of arrays whose values the references hold, so that they cost no reading.

        Returns
        -------
        bool
            Whether nothing is left.
        """
        return False

    def advice(self, *, is_changed: bool) -> str:
        """What to do after a failure that leaves something, or after one since a source has changed."""
        return ""

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other runs away."""
        yield


class FolderPlace(Place):
    """A local folder.

    Parameters
    ----------
    out : Path
        The folder; must not be there.
    """

    is_anywhere = True

    def __init__(self, out: Path) -> None:
        self.name = str(out)
        self._out = out
        self._partial = out.with_name(out.name + _SUFFIX)
        self._data = self._partial / _DATA
        self.store = LocalStore(self._data)
        self._is_begun = False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other runs away, until this process ends at the latest."""
        self._check_free()
        if not self._out.parent.is_dir():
            raise OutputError(f"{self._out} cannot be made: there is no folder {self._out.parent}")
        try:
            self._partial.mkdir(exist_ok=True)
            descriptor = os.open(self._partial, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise self._cannot(error) from error
        is_locked = False
        try:
            self._lock(descriptor)
            is_locked = True
            self._check_free()
            yield
        finally:
            if is_locked and not self._is_begun:  # it is ours, and nothing of use is in it
                with contextlib.suppress(OSError):
                    self._partial.rmdir()
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        busy = OutputBusyError(f"another run is making {self._out}; wait for it, or name another place")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise busy from None
        try:
            if not os.path.samestat(os.fstat(descriptor), self._partial.stat()):
                raise busy  # another run took away the folder that was opened, and made a new one
        except FileNotFoundError:
            raise busy from None

    def begin(self, digest: str) -> None:
        """See what is there; the folder is locked."""
        plan = self._partial / _PLAN
        try:
            if plan.exists():
                if json.loads(plan.read_text()).get("plan") != digest:
                    raise OutputError(_OTHERS.format(self._partial))
                self.present = _Files(self._data)
                _remove_half_written(self._data)
            elif any(self._partial.iterdir()):
                raise OutputError(f"{self._partial} is no folder of ours; remove it, or name another place")
            else:
                self._data.mkdir()
                new = self._partial / f"{_PLAN}.new"
                new.write_text(json.dumps({"plan": digest}))
                new.replace(plan)
        except OSError as error:
            raise self._cannot(error) from error
        self._is_begun = True

    def finish(self, *, verify: bool) -> None:
        """Rename it to its place."""
        self._appear(self._data)

    def scratch(self) -> Path:
        """The folder beside the data."""
        return self._partial

    def give_up(self, own: Sequence[str]) -> bool:
        """Remove the folder beside the output, which is locked."""
        written = (path for path in self._data.rglob("*") if path.is_file())
        keys = (path.relative_to(self._data).as_posix() for path in written)
        try:
            if any(not _is_of_no_use(key, own) for key in keys):
                return False
            shutil.rmtree(self._partial)
        except OSError:  # the failure itself is told, and where what is left lies
            return False
        self._is_begun = False
        return True

    def advice(self, *, is_changed: bool) -> str:
        """Where what was written is."""
        place = f"; what is written so far is in {self._partial}"
        return place + (_REMOVE if is_changed else _GO_ON)

    def _appear(self, made: Path) -> None:
        try:
            os.sync()  # so that a power failure leaves no empty files under the final name either
            made.rename(self._out)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise OutputError(
                    f"{self._out} has come to be meanwhile; nothing there is replaced"
                ) from error
            raise self._cannot(error) from error
        shutil.rmtree(self._partial, ignore_errors=True)

    def _check_free(self) -> None:
        if os.path.lexists(self._out):
            raise OutputError(f"{self._out} exists; remove it, or name another place")

    def _cannot(self, error: OSError) -> OutputError:
        if isinstance(error, OutputError):
            return error
        return OutputError(f"cannot write {self._out}: {error.strerror or error}")


class ZipPlace(FolderPlace):
    """A zip file, packed from a folder when that is complete, without compressing chunks once more."""

    def finish(self, *, verify: bool) -> None:
        """Pack it and rename it to its place."""
        packed = self._partial / "packed.zip"
        try:
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED, allowZip64=True) as made:
                for path in sorted(self._data.rglob("*")):
                    if path.is_file():
                        made.write(path, path.relative_to(self._data).as_posix())
            if verify:
                with zipfile.ZipFile(packed) as made:
                    damaged = made.testzip()
                if damaged is not None:
                    raise OutputError(f"{damaged!r} reads back otherwise than it was written to {packed}")
        except OSError as error:
            raise self._cannot(error) from error
        self._appear(packed)


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
                raise OutputError(_OTHERS.format(self.name))
            self.present = keys
            return
        if keys:
            raise OutputError(f"{self.name} is not empty, with {min(keys)!r}; name another place")
        if self._set_note(json.dumps({"plan": digest}).encode()) != digest:  # of two at once the first counts
            raise OutputError(_OTHERS.format(self.name))

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
        return place + (_REMOVE if is_changed else _GO_ON)

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


NOTE = "shadowzarr-materialize.json"
"""The key of the note in a store that is being filled."""


class _Files:
    """Keys whose files are there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and (self._folder / key).is_file()


def _remove_half_written(folder: Path) -> None:
    for path in folder.rglob(f"*{_SUFFIX}"):
        if _LEFT_BY_ZARR.search(path.name) and path.is_file():
            path.unlink()


def _is_of_no_use(key: str, own: Sequence[str]) -> bool:
    return key == NOTE or key.startswith(tuple(own)) or bool(_LEFT_BY_ZARR.search(key))


async def _of_no_use(store: Store, own: Sequence[str]) -> list[str] | None:
    """All keys, the note last; None when one of them is of use."""
    found = []
    async for key in store.list():
        if not _is_of_no_use(key, own):
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
