"""Folders and zip files of this machine as places: made in a folder beside them, renamed when complete."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from zarr.storage import LocalStore

from ...errors import OutputBusyError, OutputError
from .place import LEFT_BY_ZARR, OTHERS, Place, going_on, is_of_no_use

_SUFFIX = ".partial"
_PLAN = "plan.json"
_NEW_PLAN = f"{_PLAN}.new"
_DATA = "data"


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
                    raise OutputError(OTHERS.format(self._partial))
                self.present = _Files(self._data)
                _remove_half_written(self._data)
            else:
                new = self._partial / _NEW_PLAN
                if any(path != new for path in self._partial.iterdir()):
                    raise OutputError(
                        f"{self._partial} is no folder of ours; remove it, or name another place"
                    )
                new.write_text(json.dumps({"plan": digest}))
                new.replace(plan)  # before all else: what lies beside a plan is ours
            self._data.mkdir(exist_ok=True)
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
            if any(not is_of_no_use(key, own) for key in keys):
                return False
            shutil.rmtree(self._partial)
        except OSError:  # the failure itself is told, and where what is left lies
            return False
        self._is_begun = False
        return True

    def advice(self, *, is_changed: bool) -> str:
        """Where what was written is."""
        place = f"; what is written so far is in {self._partial}"
        return place + going_on(is_changed=is_changed)

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


class _Files:
    """Keys whose files are there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and (self._folder / key).is_file()


def _remove_half_written(folder: Path) -> None:
    for path in folder.rglob(f"*{_SUFFIX}"):
        if LEFT_BY_ZARR.search(path.name) and path.is_file():
            path.unlink()
