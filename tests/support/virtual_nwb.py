"""An NWB file whose data lie in files of other formats: objects of each type that may, and their values."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from hdmf.common import DynamicTable, VectorData
from pynwb import NWBFile, TimeSeries
from pynwb.base import Images
from pynwb.ecephys import ElectricalSeries, SpikeEventSeries
from pynwb.image import GrayscaleImage, ImageSeries
from pynwb.misc import AbstractFeatureSeries
from pynwb.ophys import OnePhotonSeries, OpticalChannel, TwoPhotonSeries

from shadowzarr import VirtualArray

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def empty_nwb(**more: Any) -> NWBFile:
    """A file without data."""
    return NWBFile(session_description="a session", identifier="an id", session_start_time=START, **more)


class Sources:
    """Writes values into files of their own, behind some bytes, and stands for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.values: dict[str, np.ndarray] = {}

    def array(self, path: str, values: np.ndarray) -> VirtualArray:
        """Virtual values that will be at a path of the NWB file."""
        file = self.folder / f"{path.replace('/', '_')}.raw"
        file.write_bytes(bytes(7) + values.tobytes())
        self.values[path] = values
        return VirtualArray.contiguous(file, shape=values.shape, dtype=values.dtype, offset=7)

    def put(self, path: str, shape: tuple[int, ...], dtype: str) -> Any:
        """A placeholder of values that are all different."""
        return self.array(path, np.arange(np.prod(shape)).astype(dtype).reshape(shape)).placeholder()


def every_type(folder: Path) -> tuple[NWBFile, dict[str, np.ndarray]]:
    """A file with virtual data in objects of each type, and what their values are, by path."""
    nwbfile, sources = empty_nwb(), Sources(folder)
    _add_electrophysiology(nwbfile, sources)
    _add_imaging(nwbfile, sources)
    stamps = {"data": sources.put("acquisition/stamps/data", (50, 2), ">i4"), "unit": "V"}
    times = sources.put("acquisition/stamps/timestamps", (50,), "<f8")
    nwbfile.add_acquisition(TimeSeries(name="stamps", timestamps=times, **stamps))
    shared = nwbfile.acquisition["stamps"]
    nwbfile.add_acquisition(TimeSeries(name="shared", data=shared, timestamps=shared, unit="V"))
    features = {"features": ["a", "b", "c"], "feature_units": ["V"] * 3, "description": "three"}
    data = sources.put("acquisition/features/data", (10, 3), "<f8")
    nwbfile.add_acquisition(AbstractFeatureSeries(name="features", data=data, rate=1.0, **features))
    column = sources.put("acquisition/table/x", (7,), "<f4")
    columns = [
        VectorData(name="x", description="virtual", data=column),
        VectorData(name="y", description="real", data=list(range(7))),
    ]
    nwbfile.add_acquisition(DynamicTable(name="table", description="a table", columns=columns))
    return nwbfile, sources.values


def electrodes_of(nwbfile: NWBFile, count: int) -> Any:
    """A region of so many new electrodes."""
    group = nwbfile.create_electrode_group(
        name="shank", description="a shank", location="cortex", device=nwbfile.create_device(name="probe")
    )
    for _ in range(count):
        nwbfile.add_electrode(group=group, location="cortex")
    return nwbfile.create_electrode_table_region(list(range(count)), "all electrodes")


def _add_electrophysiology(nwbfile: NWBFile, sources: Sources) -> None:
    region = electrodes_of(nwbfile, 4)
    wide = sources.array("wide", np.arange(900, dtype="<i2").reshape(150, 6))
    sources.values["acquisition/voltage/data"] = sources.values.pop("wide")[:, 1:5]
    scaling = {"conversion": 1e-6, "channel_conversion": [1.0, 2.0, 3.0, -4.0]}
    data = wide[:, 1:5].placeholder()
    nwbfile.add_acquisition(
        ElectricalSeries(name="voltage", data=data, electrodes=region, rate=30000.0, **scaling)
    )
    events = sources.put("acquisition/events/data", (5, 4, 8), "<f4")
    times = np.arange(5.0)
    nwbfile.add_acquisition(SpikeEventSeries(name="events", data=events, timestamps=times, electrodes=region))


def _add_imaging(nwbfile: NWBFile, sources: Sources) -> None:
    channel = OpticalChannel(name="green", description="green", emission_lambda=500.0)
    plane = nwbfile.create_imaging_plane(
        name="plane", optical_channel=channel, description="one", excitation_lambda=600.0, indicator="GFP",
        location="V1", device=nwbfile.create_device(name="scope"),
    )  # fmt: skip
    stack = np.arange(3 * 5 * 4, dtype="<u2").reshape(3, 5, 4)
    frames = sources.array("acquisition/two/data", stack).transpose(0, 2, 1)
    sources.values["acquisition/two/data"] = stack.transpose(0, 2, 1)
    for kind, name, data in (
        (TwoPhotonSeries, "two", frames.placeholder()),
        (OnePhotonSeries, "one", sources.put("acquisition/one/data", (3, 4, 5), "u1")),
    ):
        nwbfile.add_acquisition(kind(name=name, data=data, imaging_plane=plane, rate=30.0, unit="n.a."))
    movie = sources.put("acquisition/movie/data", (4, 3, 2), "u1")
    nwbfile.add_acquisition(ImageSeries(name="movie", data=movie, rate=1.0, unit="n.a."))
    picture = GrayscaleImage(name="picture", data=sources.put("acquisition/pictures/picture", (3, 4), "u1"))
    nwbfile.add_acquisition(Images(name="pictures", images=[picture]))
