"""An output in a folder: files appear by renames, and a lock that dies with its process keeps runs apart."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..errors import OutputError
from ..replacing import bring_names_to_disk, bring_to_disk, replace_whole
from .asset_names import ignores_case
from .atomic_files import write_whole
from .lock import check_output, output_lock
from .output_store import StoredFile

WORKINGS = ".shadowzarr"


@dataclass(frozen=True)
class FolderOutput:
    """The published files in a folder; see `shadowzarr.catalog.output_store.OutputStore`."""

    folder: Path

    @property
    def workings(self) -> Path:
        """A hidden folder in it, so that publishing is renaming."""
        return self.folder / WORKINGS

    @property
    def lock(self) -> Path:
        """File that the run which writes here holds."""
        return self.workings / "lock"

    def location(self, name: str) -> str:
        """The path of a file."""
        return str(self.folder / name)

    def is_there(self) -> bool:
        """Whether the folder exists."""
        return self.folder.is_dir()

    def check(self) -> None:
        """Refuse a folder that could not be written."""
        check_output(self.lock)

    def files(self, prefix: str, *, closed: str = "") -> Iterator[StoredFile]:
        """All files whose names start so, in order; what does not exist holds none."""
        folder, _, start = prefix.rpartition("/")
        yield from self._walk(folder, start, closed)

    def children(self, folder: str) -> list[str]:
        """Names of the files and folders directly in a folder."""
        try:
            return sorted(f"{folder}/{name}" for name in os.listdir(self.folder / folder))  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            return []

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return (self.folder / name).is_file()

    def modified(self, name: str) -> datetime | None:
        """The time of a file; None when there is none."""
        try:
            return datetime.fromtimestamp((self.folder / name).stat().st_mtime, UTC)
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes:
        """The content of a file."""
        return (self.folder / name).read_bytes()

    def write(self, name: str, content: bytes, *, scratch: Path) -> None:
        """Write a file in ``scratch``, then rename it."""
        write_whole(self.folder / name, content, scratch=scratch)

    def adopt(self, local: Path, name: str, *, is_final: bool = False) -> None:
        """Bring a file or folder to the disk, and rename it."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not is_final and target.exists():
            return
        bring_to_disk(local)
        if is_final:
            replace_whole(local, target)
        else:
            local.rename(target)
        bring_names_to_disk(target.parent)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, links and folders."""
        for name in names:
            remove(self.folder / name)

    def move(self, name: str, target: str) -> None:
        """Rename a file or folder, in place of what has that name."""
        remove(self.folder / target)
        (self.folder / target).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).rename(self.folder / target)

    def drop_empty(self, folder: str, *, up_to: str) -> None:
        """Remove folders that nothing is left in."""
        place, last = self.folder / folder, self.folder / up_to
        while place != last and place.is_relative_to(last):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                if any(place.iterdir()):
                    return
                place.rmdir()
            place = place.parent

    @contextlib.contextmanager
    def local_copy(self, name: str) -> Iterator[Path]:
        """The file or folder itself."""
        yield self.folder / name

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock's file."""
        with output_lock(self.lock):
            yield

    def let_go(self) -> None:
        """Nothing: the lock ends with its process."""

    def ignores_case(self) -> bool:
        """Tell by the file system."""
        return ignores_case(self.folder)

    def name_problem(self, name: str) -> str | None:
        """None: what an asset may be called is made for file systems."""
        del name
        return None

    def _walk(self, folder: str, start: str, closed: str) -> Iterator[StoredFile]:
        """Files, and folders that are not looked into."""
        place = self.folder / folder
        try:
            found = [entry for entry in os.scandir(place) if entry.name.startswith(start)]
        except FileNotFoundError:
            return
        except OSError as error:
            raise OutputError(f"cannot list {place}: {error.strerror or error}") from error
        for entry in sorted(found, key=lambda entry: entry.name):
            name = f"{folder}/{entry.name}" if folder else entry.name
            if not entry.is_dir(follow_symlinks=False):
                yield StoredFile(name, _state(entry))
            elif closed and entry.name.endswith(closed):
                yield StoredFile(name, "")
            else:
                yield from self._walk(name, "", closed)


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder; one that is not there is no error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _state(entry: os.DirEntry[str]) -> str:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # removed meanwhile
        return ""
    return f"{status.st_mtime_ns}-{status.st_size}"
