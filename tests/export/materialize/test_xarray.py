"""xarray opens a materialized NetCDF file, and reads what it reads in the file itself."""

import numpy as np
import pytest
import zarr
from materialized import differences

from shadowzarr import generate_rfs, materialize

xarray = pytest.importorskip("xarray")


@pytest.fixture
def netcdf(tmp_path):
    """A file as NetCDF writes it: fill values and scales are lists of one."""
    pytest.importorskip("h5netcdf")
    packed = np.arange(24, dtype="f8").reshape(4, 6) / 10
    packed[1, 2] = np.nan
    dataset = xarray.Dataset(
        {
            "air": (("time", "x"), packed.astype("f4")),
            "sea": (("time", "x"), packed),
            "lost": (("time",), np.array([1.0, np.nan, 3, 4])),
        },
        {
            "x": ("x", np.arange(6)),
            "time": ("time", np.datetime64("2020-02-27", "ns") + np.arange(4) * np.timedelta64(1, "D")),
        },
    )
    encoding = {
        "air": {"_FillValue": np.float32(1e20)},
        "sea": {"_FillValue": np.int16(-99), "scale_factor": 0.1, "add_offset": 1.0, "dtype": "i2"},
        "lost": {"_FillValue": np.nan, "missing_value": np.nan},
    }
    dataset.to_netcdf(tmp_path / "air.nc", engine="h5netcdf", encoding=encoding)
    return tmp_path / "air.nc"


@pytest.mark.parametrize("layout", ["default", None, lambda path, array: None])
def test_as_xarray_opens_the_file(netcdf, tmp_path, layout):
    materialize(generate_rfs(netcdf), tmp_path / "air.zarr", layout=layout, verify=True)
    with (
        xarray.open_dataset(netcdf, engine="h5netcdf") as expected,
        xarray.open_zarr(tmp_path / "air.zarr") as opened,
    ):
        xarray.testing.assert_equal(opened.load(), expected.load())
        assert opened["sea"].isnull().sum() == 1


def test_stored_attributes_for_others(netcdf, tmp_path):
    rfs = generate_rfs(netcdf)
    materialize(rfs, tmp_path / "stored", cf_attributes=False)
    assert differences(rfs, zarr.open_group(tmp_path / "stored", mode="r")) == []
    materialize(rfs, tmp_path / "xarray")
    found = differences(rfs, zarr.open_group(tmp_path / "xarray", mode="r"))
    assert {"air: attributes", "sea: attributes"} <= set(found)
    assert all(each.endswith(": attributes") for each in found)


def test_a_real_file(shared, tmp_path):
    path = shared / "corpus/netcdf4/kerchunk/air.nc"
    if not path.is_file():
        pytest.skip("air.nc is not in the corpus")
    materialize(generate_rfs(path), tmp_path / "air.zarr")
    with (
        xarray.open_dataset(path, engine="h5netcdf") as expected,
        xarray.open_zarr(tmp_path / "air.zarr") as opened,
    ):
        xarray.testing.assert_equal(opened.load(), expected.load())
