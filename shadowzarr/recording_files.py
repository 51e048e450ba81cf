"""Which files below a folder belong together as one recording.

A recording is known by its folder or by its first file, which is what NEO is given (``recordings``). Only
names are looked at, and the first bytes of files whose names end as those of recordings do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .recordings import FIRST_FILES, Kind, first_file, is_spikeglx


@dataclass(frozen=True, slots=True)
class RecordingFiles:
    """One recording.

    Attributes
    ----------
    place : Path
        Its folder, or its first file.
    parts : tuple of Path
        All files that it is made of, in the order of their paths.
    holds_folders : bool
        Whether NEO looks for files of it in the folders of its folder too.
    """

    place: Path
    parts: tuple[Path, ...]
    holds_folders: bool = False

    @property
    def size(self) -> int:
        """Bytes of all files.

        Raises
        ------
        OSError
            When one is not there.
        """
        return sum(part.stat().st_size for part in self.parts)


@dataclass(frozen=True, slots=True)
class _FolderKind:
    """A kind of recording that is a folder: endings of its files, and whether they lie in its folders too."""

    endings: frozenset[str]
    is_deep: bool


_SPIKEGLX = _FolderKind(frozenset({".bin", ".meta"}), is_deep=True)
_OPEN_EPHYS = _FolderKind(frozenset({".oebin", ".dat", ".npy", ".xml"}), is_deep=True)
_OPEN_EPHYS_LEGACY = _FolderKind(
    frozenset({".continuous", ".openephys", ".events", ".spikes", ".xml"}), is_deep=True
)
_NEURALYNX = _FolderKind(frozenset({".ncs", ".nev", ".nse", ".ntt", ".nvt"}), is_deep=False)
_TDT = _FolderKind(frozenset({".tsq", ".tev", ".tbk", ".tdx", ".tnt", ".sev"}), is_deep=False)

_BY_ENDING: Final = {".continuous": _OPEN_EPHYS_LEGACY, ".ncs": _NEURALYNX, ".tsq": _TDT}
"""Kinds that are known by a file that lies in the folder itself."""

_STRUCTURE: Final = "structure.oebin"
_LEVELS: Final = (re.compile(r"Record Node .+"), re.compile(r"experiment\d+"), re.compile(r"recording\d+"))
"""Folders of Open Ephys between that of a session and that of a structure, any of which may be missing."""

_COMPANIONS: Final = {
    "BlackrockRawIO": (".ns1", ".ns2", ".ns3", ".ns4", ".ns5", ".ns6", ".nev", ".ccf"),
    "ElanRawIO": (".eeg.ent", ".eeg.pos"),
    "NeuroNexusRawIO": ("_data.xdat", "_timestamp.xdat"),
    "NeuroScopeRawIO": (".dat", ".lfp", ".eeg", ".nrs"),
    "AxonaRawIO": (".bin", ".eeg", ".egf", ".pos", ".inp", *(f".{n}" for n in range(1, 33))),
}
"""Endings of files that belong to the first one of a recording and begin as it does."""

_NAMED: Final = re.compile(rb"^(?:DataFile|MarkerFile)=(.+?)\r?$", re.MULTILINE)
"""In the first file of a BrainVision recording: what the others are called."""


def recording_at(place: Path) -> RecordingFiles | None:
    """The recording that a folder or first file is; None when it is none.

    Raises
    ------
    OSError
        When a folder cannot be listed.
    """
    if place.is_dir():
        return folder_recording(place, _names(place))
    if not place.name.lower().endswith(FIRST_FILES) and not place.with_name(f"{place.name}.ent").exists():
        return None
    folder = place.parent
    return next((each for each in file_recordings(folder, _names(folder)) if each.place == place), None)


def folder_recording(folder: Path, names: Iterable[str]) -> RecordingFiles | None:
    """The recording that a folder is; None when it is none, as one that merely holds some.

    Parameters
    ----------
    names : iterable of str
        Of what is in it.
    """
    kind = _folder_kind(folder, sorted(names))
    if kind is None:
        return None
    found = (Path(inside, name) for inside, files in _walk(folder, kind.is_deep) for name in files)
    parts = tuple(path for path in found if path.suffix.lower() in kind.endings)
    return RecordingFiles(folder, parts, kind.is_deep)


def file_recordings(folder: Path, names: Iterable[str]) -> Iterator[RecordingFiles]:
    """Recordings whose first files lie in a folder, by their names.

    Parameters
    ----------
    names : iterable of str
        Of the files in it that are part of nothing else.
    """
    there = sorted(names)
    seen: set[str] = set()
    for name in there:
        if not name.lower().endswith(FIRST_FILES) and f"{name}.ent" not in there:
            continue
        found = first_file(folder / name)
        if found is None or found.path in seen:
            continue
        seen.add(found.path)
        wanted = {name, *_companions(found.kind, folder / name, there)}
        yield RecordingFiles(folder / name, tuple(folder / each for each in sorted(wanted)))


def _folder_kind(folder: Path, names: list[str]) -> _FolderKind | None:
    endings = {os.path.splitext(name)[1].lower() for name in names}  # noqa: PTH122 - names, no paths
    found = next((kind for ending, kind in _BY_ENDING.items() if ending in endings), None)
    if found is not None:
        return found
    if _STRUCTURE in names or any(_holds_structure(folder / name) for name in names if _level(name) >= 0):
        return _OPEN_EPHYS
    probes = re.compile(re.escape(folder.name) + r"_imec\d*")
    inside = [folder, *(folder / name for name in names if probes.fullmatch(name))]
    if any(is_spikeglx(place / name) for place in inside for name in _names(place) if name.endswith(".meta")):
        return _SPIKEGLX
    return None


def _level(name: str) -> int:
    return next((level for level, pattern in enumerate(_LEVELS) if pattern.fullmatch(name)), -1)


def _holds_structure(folder: Path) -> bool:
    """Whether a structure of Open Ephys lies in a folder, or in those of the next levels."""
    names = _names(folder)
    level = _level(folder.name)
    return _STRUCTURE in names or any(
        _holds_structure(folder / name) for name in names if _level(name) > level
    )


def _companions(kind: Kind, path: Path, there: list[str]) -> Iterator[str]:
    """Names of files that belong to a first one."""
    folder, name = path.parent, path.name
    if kind.reader == "BrainVisionRawIO":
        with path.open("rb") as file:
            head = file.read(4096).decode("utf-8", "replace").encode()
        for match in _NAMED.findall(head):
            other = match.decode().strip().replace("$b", path.stem)
            if (folder / other).is_file():
                yield other
    elif kind.reader == "IntanRawIO" and path.stem.lower() == "info":
        yield from (each for each in there if each.lower().endswith(".dat"))
    stem = name[: -len(".xdat.json")] if kind.reader == "NeuroNexusRawIO" else path.stem
    wanted = {(stem + ending).lower() for ending in _COMPANIONS.get(kind.reader, ())}
    yield from (each for each in there if each.lower() in wanted)


def _names(folder: Path) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if not name.startswith(".")]  # noqa: PTH208
    except NotADirectoryError:
        return []


def _walk(folder: Path, is_deep: bool) -> Iterator[tuple[str, list[str]]]:
    """Folders and the names of files in each; hidden ones are passed over."""
    for inside, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith(".")) if is_deep else []
        yield inside, sorted(name for name in files if not name.startswith("."))
