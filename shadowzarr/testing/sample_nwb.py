"""Small NWB files that look like those of a laboratory, written by pynwb, the same on every run.

Each function writes one file; `write_sample_dandisets` lays all of them out as an archive's
folders. The signals are synthetic. Serving the files is the subject of `shadowzarr.testing.archive`,
indexing them that of `shadowzarr.formats.hdf5`.
"""

from __future__ import annotations

import datetime
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._optional import require

SESSION_START = datetime.datetime(2026, 3, 2, 9, 30, tzinfo=datetime.UTC)
NAMESPACE = uuid.UUID("6d6b3c0e-0d0c-4d8e-9c55-0a7f0f1f2b11")
"""Object ids are derived from it, so that two runs write the same bytes."""

RECORDING_RATE = 30_000.0
RECORDING_CHANNELS = 32
IMAGING_RATE = 30.0

Int16Array = npt.NDArray[np.int16]


def write_sample_dandisets(folder: str | os.PathLike[str]) -> list[Path]:
    """Write all sample files as three dandisets: ``<folder>/000001/sub-…/….nwb``.

    Parameters
    ----------
    folder : str or path
        Made when it does not exist; sample files that are there already are replaced.

    Returns
    -------
    list of Path
        The files, in the order of their dandisets and names.

    Raises
    ------
    MissingDependencyError
        When pynwb is not installed.
    """
    places: dict[str, Callable[[Path], Path]] = {
        "000001/sub-01/sub-01_ses-20260302_ecephys.nwb": write_recording,
        "000001/sub-02/sub-02_ses-contiguous_ecephys.nwb": write_contiguous_recording,
        "000001/sub-02/sub-02_ses-longterm_ecephys.nwb": write_many_chunks,
        "000002/sub-03/sub-03_ses-20260302_ophys.nwb": write_imaging,
        "000003/sub-04/sub-04_ses-20260302_behavior.nwb": write_behavior,
    }
    written = []
    for place, write in sorted(places.items()):
        path = Path(folder, place)
        path.parent.mkdir(parents=True, exist_ok=True)
        written.append(write(path))
    return written


def write_recording(path: str | os.PathLike[str]) -> Path:
    """Write an extracellular recording with electrodes, spike-sorted units and trials.

    ``acquisition/ElectricalSeries/data`` is int16, 90,000 samples by 32 channels, in chunks of
    10,000 by 8 with shuffle and gzip. Trials and units refer to the recording (compound tables with
    references, ragged columns), the LFP links to the same electrodes.
    """
    nwbfile = _new_file("recording", "Two shanks in visual cortex during an orientation task", subject="01")
    signal = _recording_signal(90_000, RECORDING_CHANNELS, seed=1)
    series = _add_electrical_series(nwbfile, signal, chunks=(10_000, 8))
    _add_lfp(nwbfile, signal)
    _add_trials(nwbfile, series, seed=2)
    _add_units(nwbfile, seed=3)
    return _write(nwbfile, path)


def write_contiguous_recording(path: str | os.PathLike[str]) -> Path:
    """Write a recording of 16 MB that HDF5 stores as one block, so that it is cut into slabs.

    The number of samples, 250,007, is a prime: no slab height divides it.
    """
    nwbfile = _new_file("contiguous", "Spontaneous activity, written without chunking", subject="02")
    _add_electrical_series(nwbfile, _recording_signal(250_007, RECORDING_CHANNELS, seed=4), chunks=None)
    return _write(nwbfile, path)


def write_many_chunks(path: str | os.PathLike[str]) -> Path:
    """Write a recording whose 2,048 chunks exceed the default chunk index threshold of 1,000.

    The grid is 128 by 16 chunks of 500 samples by 2 channels, as an acquisition system leaves it that
    flushes often.
    """
    nwbfile = _new_file("longterm", "Long-term recording, flushed every 17 ms", subject="02")
    _add_electrical_series(nwbfile, _recording_signal(64_000, RECORDING_CHANNELS, seed=5), chunks=(500, 2))
    return _write(nwbfile, path)


