"""NWB files by pynwb: with a given number of objects, an ordinary recording, one of two million chunks."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pynwb
from pynwb import NWBHDF5IO, H5DataIO, NWBFile, TimeSeries

from .chunk_values import allocate, fill_every_chunk, values

RECORDING = "acquisition/ElectricalSeries/data"
_RATE = 30_000.0
_OBJECTS_OF_PYNWB = 40
_OBJECTS_OF_SERIES = 3  # a group, its data and its timestamps
_LARGE_SERIES = 4


def write_nwb_objects(path: Path, *, objects: int, nbytes: int) -> None:
    """Write time series until the file has about so many groups and datasets, and so many bytes.

    Four series hold almost all of the bytes, as it is in most files.
    """
    nwbfile = _new_file()
    series = (objects - _OBJECTS_OF_PYNWB) // _OBJECTS_OF_SERIES
    large = nbytes // _LARGE_SERIES // (16 * 2 + 8)
    for number in range(series):
        samples = large if number < _LARGE_SERIES else 200
        data = H5DataIO(values((samples, 16), seed=number), chunks=(min(65_536, samples), 16))
        times = np.arange(samples) / _RATE
        name = f"series{number:03d}"
        nwbfile.add_acquisition(TimeSeries(name=name, data=data, timestamps=times, unit="V"))
    _write(nwbfile, path)


def write_nwb_recording(path: Path, *, samples: int, channels: int, chunk: tuple[int, int]) -> None:
    """Write a recording in chunks with gzip, as most are."""
    nwbfile = _new_file()
    data = H5DataIO(
        values((samples, channels), seed=7), chunks=tuple(chunk), compression="gzip", compression_opts=4
    )
    _add_recording(nwbfile, data, channels)
    _write(nwbfile, path)


def write_nwb_tiny(path: Path, *, rows: int, channels: int, samples: int) -> None:
    """Write a recording of very small chunks: pynwb's file, its dataset replaced by one of that grid."""
    nwbfile = _new_file()
    _add_recording(nwbfile, np.zeros((1, channels), dtype=np.int16), channels)
    _write(nwbfile, path)
    with h5py.File(path, "r+") as file:
        group = file["acquisition/ElectricalSeries"]
        attributes = dict(group["data"].attrs)
        del group["data"]
        allocate(group, "data", (rows * samples, channels), (samples, 1))
        group["data"].attrs.update(attributes)
    fill_every_chunk(path, RECORDING, seed=8)


def _new_file() -> Any:
    return NWBFile(
        session_description="A file to measure with",
        identifier="benchmark",
        session_start_time=datetime.datetime(2026, 3, 2, 9, 30, tzinfo=datetime.UTC),
    )


def _add_recording(nwbfile: Any, data: Any, channels: int) -> None:
    device = nwbfile.create_device("probe")
    group = nwbfile.create_electrode_group("shank", "The only one", location="VISp", device=device)
    for _ in range(channels):
        nwbfile.add_electrode(group=group, location="VISp")
    electrodes = nwbfile.create_electrode_table_region(list(range(channels)), "all channels")
    series = pynwb.ecephys.ElectricalSeries(
        name="ElectricalSeries", data=data, electrodes=electrodes, rate=_RATE
    )
    nwbfile.add_acquisition(series)


def _write(nwbfile: Any, path: Path) -> None:
    with NWBHDF5IO(path, mode="w") as io:
        io.write(nwbfile)
