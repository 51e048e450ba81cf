"""Opening the HDF5 file that references are made for, local or remote, and refusing what is none.

Local files are opened by path; h5py's file objects are for remote ones, whose other files HDF5 must not
look for.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
from h5py import h5g

from ...access.locations import canonical, is_remote, local_path, without_query
from ...access.remfile import BLOCK_SIZE, HEAD_BYTES, Remfile
from ...access.sources import Source, check_local_copy, describe, describe_with_head
from ...errors import (
    DamagedSourceError,
    NotHDF5Error,
    ReadError,
    ShadowzarrError,
    SourceChangedError,
    SourceError,
    SourceNotFoundError,
)
from ...refs.byte_range import FileRange
from .read_ahead import ReadAhead, Tally, read_ahead
from .reasons import READ_ERRORS, short_reason
from .stored_file import registered

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_FIRST_USERBLOCK = 512

METADATA_BYTES = 32 * 2**20
"""Bytes of decoded metadata that HDF5 keeps at least."""


@dataclass(frozen=True, slots=True)
class RemoteReading:
    """How remote files are read.

    Attributes
    ----------
    block_size : int
        Bytes of the smallest request that h5py makes for itself.
    head_bytes : int
        Bytes of the file's head that come with the first request, which learns its size.
    tail_bytes : int
        Bytes of its end that come with the second, where a file has metadata that were written last.
    is_ahead : bool
        Whether metadata are read ahead.
    """

    block_size: int = BLOCK_SIZE
    head_bytes: int = HEAD_BYTES
    tail_bytes: int = BLOCK_SIZE
    is_ahead: bool = True


REMOTE = RemoteReading()
"""What is used; tests put others in its place."""

ReadAheadReport = Callable[[Remfile, Tally], None]
"""Called after each round of requests for a remote file's metadata."""


@dataclass(slots=True)
class OpenFile:
    """An HDF5 file that is open.

    Attributes
    ----------
    file : h5py.File
        Opened for reading.
    source : Source
        What references will name.
    path : pathlib.Path or None
        The file, when h5py reads it by local path.
    stream : Remfile or None
        Or what h5py reads it through.
    ahead : ReadAhead
        What was found of a remote file before h5py opened it.
    """

    file: h5py.File
    source: Source
    path: Path | None
    stream: Remfile | None
    ahead: ReadAhead = field(default_factory=ReadAhead)

    def read_bytes(self, offset: int, length: int) -> bytes:
        """Bytes of the file; fewer at its end."""
        if self.path is not None:
            with self.path.open("rb") as file:
                file.seek(offset)
                return file.read(length)
        stream = self.stream
        assert stream is not None  # noqa: S101 - one of the two is set
        before = stream.tell()
        stream.seek(offset)
        data = stream.read(length) or b""
        stream.seek(before)
        return data


@contextlib.contextmanager
def open_source(
    source: str | os.PathLike[str],
    local_hdf5_path: str | os.PathLike[str] | None,
    *,
    report: ReadAheadReport = lambda _stream, _tally: None,
) -> Iterator[OpenFile]:
    """Open a file for as long as references are made.

    Parameters
    ----------
    source : str or path-like
        What references will name: a local path or a URL.
    local_hdf5_path : str or path-like, optional
        A local copy to read instead.
    report : callable, optional
        Hears of the rounds of requests for a remote file's metadata.

    Raises
    ------
    SourceNotFoundError
        When there is no such file.
    NotHDF5Error, DamagedSourceError
        When it is not HDF5, or cannot be opened.
    SourceChangedError
        When the local copy is another file, or the file changes while it is open.
    """
    load_filters()
    location = canonical(source)
    if is_remote(location) and local_hdf5_path is None:
        with _open_remote(source, report) as opened:
            yield opened
        return
    path = Path(local_path(canonical(local_hdf5_path if local_hdf5_path is not None else source)))
    _check_file(path)
    described = describe(source) if is_remote(location) else None
    if described is None:
        _check_file(Path(local_path(location)))
        described = describe(local_path(location))
    if local_hdf5_path is not None:
        check_local_copy(described, path)
    with _open_local(path, described) as opened:
        yield opened


def open_local(path: str | os.PathLike[str]) -> h5py.File:
    """Open a local file for reading, also where it cannot be locked, as on some network drives.

    Locking is left as it is at first: HDF5 refuses to open a file twice in one process with and without.
    """
    for locking in (None, False):
        try:
            return h5py.File(path, "r", locking=locking)
        except OSError as error:
            if "lock" not in str(error):
                raise
    return h5py.File(path, "r", locking=True)


