"""What a run that converts is asked to do, in the library's words; nothing heavy imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from ..catalog.asset_names import path_problem, repeated
from ..catalog.options import ReferenceOptions
from ..catalog.request import IndexRequest
from ..errors import UsageError
from .given import check_given

Critical = Literal["refuse", "tell", "off"]
"""What becomes of what nwbinspector finds critical: the recording fails, it is told, or nothing is asked."""
StoreForm = Literal["nwb-zarr", "nwb-hdf5"]
STORE_SUFFIXES: Mapping[StoreForm, str] = {"nwb-zarr": ".zarr", "nwb-hdf5": ""}
"""What a materialized file's name has behind ``.nwb``."""

CONVERSION_VERSION = 1
"""Raised when the same recording comes to give other references, so that all are converted again."""


def check_name(name: str) -> None:
    """Refuse what a recording cannot be called, or what would lie in another one's files.

    Raises
    ------
    UsageError
        With the reason.
    """
    problem = path_problem(name)
    if problem:
        raise UsageError(f"expected a path for the output: {problem}")
    endings = tuple(f".nwb{suffix}" for suffix in STORE_SUFFIXES.values())
    if any(part.lower().endswith(endings) for part in name.split("/")):
        raise UsageError("expected a name without .nwb and .nwb.zarr, which are added")


def check_names(names: Sequence[str]) -> None:
    """Refuse two recordings of one name, since each would replace the other.

    Raises
    ------
    UsageError
        With the name.
    """
    twice = repeated(names)
    if twice is not None:
        raise UsageError(f"expected one recording of the name {twice!r}; give each a name of its own")


@dataclass(frozen=True)
class Interface:
    """One of NeuroConv's interfaces, or converters, and what it is given.

    Attributes
    ----------
    name : str
        Of its class, such as ``SpikeGLXRecordingInterface``.
    source_data : mapping
        What it is made with.
    options : mapping
        What NeuroConv calls conversion options.

    Raises
    ------
    UsageError
        When a record could not hold what is given, or must not.
    """

    name: str
    source_data: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_given("source_data", self.source_data)
        check_given("conversion_options", self.options)

    def as_json(self) -> dict[str, Any]:
        """Return it as a record holds it."""
        return {
            "interface": self.name,
            "source_data": dict(self.source_data),
            "conversion_options": dict(self.options),
        }


@dataclass(frozen=True)
class Recording:
    """What becomes one NWB file.

    Attributes
    ----------
    name : str
        Of the NWB file, without its ending; may have folders.
    interfaces : mapping of str to Interface
        By the names that NeuroConv's metadata and options know them by.
    metadata : tuple of Path
        YAML or JSON as NeuroConv takes it; later ones win.

    Raises
    ------
    UsageError
        When it cannot be called so.
    """

    name: str
    interfaces: Mapping[str, Interface]
    metadata: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        check_name(self.name)

    @property
    def path(self) -> str:
        """Path of the NWB file in its collection."""
        return f"{self.name}.nwb"


@dataclass(frozen=True)
class ConversionRules:
    """How recordings are converted.

    Attributes
    ----------
    strict : bool
        Whether data that cannot be referenced fail a recording, or are copied by NeuroConv.
    hosts : mapping of str to str
        URLs under which local folders are hosted, by their absolute paths; references then point there. Empty
        for references to local files.
    check_hosts : bool
        Whether each file is asked for at its URL, and must have the same size there.
    critical : str
        What becomes of what nwbinspector finds critical.
    store : str, optional
        Form of the ordinary NWB file that is made of each too.
    stores : Path, optional
        Folder of these.
    """

    strict: bool = True
    hosts: Mapping[str, str] = field(default_factory=dict)
    check_hosts: bool = True
    critical: Critical = "refuse"
    store: StoreForm | None = None
    stores: Path | None = None


@dataclass(frozen=True)
class ConversionRequest:
    """A run.

    Attributes
    ----------
    run : IndexRequest
        Output, processes and limits, as of a run that indexes.
    name : str
        What the collection of the recordings is called.
    recordings : tuple of Recording
    rules : ConversionRules

    Raises
    ------
    UsageError
        When two recordings have one name.
    """

    run: IndexRequest
    name: str
    recordings: tuple[Recording, ...]
    rules: ConversionRules = field(default_factory=ConversionRules)

    def __post_init__(self) -> None:
        check_names([each.name for each in self.recordings])


@dataclass(frozen=True)
class ConversionOptions(ReferenceOptions):
    """All that decides what the references of a recording look like, beside its files.

    Attributes
    ----------
    content : bytes
        The same as JSON.
    """

    content: bytes = b"{}"

    def as_json(self) -> dict[str, Any]:
        """Return the options as a record holds them."""
        return {**orjson.loads(self.content), "form": self.form}