def write_imaging(path: str | os.PathLike[str]) -> Path:
    """Write two-photon imaging: an image stack, a plane segmentation and ROI response series.

    ``acquisition/TwoPhotonSeries/data`` is uint16, 240 frames of 128 by 128, in chunks of 20 frames
    with gzip. The segmentation has image masks and ragged pixel masks (a compound dataset).
    """
    nwbfile = _new_file("imaging", "GCaMP6f in layer 2/3 under drifting gratings", subject="03")
    masks, traces = _cells(n_cells=24, n_frames=240, height=128, width=128, seed=6)
    plane = _add_imaging_plane(nwbfile)
    _add_two_photon_series(nwbfile, plane, masks, traces)
    _add_segmentation(nwbfile, plane, masks, traces)
    return _write(nwbfile, path)


def write_behavior(path: str | os.PathLike[str]) -> Path:
    """Write behaviour: position, compass direction, pupil, licks; series with ``resolution=NaN``.

    NaN stands in attributes (``resolution``) and among the values (lost tracking, blinks). The compass
    series shares its timestamps with the position by a soft link.
    """
    nwbfile = _new_file("behavior", "Foraging in an open field, with eye tracking", subject="04")
    module = nwbfile.create_processing_module("behavior", "Tracking from two cameras")
    seconds, x, y = _walk(n_samples=30_000, seed=7)
    _add_position(module, seconds, x, y)
    _add_pupil(module, seconds[::3])
    _add_licks(nwbfile, module, seconds)
    return _write(nwbfile, path)


def _new_file(name: str, description: str, *, subject: str) -> Any:
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
        data=signal if chunks is None else _compressed(signal, chunks),
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
        data=_compressed(lfp, (lfp.shape[0], 4)),
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


