"""Recordings as laboratories have them before any conversion: a SpikeGLX session, a TIFF stack, metadata.

Synthetic, and the same on every run. Converting them is the subject of `shadowzarr.conversion`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._optional import require

RATE = 30_000
CHANNELS = 384
FRAME = (96, 128)
_BLOCK = 30_000

METADATA = """\
NWBFile:
  session_description: Spontaneous activity in the dark
  experiment_description: Synthetic recordings, written to show how they are converted
  institution: Nowhere
  lab: Samples
  session_start_time: "2026-03-02T09:30:00+00:00"
Subject:
  subject_id: sub-01
  species: Mus musculus
  sex: F
  age: P90D
"""


def write_sample_recordings(
    folder: str | os.PathLike[str], *, seconds: float = 4.0, frames: int = 400
) -> list[Path]:
    """Write a SpikeGLX session, a TIFF stack, and ``metadata.yaml`` for both.

    Parameters
    ----------
    folder : str or path
        Made when it does not exist.
    seconds : float, optional
        Length of the session; one takes 23 MB.
    frames : int, optional
        Of the stack; one takes 25 kB.

    Returns
    -------
    list of Path
        All files.

    Raises
    ------
    MissingDependencyError
        When tifffile is not installed.
    """
    place = Path(folder)
    session, images = place / "noise_g0", place / "imaging"
    for each in (session, images):
        each.mkdir(parents=True, exist_ok=True)
    written = write_spikeglx_probe(session / "noise_g0_t0.imec0.ap", samples=int(seconds * RATE))
    written.append(write_tiff_stack(images / "stack.tif", frames=frames))
    (place / "metadata.yaml").write_text(METADATA, encoding="utf-8")
    return [*written, place / "metadata.yaml"]


def write_spikeglx_probe(stem: Path, *, samples: int, sync: bool = True) -> list[Path]:
    """Write the AP band of a Neuropixels probe as SpikeGLX 20190327 and later do: ``.bin`` and ``.meta``.

    Parameters
    ----------
    stem : Path
        The files without their endings, such as ``run_g0_t0.imec0.ap``.
    samples : int
        Of each of 384 channels.
    sync : bool, optional
        Whether a channel of synchronisation follows them.
    """
    table = "(0,384)" + "".join(f"({n} 0 0 500 250 1)" for n in range(CHANNELS))
    names = "".join(f"(AP{n};{n}:{n})" for n in range(CHANNELS)) + "(SY0;384:384)" * sync
    meta = {
        "typeThis": "imec",
        "imDatPrb_type": "0",
        "imDatPrb_pn": "PRB_1_4_0480_1",
        "imSampRate": str(RATE),
        "imAiRangeMax": "0.6",
        "imAiRangeMin": "-0.6",
        "imMaxInt": "512",
        "nSavedChans": str(CHANNELS + sync),
        "snsApLfSy": f"{CHANNELS},0,{int(sync)}",
        "snsSaveChanSubset": "all",
        "acqApLfSy": "384,384,1",
        "~imroTbl": table,
        "~snsChanMap": f"(384,384,1){names}",
    }
    return write_spikeglx_file(stem, meta, samples=samples, channels=CHANNELS + sync)


def write_spikeglx_file(stem: Path, meta: Mapping[str, str], *, samples: int, channels: int) -> list[Path]:
    """Write samples, and a ``.meta`` that says these and what they take."""
    data, about = Path(f"{stem}.bin"), Path(f"{stem}.meta")
    with data.open("wb") as file:
        for start in range(0, samples, _BLOCK):
            signal(min(_BLOCK, samples - start), channels, start=start).tofile(file)
    size = {
        "fileName": str(data),
        "fileCreateTime": "2020-01-02T03:04:05",
        "fileSizeBytes": str(data.stat().st_size),
        "fileTimeSecs": str(samples / RATE),
        "firstSample": "0",
    }
    about.write_text("".join(f"{key}={value}\n" for key, value in (dict(meta) | size).items()))
    return [data, about]


def signal(samples: int, channels: int, dtype: Any = "<i2", start: int = 0) -> npt.NDArray[Any]:
    """Return values of samples by channels that say by themselves where they stand."""
    rows = np.arange(start, start + samples)[:, None]
    values: npt.NDArray[Any] = ((rows * 7 + np.arange(channels) * 1009) % 30011 - 15000).astype(dtype)
    return values


def write_tiff_stack(path: Path, *, frames: int) -> Path:
    """Write frames of uint16 as plain pages, one after the other."""
    tifffile = require("tifffile", extra="tiff")
    rows = np.arange(FRAME[0] * FRAME[1]).reshape(FRAME)
    with tifffile.TiffWriter(path) as writer:
        for number in range(frames):
            page = ((rows * 5 + number * 131) % 4096).astype("<u2")
            writer.write(page, contiguous=False, metadata=None, photometric="minisblack")
    return path
