"""Small recordings of formats that are HDF5 files, as `recordings_by_hand` has the others."""

import json
from pathlib import Path

import h5py
import numpy as np
from recordings_by_hand import Arguments, signal


def biocam(
    folder: Path, *, version=101, chunk=90, inverted=False, frames=200, side=3, filters=None, events=False
) -> Arguments:
    """3Brain's BRW: version 3 flat (101) or by frames (100), and version 4."""
    channels = side * side
    values = (np.arange(frames * channels) * 7 % 4096).astype("<u2")
    with h5py.File(folder / "a.brw", "w") as file:
        if version == 4:
            about = {
                "ValueConverter": {
                    "MaxAnalogValue": 4125.0, "MinAnalogValue": -4125.0, "MaxDigitalValue": 4096.0,
                    "MinDigitalValue": 0.0, "ScaleFactor": 1.0,
                },
                "TimeConverter": {"FrameRate": 20000.0},
            }  # fmt: skip
            file["ExperimentSettings"] = np.array([json.dumps(about).encode()], "O")
            file["TOC"] = np.array([[0, frames]])
            well = file.create_group("Well_A1")
            well["StoredChIdxs"] = np.arange(channels)
            if events:
                well["EventsBasedSparseRaw"] = np.zeros(8, "u1")
                return {"filename": str(folder / "a.brw")}
            well.create_dataset("Raw", data=values, chunks=(chunk,) if chunk else None, **(filters or {}))
            return {"filename": str(folder / "a.brw")}
        settings = {
            "BitDepth": np.uint8(12), "MaxVolt": 4125.0, "MinVolt": -4125.0, "NRecFrames": np.int64(frames),
            "SamplingRate": 17855.5, "SignalInversion": -1.0 if inverted else 1.0,
        }  # fmt: skip
        for key, value in settings.items():
            file[f"3BRecInfo/3BRecVars/{key}"] = np.array([value])
        chs = np.zeros(channels, [("Row", "<i2"), ("Col", "<i2")])
        chs["Row"], chs["Col"] = np.divmod(np.arange(channels), side)
        file["3BRecInfo/3BMeaStreams/Raw/Chs"] = chs
        group = file.create_group("3BData")
        group.attrs["Version"] = version
        shaped = values.reshape(frames, channels) if version == 100 else values
        chunks = None if not chunk else (chunk, channels) if version == 100 else (chunk,)
        group.create_dataset("Raw", data=shaped, chunks=chunks, **(filters or {}))
    return {"filename": str(folder / "a.brw")}


def maxwell(
    folder: Path, *, wells=1, chunks=(4, 100), samples=600, channels=4, filters=None, old=False
) -> Arguments:
    """MaxLab's HDF5, version 20190530, or the first one."""
    mapping = np.zeros(channels, [("channel", "<i4"), ("electrode", "<i4"), ("x", "<f8"), ("y", "<f8")])
    mapping["channel"], mapping["electrode"] = np.arange(channels), 100 + np.arange(channels)
    values = (signal(samples, channels, "<i4").T + 20000).astype("<u2")
    with h5py.File(folder / "a.raw.h5", "w") as file:
        file["version"] = np.array([b"20160704" if old else b"20190530"])
        if old:
            file["mapping"], file["settings/lsb"] = mapping, np.array([6.3e-6])
            file.create_dataset("sig", data=np.concatenate([values, values[:2]]), chunks=(channels + 2, 100))
            return {"filename": str(folder / "a.raw.h5")}
        for well in range(wells):
            group = file.create_group(f"wells/well{well:03}/rec0000")
            group["settings/sampling"], group["settings/lsb"] = np.array([20000.0]), np.array([6.3e-6])
            group["settings/mapping"] = mapping
            group.create_dataset("groups/routed/raw", data=values + well, chunks=chunks, **(filters or {}))
    return {"filename": str(folder / "a.raw.h5")}


def mearec(folder: Path, *, filters=None, channels=4, frames=300) -> Arguments:
    """MEArec's HDF5: recordings of time by channel, and what was asked for as attributes of groups."""
    with h5py.File(folder / "a.h5", "w") as file:
        file.attrs["mearec_version"] = "1.9.0"
        info = file.create_group("info/recordings")
        for name, value in {"fs": 32000.0, "duration": frames / 32000, "dtype": "float32"}.items():
            info[name] = value
        file["info/electrodes/electrode_name"] = "tetrode"
        file["info/electrodes/sortlist"] = "null"
        file["info/electrodes/shape"], file["info/electrodes/size"] = "circle", 5.0
        file["channel_positions"] = np.arange(3.0 * channels).reshape(channels, 3)
        chunks = (100, channels) if filters else None
        file.create_dataset(
            "recordings", data=signal(frames, channels, "<f4") / 8, chunks=chunks, **(filters or {})
        )
    return {"filename": str(folder / "a.h5"), "load_spiketrains": False}