def _cells(
    *, n_cells: int, n_frames: int, height: int, width: int, seed: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Make round cells and their activity: masks (cell, height, width), traces (frame, cell)."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:height, 0:width]
    centres = random.uniform(10, min(height, width) - 10, (n_cells, 2))
    distance = [np.hypot(rows - row, columns - column) for row, column in centres]
    masks = np.clip(1.5 - np.stack(distance) / 5, 0, 1).astype(np.float32)
    events = random.random((n_frames, n_cells)) < 0.03
    decay = np.exp(-np.arange(60) / 15)
    traces = np.stack([np.convolve(events[:, i], decay)[:n_frames] for i in range(n_cells)], axis=1)
    return masks, traces.astype(np.float32)


def _add_imaging_plane(nwbfile: Any) -> Any:
    ophys = require("pynwb.ophys", extra="nwb")
    device = nwbfile.create_device("microscope", description="Two-photon microscope")
    channel = ophys.OpticalChannel(name="green", description="GCaMP6f", emission_lambda=510.0)
    return nwbfile.create_imaging_plane(
        name="ImagingPlane",
        optical_channel=channel,
        description="Layer 2/3, 180 µm below the pia",
        device=device,
        excitation_lambda=920.0,
        imaging_rate=IMAGING_RATE,
        indicator="GCaMP6f",
        location="VISp",
        grid_spacing=[1.2, 1.2],
        grid_spacing_unit="micrometers",
    )


def _add_two_photon_series(
    nwbfile: Any, plane: Any, masks: npt.NDArray[np.float32], traces: npt.NDArray[np.float32]
) -> None:
    ophys = require("pynwb.ophys", extra="nwb")
    random = np.random.default_rng(8)
    movie = 200 + 800 * np.einsum("fc,chw->fhw", traces, masks)
    stack = random.poisson(movie).clip(0, 65_535).astype(np.uint16)
    nwbfile.add_acquisition(
        ophys.TwoPhotonSeries(
            name="TwoPhotonSeries",
            description="Motion-corrected frames",
            data=_compressed(stack, (20, *stack.shape[1:])),
            imaging_plane=plane,
            rate=IMAGING_RATE,
            unit="a.u.",
        )
    )


def _add_segmentation(
    nwbfile: Any, plane: Any, masks: npt.NDArray[np.float32], traces: npt.NDArray[np.float32]
) -> None:
    ophys = require("pynwb.ophys", extra="nwb")
    segmentation, fluorescence = ophys.ImageSegmentation(), ophys.Fluorescence()
    module = nwbfile.create_processing_module("ophys", "Segmentation and fluorescence")
    module.add([segmentation, fluorescence])
    rois = segmentation.create_plane_segmentation(
        name="PlaneSegmentation", description="Cells drawn by hand", imaging_plane=plane
    )
    for mask in masks:
        pixels = [(int(x), int(y), float(mask[y, x])) for y, x in np.argwhere(mask > 0)]
        rois.add_roi(image_mask=mask, pixel_mask=pixels)
    responses = ophys.RoiResponseSeries(
        name="RoiResponseSeries",
        data=traces,
        rois=rois.create_roi_table_region("all cells", region=list(range(len(masks)))),
        unit="dF/F",
        rate=IMAGING_RATE,
    )
    fluorescence.add_roi_response_series(responses)


def _walk(
    *, n_samples: int, seed: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Make a path through a round arena: seconds, x and y in metres, with stretches of lost tracking."""
    random = np.random.default_rng(seed)
    seconds = np.cumsum(random.normal(1 / 60, 2e-4, n_samples))
    angle = np.cumsum(random.normal(0, 0.03, n_samples))
    radius = 0.4 + 0.1 * np.sin(np.cumsum(random.normal(0, 0.01, n_samples)))
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    for start in random.integers(0, n_samples - 50, 8):
        x[start : start + 50] = y[start : start + 50] = np.nan
    return seconds, x, y


def _add_position(
    module: Any, seconds: npt.NDArray[np.float64], x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]
) -> None:
    behavior = require("pynwb.behavior", extra="nwb")
    position = behavior.SpatialSeries(
        name="SpatialSeries",
        description="Head position, NaN where tracking was lost",
        data=_compressed(np.stack([x, y], axis=1), (5_000, 2)),
        timestamps=seconds,
        reference_frame="(0, 0) is the centre of the arena",
        unit="meters",
        resolution=float("nan"),
    )
    heading = behavior.SpatialSeries(
        name="HeadDirection",
        description="Angle of the head to the camera's x axis",
        data=np.arctan2(np.gradient(y), np.gradient(x)),
        timestamps=position,
        reference_frame="counter-clockwise from the x axis",
        unit="radians",
        resolution=float("nan"),
    )
    module.add(behavior.Position(spatial_series=position))
    module.add(behavior.CompassDirection(spatial_series=heading))


def _add_pupil(module: Any, seconds: npt.NDArray[np.float64]) -> None:
    behavior = require("pynwb.behavior", extra="nwb")
    base = require("pynwb.base", extra="nwb")
    diameter = 1.2 + 0.3 * np.sin(seconds / 7)
    diameter[::400] = np.nan
    pupil = base.TimeSeries(
        name="pupil_diameter",
        description="NaN during blinks",
        data=diameter,
        timestamps=seconds,
        unit="millimeters",
        resolution=float("nan"),
        comments="The camera's resolution was not written down.",
    )
    module.add(behavior.PupilTracking(time_series=pupil))


def _add_licks(nwbfile: Any, module: Any, seconds: npt.NDArray[np.float64]) -> None:
    behavior = require("pynwb.behavior", extra="nwb")
    base = require("pynwb.base", extra="nwb")
    times = seconds[::257]
    licks = base.TimeSeries(
        name="licks",
        description="Volume per lick",
        data=np.full(len(times), 2.5),
        timestamps=times,
        unit="microliters",
        continuity="instantaneous",
    )
    module.add(behavior.BehavioralTimeSeries(time_series=licks))
    for start, label in ((10.0, "exploration"), (200.0, "rest"), (350.0, "exploration")):
        nwbfile.add_epoch(start_time=start, stop_time=start + 90, tags=[label, "open field"])


def _compressed(data: npt.NDArray[Any], chunks: tuple[int, ...]) -> Any:
    """Wrap data so that pynwb writes it in chunks with shuffle and gzip."""
    pynwb = require("pynwb", extra="nwb")
    return pynwb.H5DataIO(data=data, chunks=chunks, compression="gzip", compression_opts=4, shuffle=True)


def _write(nwbfile: Any, path: str | os.PathLike[str]) -> Path:
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
