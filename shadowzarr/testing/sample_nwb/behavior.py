"""Behaviour: position, pupil and licks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._optional import require
from .nwb_file import compressed, new_file, write_file


def write_behavior(path: str | os.PathLike[str]) -> Path:
    """Write behaviour: position, compass direction, pupil, licks; series with ``resolution=NaN``.

    NaN stands in attributes (``resolution``) and among the values (lost tracking, blinks). The compass
    series shares its timestamps with the position by a soft link.
    """
    nwbfile = new_file("behavior", "Foraging in an open field, with eye tracking", subject="04")
    module = nwbfile.create_processing_module("behavior", "Tracking from two cameras")
    seconds, x, y = _walk(n_samples=30_000, seed=7)
    _add_position(module, seconds, x, y)
    _add_pupil(module, seconds[::3])
    _add_licks(nwbfile, module, seconds)
    return write_file(nwbfile, path)


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
        data=compressed(np.stack([x, y], axis=1), (5_000, 2)),
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
