"""Where an output's published files lie: what a folder and a prefix in a bucket have in common.

Names are relative to the output, with ``/``. Everything that is not published (staging, the catalogue's data
base) is on this machine, in `OutputStore.workings`. A folder is the subject of
`shadowzarr.catalog.folder_output`, a bucket that of `shadowzarr.catalog.bucket_output`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ..errors import OutputError


@dataclass(frozen=True)
class StoredFile:
    """A published file, or a folder that was not looked into.

    Attributes
    ----------
    name : str
        Relative to the output, with ``/``.
    state : str
        Another one when the content has changed; empty for a folder.
    """

    name: str
    state: str


class OutputStore(Protocol):
    """The published files of an output. Errors are ``OSError``; those of a bucket say what was done."""

    @property
    def workings(self) -> Path:
        """Folder on this machine for unpublished work."""

    def location(self, name: str) -> str:
        """The path or URL of a file or folder, as readers take it."""

    def is_there(self) -> bool:
        """Whether there is such an output."""

    def check(self) -> None:
        """Refuse an output that cannot be used, without writing anything."""

    def files(self, prefix: str, *, closed: str = "") -> Iterator[StoredFile]:
        """All files whose names start so, in order.

        Parameters
        ----------
        prefix : str
            A folder with ``/`` at its end, or the beginning of names in one folder.
        closed : str
            Folders whose names end so are given themselves, and not looked into.
        """

    def children(self, folder: str) -> list[str]:
        """Names of the files and folders directly in a folder; none when it is not there."""

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""

    def modified(self, name: str) -> datetime | None:
        """When a file was last written; None when there is none."""

    def read(self, name: str) -> bytes:
        """The content of a file; a FileNotFoundError when there is none."""

    def write(self, name: str, content: bytes, *, scratch: Path) -> None:
        """Put a file there whole or not at all; ``scratch`` as for `write_whole`."""

    def adopt(self, local: Path, name: str, *, is_final: bool = False) -> None:
        """Give a local file, or a folder of files, its published name.

        Parameters
        ----------
        local : Path
            What was staged; a folder may move away.
        name : str
        is_final : bool
            What is there is replaced at once, by a folder too where names can be exchanged
            (`shadowzarr.replacing.replace_whole`). Otherwise the name tells the content, and what is there
            under it is the same.
        """

    def remove(self, names: Iterable[str]) -> None:
        """Remove files and folders; one that is not there is no error."""

    def move(self, name: str, target: str) -> None:
        """Give a file or folder another name, in place of what has that name."""

    def drop_empty(self, folder: str, *, up_to: str) -> None:
        """Remove a folder that nothing is left in, and those it is in, below another."""

    def local_copy(self, name: str) -> AbstractContextManager[Path]:
        """A file or folder as a local path, which must not be changed, as long as it is needed."""

    def held(self) -> AbstractContextManager[None]:
        """Keep other runs out, inside; an OutputBusyError when one is there."""

    def let_go(self) -> None:
        """Let other runs in, because this process is about to end inside of `held`."""

    def ignores_case(self) -> bool:
        """Whether names that differ in the case of letters name the same file."""

    def name_problem(self, name: str) -> str | None:
        """Say why the files of an asset cannot have names that start so, or nothing."""


def output_error(what: str, error: OSError) -> OutputError:
    """The error to raise when something could not be done; one that says all of it stays as it is."""
    if isinstance(error, OutputError):
        return error
    return OutputError(f"{what}: {error.strerror or error}")
