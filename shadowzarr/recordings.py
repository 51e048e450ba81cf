"""Which of NEO's raw readers a file or folder is for: by first bytes, and names where a format has no others.

A recording may be one file, several beside each other, or a folder. NEO itself is not imported here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

from .errors import UnknownFormatError

HEAD_BYTES: Final = 4096
"""What is looked at of a file."""

MOST_ENTRIES: Final = 100_000
"""Files below a folder that are looked for at most."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A format of recordings.

    Attributes
    ----------
    reader : str
        Name of the class in ``neo.rawio``.
    title : str
        How messages call a recording.
    argument : {"filename", "dirname"}
        What the class takes.
    """

    reader: str
    title: str
    argument: Literal["filename", "dirname"] = "filename"


@dataclass(frozen=True, slots=True)
class FoundRecording:
    """A recording, and how NEO opens it.

    Attributes
    ----------
    kind : Kind
        Its format.
    path : str
        What the reader is given.
    arguments : dict
        What else it is given.
    """

    kind: Kind
    path: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def all_arguments(self) -> dict[str, Any]:
        """Everything that the reader is given."""
        return {self.kind.argument: self.path, **self.arguments}


_SPIKEGLX = Kind("SpikeGLXRawIO", "a SpikeGLX recording", "dirname")
_OPEN_EPHYS = Kind("OpenEphysBinaryRawIO", "an Open Ephys recording (binary format)", "dirname")
_OPEN_EPHYS_LEGACY = Kind("OpenEphysRawIO", "an Open Ephys recording (legacy format)", "dirname")
_NEURALYNX = Kind("NeuralynxRawIO", "a Neuralynx recording", "dirname")
_TDT = Kind("TdtRawIO", "a TDT recording", "dirname")
_BLACKROCK = Kind("BlackrockRawIO", "a Blackrock recording")
_AXON = Kind("AxonRawIO", "an Axon recording (ABF)")
_INTAN = Kind("IntanRawIO", "an Intan recording")
_EDF = Kind("EDFRawIO", "an EDF file")
_BDF = Kind("EDFRawIO", "a BDF file")
_ELAN = Kind("ElanRawIO", "an Elan recording")
_NEUROSCOPE = Kind("NeuroScopeRawIO", "a Neuroscope recording")
_AXOGRAPH = Kind("AxographRawIO", "an AxoGraph file")

_HEADS: Final = {
    b"ABF ": _AXON,
    b"ABF2": _AXON,
    b"Brain Vision Data Exchange Header File": Kind("BrainVisionRawIO", "a BrainVision recording"),
    b"BrainVision Data Exchange Header File": Kind("BrainVisionRawIO", "a BrainVision recording"),
    b"0       ": _EDF,
    b"\xffBIOSEMI": _BDF,
    b"* MICROMED": Kind("MicromedRawIO", "a Micromed recording"),
    b"MC_DataTool binary conversion": Kind("RawMCSRawIO", "a Multi Channel Systems recording (raw export)"),
    b"NEURALSG": _BLACKROCK,
    b"NEURALCD": _BLACKROCK,
    b"BRSMPGRP": _BLACKROCK,
    b"\x02\x27\x91\xc6": _INTAN,
    b"\xac\x27\x91\xd6": _INTAN,
    b"XELP": Kind("PlexonRawIO", "a Plexon recording (plx)"),
    b"PLEX": Kind("PlexonRawIO", "a Plexon recording (plx)"),
    b"AxGr": _AXOGRAPH,
    b"axgx": _AXOGRAPH,
    b"NEX1": Kind("NeuroExplorerRawIO", "a NeuroExplorer file"),
}
"""How files begin."""

_SPIKE2: Final = b"(C) CED 87"
"""In a Spike2 file, behind two bytes."""

READERS: Final = {
    kind.reader: kind
    for kind in (
        *_HEADS.values(),
        _SPIKEGLX, _OPEN_EPHYS, _OPEN_EPHYS_LEGACY, _NEURALYNX, _TDT, _ELAN, _NEUROSCOPE,
        Kind("SpikeGadgetsRawIO", "a SpikeGadgets recording"),
        Kind("WinEdrRawIO", "a WinEDR recording"),
        Kind("WinWcpRawIO", "a WinWCP recording"),
        Kind("NeuroNexusRawIO", "a NeuroNexus recording"),
        Kind("Spike2RawIO", "a Spike2 file"),
        Kind("AxonaRawIO", "an Axona recording"),
        Kind("BiocamRawIO", "a Biocam recording"),
        Kind("MaxwellRawIO", "a Maxwell recording"),
        Kind("MEArecRawIO", "a MEArec recording"),
    )
}  # fmt: skip
"""All kinds, by their readers. Those stored in HDF5 files are HDF5 files unless one asks for them."""

_SPIKEGLX_META: Final = re.compile(rb"^typeThis=", re.MULTILINE)
_ENDINGS: Final = {
    ".rec": (b"<Configuration", "SpikeGadgetsRawIO"),
    ".edr": (b"ADCMAX=", "WinEdrRawIO"),
    ".wcp": (b"ADCMAX=", "WinWcpRawIO"),
    ".xdat.json": (b"sapiens_base", "NeuroNexusRawIO"),
    ".set": (b"trial_date", "AxonaRawIO"),
}
"""Endings of names, what is in the first bytes of such files, and their readers."""


FIRST_FILES: Final = (
    *_ENDINGS, ".abf", ".vhdr", ".edf", ".bdf", ".trc", ".raw", *(f".ns{n}" for n in range(1, 7)), ".rhd",
    ".rhs", ".plx", ".axgd", ".axgx", ".nex", ".smr", ".xml",
)  # fmt: skip
"""How names of the first files of recordings end, in small letters; Elan's are known by their companions."""


