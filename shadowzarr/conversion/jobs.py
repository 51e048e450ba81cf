"""What goes to the processes that convert, and comes back: small values only, and nothing heavy imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..catalog.records import RecordCounts
from .request import Critical, Recording, StoreForm

READ_FUNCTION = "shadowzarr.conversion.read_headers:read_headers"
WRITE_FUNCTION = "shadowzarr.conversion.write_file:write_file"
VALIDATE_FUNCTION = "shadowzarr.conversion.validate_file:validate_file"
VERIFY_FUNCTION = "shadowzarr.conversion.verify_file:verify_file"
STORE_FUNCTION = "shadowzarr.conversion.write_store:write_store"
PRELOAD = ("shadowzarr.conversion.write_file", "shadowzarr.conversion.verify_file")
"""What the processes import before their first job."""
ENVIRONMENT: Mapping[str, str] = {"PYTHONHASHSEED": "0", "NEUROCONV_PROVENANCE": "no-git-info"}
"""NeuroConv goes through sets of names: columns of a recording have the same order in all processes, since a
file is assembled in one and compared in another. It is not to look at the repository of this code either."""


@dataclass(frozen=True)
class RecordingJob:
    """What is needed to convert a recording, or to look at what came of it.

    Attributes
    ----------
    recording : Recording
    identifier : str
        Of the NWB file, where the metadata give none; the same for the same files.
    staged : Path
        Where the references are written.
    strict : bool
        As for `shadowzarr.neuroconv_bridge.virtualize`.
    mode : str
        How values are compared: ``sample``, ``full`` or ``none``.
    seed : int
        Of the sample.
    critical : str
        As `ConversionRules` has it.
    store : str, optional
        Form of the ordinary NWB file.
    store_path : Path, optional
        Where that is written.
    max_memory : int
        Bytes of data to hold at a time, for the latter.
    """

    recording: Recording
    identifier: str
    staged: Path
    strict: bool = True
    mode: Literal["sample", "full", "none"] = "sample"
    seed: int = 0
    critical: Critical = "refuse"
    store: StoreForm | None = None
    store_path: Path | None = None
    max_memory: int = 2**28


@dataclass(frozen=True)
class HeaderFacts:
    """What interfaces say of a recording before anything is built.

    Attributes
    ----------
    session_start : str
        When it was made, an ISO time.
    interfaces : dict of str to str
        The class of each interface.
    """

    session_start: str
    interfaces: dict[str, str]


@dataclass(frozen=True)
class WrittenFacts:
    """What references hold that were written.

    Attributes
    ----------
    counts : RecordCounts
    virtual : list of str
        What is referenced, by the place of the object and its field.
    copied : dict of str to str
        What NeuroConv copied into the references, and why.
    referenced_bytes : int
        Of the values that are referenced.
    build_seconds, write_seconds : float
        NeuroConv's part, and that of writing.
    """

    counts: RecordCounts
    virtual: list[str]
    copied: dict[str, str] = field(default_factory=dict)
    referenced_bytes: int = 0
    build_seconds: float = 0.0
    write_seconds: float = 0.0


@dataclass(frozen=True)
class StoreFacts:
    """The ordinary NWB file that was written: its bytes."""

    nbytes: int