def load_filters() -> None:
    """Filters that h5py lacks, when they are installed; importing them is what makes them known."""
    with contextlib.suppress(ImportError):
        importlib.import_module("hdf5plugin")


def _check_file(path: Path) -> None:
    if not path.exists():
        raise SourceNotFoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise NotHDF5Error(f"{path} is a directory or device; expected an HDF5 file")
    if not os.access(path, os.R_OK):
        raise ReadError(f"{path} may not be read; check its permissions")


@contextlib.contextmanager
def _open_local(path: Path, source: Source) -> Iterator[OpenFile]:
    before = _state(path)
    with _opened(str(path), str(path), _has_signature(path)) as file:
        yield OpenFile(file, source, path, None)
    if _state(path) != before:
        raise SourceChangedError(f"{path} changed while references to it were made; generate them again")


@contextlib.contextmanager
def _open_remote(location: str | os.PathLike[str], report: ReadAheadReport) -> Iterator[OpenFile]:
    """Open a remote file after reading its metadata ahead, so that h5py finds them in memory."""
    remote = REMOTE
    source, head = describe_with_head(location, remote.head_bytes)
    stream = Remfile(source, head=head, block_size=remote.block_size)
    try:
        ahead = _read_ahead(stream, remote, report)
        with (
            _opened(stream, without_query(source.url), _has_signature_in(stream)) as file,
            registered(file.id, stream, ahead.tables),
        ):
            yield OpenFile(file, source, None, stream, ahead)
    finally:
        stream.close()


def _read_ahead(stream: Remfile, remote: RemoteReading, report: ReadAheadReport) -> ReadAhead:
    if not remote.is_ahead:
        return ReadAhead()
    size = stream.source.size or 0
    tail = size - remote.tail_bytes if size > 2 * remote.head_bytes else remote.head_bytes
    also = [FileRange(tail, size - tail)] if tail < size else []
    return read_ahead(stream, size, report=lambda tally: report(stream, tally), also=also)


def _state(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


@contextlib.contextmanager
def _opened(target: Any, name: str, has_signature: bool) -> Iterator[h5py.File]:
    """An open file, whose closing may be what HDF5 finds a damage by."""
    file = _open_file(target, name, has_signature)
    try:
        yield file
    except BaseException:
        with contextlib.suppress(*READ_ERRORS):  # what went wrong before says more
            file.close()
        raise
    try:
        file.close()
    except ShadowzarrError:
        raise
    except READ_ERRORS as error:
        raise DamagedSourceError(f"{name} cannot be closed, it is damaged: {short_reason(error)}") from error


def _open_file(target: Any, name: str, has_signature: bool) -> h5py.File:
    if not has_signature:
        raise NotHDF5Error(f"{name} is not an HDF5 file: {_lacking(target)}")
    try:
        file = open_local(target) if isinstance(target, str) else h5py.File(target, "r")
        _keep_metadata(file)
        h5g.open(file.id, b"/")  # HDF5 opens files whose root group is damaged
        return file  # noqa: TRY300 - the last thing that may fail is above
    except ShadowzarrError:
        raise
    except READ_ERRORS as error:
        reason = short_reason(error)
        if "already open" in reason or "consistency flags" in reason:
            raise SourceError(f"{name} is open for writing, or was not closed: {reason}") from error
        raise DamagedSourceError(f"{name} cannot be opened, it is truncated or damaged: {reason}") from error


def _keep_metadata(file: h5py.File) -> None:
    """Let HDF5 keep more of what it decoded than the 2 MiB that it begins with: most is visited again."""
    config = file.id.get_mdc_config()
    config.set_initial_size, config.initial_size = True, min(METADATA_BYTES, config.max_size)
    file.id.set_mdc_config(config)


def _lacking(target: Any) -> str:
    """Why something without a signature is no HDF5 file."""
    size = Path(target).stat().st_size if isinstance(target, str) else target.seek(0, os.SEEK_END)
    return "it has no HDF5 signature" if size else "the file is empty"


def _has_signature(path: Path) -> bool:
    with path.open("rb") as file:
        return _has_signature_in(file)


def _has_signature_in(file: Any) -> bool:
    """Whether the signature is where a superblock may be: at 0, 512, 1024, 2048 and so on."""
    size = file.seek(0, os.SEEK_END)
    offset = 0
    found = False
    while not found and offset + len(_SIGNATURE) <= size:
        file.seek(offset)
        found = file.read(len(_SIGNATURE)) == _SIGNATURE
        offset = 2 * offset or _FIRST_USERBLOCK
    file.seek(0)
    return found