def find_recording(path: str | os.PathLike[str]) -> FoundRecording | None:
    """What NEO reads of a local file or folder; None when it is none that is known.

    Raises
    ------
    UnknownFormatError
        When a folder holds several recordings, or one that is not the folder itself, or a file is a part of
        one and cannot be read alone.
    """
    place = Path(path)
    if not place.is_dir():
        return _in_file(place)
    found = _in_folder(place)
    if len(found) > 1 or (found and found[0].is_below):
        raise _several(place, found)
    return found[0].recording if found else None


def kind_of_head(head: bytes) -> Kind | None:
    """The kind of recording that a file is by its first bytes alone; None when they do not tell."""
    if head[2 : 2 + len(_SPIKE2)] == _SPIKE2:
        return READERS["Spike2RawIO"]
    found = next((kind for start, kind in _HEADS.items() if head.startswith(start)), None)
    if found is _EDF and not head[252:256].strip().isdigit():  # eight characters alone could begin any text
        return None
    return found


def first_file(path: Path) -> FoundRecording | None:
    """The recording whose first file is at a path; None when it is none, or of no kind that is known."""
    return _in_file(path, is_alone=False)


def is_spikeglx(meta: Path) -> bool:
    """Whether a ``.meta`` file is SpikeGLX's, beside its samples."""
    return meta.with_suffix(".bin").is_file() and is_spikeglx_meta(meta)


def is_spikeglx_meta(meta: Path) -> bool:
    """Whether a ``.meta`` file is SpikeGLX's, with or without samples."""
    return _SPIKEGLX_META.search(_head(meta)) is not None


def is_axona_set(path: Path) -> bool:
    """Whether a ``.set`` file is Axona's, with or without samples."""
    return _ENDINGS[".set"][0] in _head(path)


@dataclass(frozen=True, slots=True)
class _Inside:
    """A recording in a folder: what to name of it, and whether it is none of the folder as a whole."""

    recording: FoundRecording
    name: str
    is_below: bool = False


def _in_folder(folder: Path) -> list[_Inside]:
    """Recordings that a folder is or holds.

    What its own files are comes before what lies in its folders: that can be named, and they could not.
    """
    whole: dict[tuple[str, str], FoundRecording] = {}
    below: dict[str, _Inside] = {}
    for path in islice(_files(folder), MOST_ENTRIES):
        inside = path.relative_to(folder)
        found = _of_folder(folder, path)
        if found is not None:
            whole.setdefault((found.kind.reader, inside.parts[0] if len(inside.parts) > 1 else ""), found)
        elif len(inside.parts) > 1:
            found, name = _below(path), str(inside)
            if found is not None:
                name = str(inside.parent) if found.kind in (_NEURALYNX, _TDT) else name
                below.setdefault(found.path, _Inside(found, name, is_below=True))
    is_its_own = any(not name for _, name in whole)
    others = [] if is_its_own else list(_single_files(folder))
    if not is_its_own and (whole or not others):
        others += below.values()
    found_whole = [_Inside(found, name) for (_, name), found in whole.items()]
    if not others and len({reader for reader, _ in whole}) == 1:
        return found_whole[:1]  # NEO finds those of its other folders from here
    return [*found_whole, *others]


