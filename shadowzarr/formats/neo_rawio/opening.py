"""A local file or folder → the NEO reader that reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..._optional import require
from ...errors import MissingDependencyError, SourceNotFoundError, UnknownFormatError
from ...recording_parts import hint_for
from ...recordings import READERS, FoundRecording, find_recording

_READERS_OF_HDF5 = {
    "wells": "MaxwellRawIO",
    "mapping": "MaxwellRawIO",
    "3BData": "BiocamRawIO",
    "ExperimentSettings": "BiocamRawIO",
    "TOC": "BiocamRawIO",
    "channel_positions": "MEArecRawIO",
}
"""Objects in the root of an HDF5 file that one of NEO's readers looks for, and which."""


def open_reader(path: str) -> Any:
    """The reader of a recording; its header is not parsed yet.

    Parameters
    ----------
    path : str
        A local file or folder.

    Raises
    ------
    SourceNotFoundError
        When there is none.
    UnknownFormatError
        When it is no recording that is known, or several.
    MissingDependencyError
        When NEO, or what NEO reads the format with, is not installed.
    """
    rawio = require("neo.rawio", extra="neo")
    if not Path(path).exists():
        raise SourceNotFoundError(f"{path}: there is no such file or folder")
    found = find_recording(path) or _in_hdf5(path)
    if found is None:
        hint = hint_for(path) or "open it with a reader of neo.rawio"
        raise UnknownFormatError(f"{path} is no recording that is known; {hint}")
    try:
        return getattr(rawio, found.kind.reader)(**found.all_arguments())
    except (ImportError, ValueError) as error:  # what a reader raises without the library that it needs
        raise MissingDependencyError(f"{path} is {found.kind.title}; NEO cannot read it: {error}") from error


def _in_hdf5(path: str) -> FoundRecording | None:
    """The recording that an HDF5 file is, by what its root holds."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            names = set(file)
    except OSError:
        return None
    reader = next((reader for name, reader in _READERS_OF_HDF5.items() if name in names), None)
    return None if reader is None else FoundRecording(READERS[reader], path)
