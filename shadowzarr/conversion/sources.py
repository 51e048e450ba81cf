"""Which files a recording is made of, by what its interfaces are given, and whether they have changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..catalog.assets import CatalogAsset
from ..catalog.file_assets import FoundFile, file_assets
from ..errors import SourceNotFoundError, UsageError
from ..recording_files import recording_at
from .given import PATH_ENDINGS
from .request import Recording

_OF_FOLDERS = ("info.rhd", "info.rhs")
"""Intan's header of a recording that has a file for each signal, whatever these are called."""


def named_paths(recording: Recording) -> list[Path]:
    """Files and folders that interfaces are given, absolute, each once."""
    found = (path for each in recording.interfaces.values() for path in _paths_in(each.source_data))
    return list(dict.fromkeys(found))


def check_sources(recording: Recording) -> None:
    """Refuse a recording whose files are not there.

    Raises
    ------
    SourceNotFoundError
        For the first that is missing.
    UsageError
        When interfaces are given no files.
    """
    paths = named_paths(recording)
    if not paths:
        names = ", ".join(each.name for each in recording.interfaces.values())
        raise UsageError(f"source_data of {names} names no file; expected file_path or folder_path")
    for path in (*paths, *recording.metadata):
        if not path.exists():
            raise SourceNotFoundError(f"{path} is not there{_nearest_folder(path)}")


def recording_asset(collection: str, recording: Recording) -> CatalogAsset:
    """Describe a recording as an asset: its size, and what tells that one of its files has changed.

    One whose files are not there is an asset too: what is wrong shows when it is converted.
    """
    try:
        parts = tuple(str(path) for path in _files(named_paths(recording)))
    except OSError:
        parts = ()
    place = os.path.commonpath([os.path.dirname(part) for part in parts]) if parts else recording.path  # noqa: PTH120
    found = FoundFile(recording.path, place, "", kind="recording", parts=parts)
    (asset,) = file_assets(collection, [found], identity="time")
    return asset


def _files(paths: Iterable[Path]) -> list[Path]:
    """All files: of a folder those below it, of a file those that may make a recording with it."""
    files: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            below = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
            files.update(dict.fromkeys(sorted(below)))
        else:
            files.update(dict.fromkeys((path, *_beside(path))))
    return list(files)


def _beside(path: Path) -> Iterator[Path]:
    """Files that belong to one, and those that are called like it; one too many does a recording again."""
    whole = recording_at(path) if path.is_file() else None
    yield from whole.parts if whole else ()
    stem = path.name.partition(".")[0]
    for each in sorted(path.parent.iterdir()) if path.parent.is_dir() else ():
        if each.is_file() and (each.name.partition(".")[0] == stem or path.name in _OF_FOLDERS):
            yield each


def _paths_in(source_data: Mapping[str, Any]) -> Iterator[Path]:
    for name, value in source_data.items():
        if isinstance(value, Mapping):
            yield from _paths_in(value)
        elif name.endswith(PATH_ENDINGS):
            each = value if isinstance(value, list | tuple) else [value]
            yield from (Path(path).absolute() for path in each if isinstance(path, str))


def _nearest_folder(path: Path) -> str:
    """Say how much of a path there is."""
    there = next(each for each in path.parents if each.exists())
    return f"; of its path there is {there}" if there != path.parent else ""