def _several(folder: Path, found: list[_Inside]) -> UnknownFormatError:
    """The error for a folder of which one recording is to be named."""
    names = ", ".join(
        f"{each.recording.kind.title} ({each.name or 'files of the folder itself'})" for each in found[:5]
    )
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    if len(found) == 1:
        return UnknownFormatError(f"{folder} holds a recording in a folder of its own: {names}; name that")
    own = "" if all(each.name for each in found) else ", or open one with its reader of neo.rawio"
    return UnknownFormatError(f"{folder} holds {len(found)} recordings: {names}{more}; name one of them{own}")


def _of_folder(folder: Path, path: Path) -> FoundRecording | None:
    """The recording that a folder is, by a file below it."""
    ending = path.suffix.lower()
    if ending == ".oebin":
        return FoundRecording(_OPEN_EPHYS, str(folder))
    if ending == ".continuous":
        return FoundRecording(_OPEN_EPHYS_LEGACY, str(folder))
    if ending == ".meta" and is_spikeglx(path):
        return FoundRecording(_SPIKEGLX, str(folder))
    if path.parent == folder and ending == ".ncs":
        return FoundRecording(_NEURALYNX, str(folder))
    if ending == ".tsq" and folder in (path.parent, path.parent.parent):
        # NEO takes a tank, which is a folder of blocks, or a file of one block
        return FoundRecording(_TDT, str(path if path.parent == folder else folder))
    return None


def _below(path: Path) -> FoundRecording | None:
    """The recording that a file in a folder's folders is the first of."""
    name = path.name.lower()
    if name.endswith(".ncs"):
        return FoundRecording(_NEURALYNX, str(path.parent))
    if name.endswith(".tsq"):
        return FoundRecording(_TDT, str(path.parent))
    return first_file(path) if name.endswith((*FIRST_FILES, ".eeg")) else None


def _files(folder: Path) -> Iterator[Path]:
    for inside, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(inside, name) for name in sorted(names))


def _single_files(folder: Path) -> Iterator[_Inside]:
    """Recordings whose first files lie in a folder."""
    seen: set[str] = set()
    for path in sorted(folder.iterdir()):
        found = first_file(path) if path.is_file() else None
        if found is not None and found.path not in seen:
            seen.add(found.path)
            yield _Inside(found, path.name)


def _in_file(path: Path, *, is_alone: bool = True) -> FoundRecording | None:
    """The recording that a file is, or is the first file of."""
    head = _head(path)
    kind = kind_of_head(head)
    if kind is _BLACKROCK:
        # the files of one recording differ in their ending alone, and NEO is given the rest
        return FoundRecording(kind, str(path.with_suffix("")))
    if kind is not None:
        return FoundRecording(kind, str(path))
    name = path.name.lower()
    for ending, (text, reader) in _ENDINGS.items():
        if name.endswith(ending) and text in head:
            # without its samples a recording of Axona's has spikes alone
            is_whole = reader != "AxonaRawIO" or path.with_suffix(".bin").is_file()
            return FoundRecording(READERS[reader], str(path)) if is_whole else None
    if name.endswith(".eeg") and Path(f"{path}.ent").is_file():
        return FoundRecording(_ELAN, str(path))
    if name.endswith(".xml") and b"<parameters" in head and _signals_of_neuroscope(path):
        return FoundRecording(_NEUROSCOPE, str(path))
    if is_alone:
        return _part(path, head)
    return None


def _signals_of_neuroscope(path: Path) -> bool:
    return any(path.with_suffix(ending).is_file() for ending in (".dat", ".lfp", ".eeg"))


def _block_of_tdt(path: Path) -> FoundRecording | None:
    """The block whose index a file is; NEO takes a file of a block that is in no tank."""
    return FoundRecording(_TDT, str(path)) if path.suffix.lower() == ".tsq" else None


def _part(path: Path, head: bytes) -> FoundRecording | None:
    """The recording that a file is a part of, when NEO can be told to read that part alone."""
    if path.suffix.lower() == ".tsq":
        return _block_of_tdt(path)
    if path.suffix.lower() == ".ncs" and head.startswith(b"######## Neuralynx"):
        return FoundRecording(_NEURALYNX, str(path.parent), {"include_filenames": [path.name]})
    others = {".continuous": _OPEN_EPHYS_LEGACY, ".oebin": _OPEN_EPHYS}
    kind = others.get(path.suffix.lower())
    if path.suffix.lower() in (".bin", ".meta") and is_spikeglx(path.with_suffix(".meta")):
        kind = _SPIKEGLX
    if kind is not None:
        raise UnknownFormatError(
            f"{path} is a part of {kind.title}, which NEO reads by its folder; name that"
        )
    return None


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""  # whoever reads it next says what is wrong
