"""What is missing of a recording that is not whole, and what to name in place of a part of one.

For messages only, once nothing else has recognised a file or folder: names are looked at, and first bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from .errors import UnknownFormatError
from .recordings import MOST_ENTRIES, FoundRecording, find_recording, is_axona_set, is_spikeglx_meta

_SPIKEGLX_SAMPLES: Final = re.compile(
    r".+\.(?:nidq|imec\d*\.(?:ap|lf)|obx\d*\.obx|onebox\d*)\.bin", re.IGNORECASE
)
"""How SpikeGLX calls files of samples (its manual, "Output file naming")."""

_FIRST: Final = {
    ".bin": (".set",),
    ".dat": (".xml",),
    ".lfp": (".xml",),
    ".eeg": (".vhdr", ".xml"),
    ".vmrk": (".vhdr",),
    ".tev": (".tsq",),
    ".tbk": (".tsq",),
}
"""Of files of recordings, how the first files beside them end, which NEO is given (``recordings``)."""


def hint_for(path: str | os.PathLike[str]) -> str | None:
    """What to do about a file or folder that is no whole recording; None when it looks like a part of none.

    Parameters
    ----------
    path : str or path-like
        A local file or folder in which no recording was found.

    Returns
    -------
    str or None
        A clause that names what is missing, or what to name.
    """
    place = Path(path)
    if not place.is_dir():
        return _of_file(place)
    hints = (_missing_beside(each) for each in islice(_files(place), MOST_ENTRIES))
    return next((hint for hint in hints if hint is not None), None)


def is_of_recording(path: str | os.PathLike[str]) -> bool:
    """Whether a local file or folder is a recording, holds some, or is a part of one.

    Parameters
    ----------
    path : str or path-like
        A local file or folder.
    """
    try:
        return find_recording(path) is not None or (
            not Path(path).is_dir() and _whole_of(Path(path)) is not None
        )
    except UnknownFormatError:  # a part, or several
        return True


def _of_file(path: Path) -> str | None:
    whole = _whole_of(path)
    if whole is not None:
        return f"it is a part of {whole.kind.title}; name {Path(whole.path).name}"
    return _missing_beside(path)


def _whole_of(path: Path) -> FoundRecording | None:
    """The recording that a file is a part of, known by the first file beside it."""
    beside = (path.with_suffix(ending) for ending in _FIRST.get(path.suffix.lower(), ()))
    found = (find_recording(each) for each in beside if each.is_file())
    return next((each for each in found if each is not None), None)


def _missing_beside(path: Path) -> str | None:
    """What is missing beside one file of a recording."""
    ending = path.suffix.lower()
    if ending == ".meta" and is_spikeglx_meta(path):
        return _without(path, ".bin", "describes a SpikeGLX recording", "its samples")
    if ending == ".bin" and _SPIKEGLX_SAMPLES.fullmatch(path.name):
        return _without(path, ".meta", "is called as SpikeGLX calls samples", "what describes them")
    if ending == ".set" and is_axona_set(path):
        return _without(path, ".bin", "describes an Axona recording", "its samples")
    return None


def _without(path: Path, ending: str, what: str, role: str) -> str | None:
    other = path.with_suffix(ending)
    return None if other.is_file() else f"{path.name} {what}, and {other.name}, {role}, is missing beside it"


def _files(folder: Path) -> Iterator[Path]:
    for inside, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(inside, name) for name in sorted(names))
