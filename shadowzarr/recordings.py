"""Which of NEO's raw readers a file or folder is for: by first bytes, and names where a format has no others.

A recording may be one file, several beside each other, or a folder. NEO itself is not imported here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
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
        When a folder holds several recordings, or a file is a part of one and cannot be read alone.
    """
    place = Path(path)
    if not place.is_dir():
        return _in_file(place)
    found = list({each.kind.reader: each for each in _folder_kinds(place)}.values())
    if not found:
        found = list(_single_files(place))
    if len(found) > 1:
        names = ", ".join(f"{each.kind.title} ({Path(each.path).name})" for each in found[:5])
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        raise UnknownFormatError(f"{place} holds {len(found)} recordings: {names}{more}; name one of them")
    return found[0] if found else None


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
    return meta.with_suffix(".bin").is_file() and _SPIKEGLX_META.search(_head(meta)) is not None


def _folder_kinds(folder: Path) -> Iterator[FoundRecording]:
    """Recordings that are the folder itself, by the files below it."""
    for number, (inside, name) in enumerate(_walk(folder)):
        if number >= MOST_ENTRIES:
            return
        path = Path(inside, name)
        ending = path.suffix.lower()
        if ending == ".oebin":
            yield FoundRecording(_OPEN_EPHYS, str(folder))
        elif ending == ".continuous":
            yield FoundRecording(_OPEN_EPHYS_LEGACY, str(folder))
        elif ending == ".meta" and is_spikeglx(path):
            yield FoundRecording(_SPIKEGLX, str(folder))
        elif path.parent == folder and ending == ".ncs":
            yield FoundRecording(_NEURALYNX, str(folder))
        elif ending == ".tsq" and folder in (path.parent, path.parent.parent):
            # NEO takes a tank, which is a folder of blocks, or a file of one block
            yield FoundRecording(_TDT, str(path if path.parent == folder else folder))


def _walk(folder: Path) -> Iterator[tuple[str, str]]:
    for inside, folders, names in os.walk(folder):
        folders.sort()
        yield from ((inside, name) for name in sorted(names))


def _single_files(folder: Path) -> Iterator[FoundRecording]:
    """Recordings whose first files lie in a folder."""
    seen: set[str] = set()
    for path in sorted(folder.iterdir()):
        found = _in_file(path, is_alone=False) if path.is_file() else None
        if found is not None and found.path not in seen:
            seen.add(found.path)
            yield found


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
            return FoundRecording(READERS[reader], str(path))
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
