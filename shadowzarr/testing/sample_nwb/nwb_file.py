"""What all sample files have alike: how one begins, how its data are compressed, how it is written."""

from __future__ import annotations

import datetime
import os
import uuid
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ..._optional import require

SESSION_START = datetime.datetime(2026, 3, 2, 9, 30, tzinfo=datetime.UTC)
NAMESPACE = uuid.UUID("6d6b3c0e-0d0c-4d8e-9c55-0a7f0f1f2b11")
"""Object ids are derived from it, so that two runs write the same bytes."""


def new_file(name: str, description: str, *, subject: str) -> Any:
    """Begin a file: who, where and when, the same on every run."""
    pynwb = require("pynwb", extra="nwb")
    nwbfile = pynwb.NWBFile(
        session_description=description,
        identifier=str(uuid.uuid5(NAMESPACE, name)),
        session_start_time=SESSION_START,
        file_create_date=[SESSION_START],
        session_id=name,
        experimenter=["Example, Ada", "Muster, Erik"],
        institution="Sample Institute",
        lab="Sample laboratory",
        keywords=["sample", "synthetic", name],
    )
    nwbfile.subject = require("pynwb.file", extra="nwb").Subject(
        subject_id=subject, species="Mus musculus", sex="F", age="P90D", description="A mouse that never was"
    )
    return nwbfile


def compressed(data: npt.NDArray[Any], chunks: tuple[int, ...]) -> Any:
    """Wrap data so that pynwb writes it in chunks with shuffle and gzip."""
    pynwb = require("pynwb", extra="nwb")
    return pynwb.H5DataIO(data=data, chunks=chunks, compression="gzip", compression_opts=4, shuffle=True)


def write_file(nwbfile: Any, path: str | os.PathLike[str]) -> Path:
    """Write a file, and give its path back."""
    pynwb = require("pynwb", extra="nwb")
    _settle_object_ids(nwbfile)
    with pynwb.NWBHDF5IO(os.fspath(path), mode="w") as io:
        io.write(nwbfile)
    return Path(path)


def _settle_object_ids(nwbfile: Any) -> None:
    """Replace the random object ids that hdmf draws, so that the file is the same on every run.

    hdmf 6 lets nobody choose an id, hence the private name; changing ids in the written file would
    leave the random ones in its heap.
    """
    for number, container in enumerate([nwbfile, *nwbfile.all_children()]):
        object_id = uuid.uuid5(NAMESPACE, f"{nwbfile.identifier}/{number}")
        container._AbstractContainer__object_id = str(object_id)
