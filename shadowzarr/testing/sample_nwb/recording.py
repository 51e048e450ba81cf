"""Recordings of electrophysiology: in chunks, in one piece, and in thousands of chunks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._optional import require
from .nwb_file import compressed, new_file, write_file

RECORDING_RATE = 30_000.0
RECORDING_CHANNELS = 32
Int16Array = npt.NDArray[np.int16]


def write_recording(path: str | os.PathLike[str]) -> Path:
    """Write an extracellular recording with electrodes, spike-sorted units and trials.

    ``acquisition/ElectricalSeries/data`` is int16, 90,000 samples by 32 channels, in chunks of
    10,000 by 8 with shuffle and gzip. Trials and units refer to the recording (compound tables with
    references, ragged columns), the LFP links to the same electrodes.
    """
    nwbfile = new_file("recording", "Two shanks in visual cortex during an orientation task", subject="01")
    signal = _recording_signal(90_000, RECORDING_CHANNELS, seed=1)
    series = _add_electrical_series(nwbfile, signal, chunks=(10_000, 8))
    _add_lfp(nwbfile, signal)
    _add_trials(nwbfile, series, seed=2)
    _add_units(nwbfile, seed=3)
    return write_file(nwbfile, path)


def write_contiguous_recording(path: str | os.PathLike[str]) -> Path:
    """Write a recording of 16 MB that HDF5 stores as one block, so that it is cut into slabs.

    The number of samples, 250,007, is a prime: no slab height divides it.
    """
    nwbfile = new_file("contiguous", "Spontaneous activity, written without chunking", subject="02")
    _add_electrical_series(nwbfile, _recording_signal(250_007, RECORDING_CHANNELS, seed=4), chunks=None)
    return write_file(nwbfile, path)


def write_many_chunks(path: str | os.PathLike[str]) -> Path:
    """Write a recording whose 2,048 chunks exceed the default chunk index threshold of 1,000.

    The grid is 128 by 16 chunks of 500 samples by 2 channels, as an acquisition system leaves it that
    flushes often.
    """
    nwbfile = new_file("longterm", "Long-term recording, flushed every 17 ms", subject="02")
    _add_electrical_series(nwbfile, _recording_signal(64_000, RECORDING_CHANNELS, seed=5), chunks=(500, 2))
    return write_file(nwbfile, path)


def _recording_signal(n_samples: int, n_channels: int, *, seed: int) -> Int16Array:
    """Make noise with a slow wave and spikes: int16, samples by channels, in units of 0.195 µV."""
    random = np.random.default_rng(seed)
    signal = random.normal(0, 12, (n_samples, n_channels)).astype(np.float32)
    time = np.arange(n_samples, dtype=np.float32) / RECORDING_RATE
    signal += 60 * np.sin(2 * np.pi * 6 * time)[:, None]
    shape = -160 * np.exp(-(np.linspace(-3, 3, 30) ** 2))
    for channel in range(n_channels):
        for start in random.integers(0, n_samples - 30, n_samples // 3_000):
            signal[start : start + 30, channel] += shape
    return signal.astype(np.int16)


def _add_electrical_series(nwbfile: Any, signal: Int16Array, *, chunks: tuple[int, int] | None) -> Any:
    ecephys = require("pynwb.ecephys", extra="nwb")
    electrodes = _add_electrodes(nwbfile, signal.shape[1])
    series = ecephys.ElectricalSeries(
        name="ElectricalSeries",
        description="Broadband signal of all channels",
        data=signal if chunks is None else compressed(signal, chunks),
        electrodes=electrodes,
        rate=RECORDING_RATE,
        starting_time=0.0,
        conversion=0.195e-6,
        filtering="0.1 Hz to 7.5 kHz",
    )
    nwbfile.add_acquisition(series)
    return series


def _add_electrodes(nwbfile: Any, n_channels: int) -> Any:
    device = nwbfile.create_device("probe", description="Silicon probe with two shanks")
    shanks = [
        nwbfile.create_electrode_group(f"shank{i}", f"Shank {i}", location="VISp", device=device)
        for i in range(2)
    ]
    nwbfile.add_electrode_column("label", "Name printed on the probe")
    for channel in range(n_channels):
        shank = channel * 2 // n_channels
        nwbfile.add_electrode(
            x=250.0 * shank,
            y=20.0 * channel,
            z=0.0,
            imp=float("nan"),
            location="VISp",
            filtering="none",
            group=shanks[shank],
            label=f"shank{shank}-{channel:02d}",
        )
    return nwbfile.create_electrode_table_region(list(range(n_channels)), "all channels")


def _add_lfp(nwbfile: Any, signal: Int16Array) -> None:
    ecephys = require("pynwb.ecephys", extra="nwb")
    lfp = signal[::24].astype(np.float32) * 0.195e-6
    series = ecephys.ElectricalSeries(
        name="ElectricalSeries",
        data=compressed(lfp, (lfp.shape[0], 4)),
        electrodes=nwbfile.create_electrode_table_region(list(range(lfp.shape[1])), "all channels"),
        rate=RECORDING_RATE / 24,
    )
    container = ecephys.LFP()
    nwbfile.create_processing_module("ecephys", "Local field potential").add(container)
    container.add_electrical_series(series)


def _add_trials(nwbfile: Any, series: Any, *, seed: int) -> None:
    random = np.random.default_rng(seed)
    nwbfile.add_trial_column("orientation", "Orientation of the grating in degrees")
    nwbfile.add_trial_column("response", "What the animal did")
    nwbfile.add_trial_column("correct", "Whether it was rewarded")
    for trial in range(14):
        orientation = float(random.integers(0, 8) * 45)
        response = str(random.choice(["left", "right", "none"]))
        nwbfile.add_trial(
            start_time=0.2 * trial,
            stop_time=0.2 * trial + 0.15,
            orientation=orientation,
            response=response,
            correct=bool(random.integers(0, 2)),
            timeseries=[series],
        )


def _add_units(nwbfile: Any, *, seed: int) -> None:
    random = np.random.default_rng(seed)
    nwbfile.add_unit_column("quality", "Label by the curator: good, mua or noise")
    for unit in range(12):
        spikes = np.sort(random.uniform(0, 3, int(random.integers(20, 200))))
        nwbfile.add_unit(
            spike_times=spikes,
            obs_intervals=[[0.0, 3.0]],
            electrodes=[2 * unit, 2 * unit + 1],
            waveform_mean=random.normal(0, 1e-5, (40, 2)),
            quality=str(random.choice(["good", "mua", "noise"])),
        )
