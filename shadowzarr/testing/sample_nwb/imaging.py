"""Two-photon imaging with a segmentation."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._optional import require
from .nwb_file import compressed, new_file, write_file

IMAGING_RATE = 30.0


def write_imaging(path: str | os.PathLike[str]) -> Path:
    """Write two-photon imaging: an image stack, a plane segmentation and ROI response series.

    ``acquisition/TwoPhotonSeries/data`` is uint16, 240 frames of 128 by 128, in chunks of 20 frames
    with gzip. The segmentation has image masks and ragged pixel masks (a compound dataset).
    """
    nwbfile = new_file("imaging", "GCaMP6f in layer 2/3 under drifting gratings", subject="03")
    masks, traces = _cells(n_cells=24, n_frames=240, height=128, width=128, seed=6)
    plane = _add_imaging_plane(nwbfile)
    _add_two_photon_series(nwbfile, plane, masks, traces)
    _add_segmentation(nwbfile, plane, masks, traces)
    return write_file(nwbfile, path)


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
            data=compressed(stack, (20, *stack.shape[1:])),
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
