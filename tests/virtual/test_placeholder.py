"""placeholder(): pynwb and hdmf-zarr take it for data, write its array's metadata, and read nothing."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest

from shadowzarr.errors import MissingDependencyError, NeedsDataError
from shadowzarr.virtual import VirtualArray

SHAPE = (3_000_000, 4)


@pytest.fixture
def array():
    """An array of a file that is not there: whoever reads it fails."""
    return VirtualArray.contiguous("/not/there", shape=SHAPE, dtype="<i2", chunk_shape=[30_000, 4])


def test_what_it_tells(array):
    pytest.importorskip("hdmf")
    placeholder = array.placeholder()
    assert placeholder.array is array
    assert (
        placeholder.shape,
        placeholder.chunk_shape,
        placeholder.dtype,
        placeholder.ndim,
        len(placeholder),
    ) == (
        SHAPE,
        (30_000, 4),
        np.dtype("<i2"),
        2,
        SHAPE[0],
    )
    assert list(placeholder) == []
    assert "3000000, 4" in repr(placeholder)
    with pytest.raises(NeedsDataError, match="holds no data"):
        np.asarray(placeholder)


def nwb_file(array):
    from pynwb import NWBFile, TimeSeries
    from pynwb.ecephys import ElectricalSeries

    start = datetime(2026, 1, 1, tzinfo=UTC)
    nwbfile = NWBFile(session_description="a session", identifier="an id", session_start_time=start)
    device = nwbfile.create_device(name="probe")
    group = nwbfile.create_electrode_group(
        name="shank", description="a shank", location="cortex", device=device
    )
    for _ in range(4):
        nwbfile.add_electrode(group=group, location="cortex")
    electrodes = nwbfile.create_electrode_table_region(region=[0, 1, 2, 3], description="all")
    voltage = {"name": "voltage", "data": array.placeholder(), "electrodes": electrodes}
    nwbfile.add_acquisition(ElectricalSeries(**voltage, rate=30_000.0, conversion=1e-6))
    column = {"name": "column", "data": array[:, 0].placeholder(), "unit": "V"}
    nwbfile.add_acquisition(TimeSeries(**column, rate=30_000.0))
    return nwbfile


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_hdmf_zarr_writes_the_metadata_and_no_chunk(array):
    pytest.importorskip("pynwb")
    zarr_io = pytest.importorskip("hdmf_zarr").NWBZarrIO
    import zarr

    nwbfile = nwb_file(array)
    assert nwbfile.acquisition["voltage"].data.array is array
    store = zarr.storage.MemoryStore()
    with zarr_io(store, mode="w") as io:
        io.write(nwbfile)
    keys = [key for key in store._store_dict if key.startswith("acquisition/voltage/data/")]
    assert keys == ["acquisition/voltage/data/zarr.json"]
    node = json.loads(store._store_dict[keys[0]].to_bytes())
    assert (node["shape"], node["data_type"]) == (list(SHAPE), "int16")
    assert node["chunk_grid"]["configuration"]["chunk_shape"] == [30_000, 4]
    column = json.loads(store._store_dict["acquisition/column/data/zarr.json"].to_bytes())
    assert column["chunk_grid"]["configuration"]["chunk_shape"] == [30_000]
    with zarr_io(store, mode="r") as io:
        assert io.read().acquisition["voltage"].data.shape == SHAPE


def test_without_hdmf(array, monkeypatch):
    from shadowzarr.virtual import array as module

    def missing(name, *, extra):
        raise MissingDependencyError(f"{name}: {extra}")

    monkeypatch.setattr(module, "require", missing)
    with pytest.raises(MissingDependencyError, match="hdmf: nwb"):
        array.placeholder()
