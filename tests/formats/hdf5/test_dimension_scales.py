"""Dimension scales become names of axes, and verification knows the right ones."""

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr

from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.store.rfs_store import RfsStore
from shadowzarr.verify import verify_rfs


def with_scales(path: Path) -> None:
    with h5py.File(path, "w") as f:
        for name, n in (("x", 3), ("y", 2), ("g/z", 2)):
            f[name] = np.arange(n)
            f[name].make_scale(name)
        f["all"] = np.zeros((3, 2, 2))
        for axis, name in enumerate(("x", "y", "g/z")):
            f["all"].dims[axis].attach_scale(f[name])
        f["square"] = np.zeros((2, 2))
        f["square"].dims[0].attach_scale(f["y"])
        f["square"].dims[1].attach_scale(f["y"])
        f["some"] = np.zeros((3, 2, 2))
        f["some"].dims[1].attach_scale(f["y"])
        for name in ("y", "g/z"):  # two on one axis: which one names it?
            f["some"].dims[2].attach_scale(f[name])
        f["none"] = np.zeros((3, 2))
        f["scalar"] = 1.0


def names(made, path: str) -> list | None:
    return made.metadata(path).get("dimension_names")


def test_one_scale_names_an_axis(path: Path, generate: Callable) -> None:
    with_scales(path)
    made = generate()
    assert names(made, "all") == ["x", "y", "z"]
    assert names(made, "square") == ["y", "y"]
    assert names(made, "some") == [None, "y", None]
    assert [names(made, each) for each in ("x", "g/z")] == [["x"], ["z"]]
    assert names(made, "none") is names(made, "scalar") is None
    report = verify_rfs(made.rfs, mode="full")
    assert report.equal
    assert report.mappings["dimension_name"] == 6


@pytest.mark.parametrize("wrong", [["x", "y", "y"], ["x", "y", None], None])
def test_verification_sees_a_wrong_name(path: Path, generate: Callable, wrong: list | None) -> None:
    with_scales(path)
    rfs = generate().rfs
    metadata = json.loads(rfs["refs"]["all/zarr.json"]) | {"dimension_names": wrong}
    rfs["refs"]["all/zarr.json"] = json.dumps(metadata)
    differences = verify_rfs(rfs).differences
    assert [(each.path, each.kind) for each in differences] == [("/all", "dimension names")]


def test_a_coordinate_of_two_dimensions_lists_their_numbers(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        for number, name in enumerate(("time", "g/place")):
            f[name] = np.arange(number + 2)
            f[name].make_scale("This is a netCDF dimension but not a netCDF variable.         2")
            f[name].attrs["_Netcdf4Dimid"] = np.int32(number)
        f["g/when"] = np.zeros((2, 3))
        f["g/when"].make_scale("when")
        f["g/when"].attrs["_Netcdf4Coordinates"] = np.array([0, 1], "i4")
        f["g/lost"] = np.zeros((2, 3))
        f["g/lost"].make_scale("lost")
        f["g/lost"].attrs["_Netcdf4Coordinates"] = np.array([0, 7], "i4")
        f["g/no numbers"] = np.zeros((2, 3))
        f["g/no numbers"].make_scale("no numbers")
    made = generate()
    assert names(made, "g/when") == ["time", "place"]
    assert names(made, "g/lost") == ["time", None]
    assert names(made, "g/no numbers") is None
    assert names(made, "time") == ["time"]
    assert verify_rfs(made.rfs, mode="full").equal


def test_lists_that_do_not_fit_give_no_names(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(3)
        one = np.empty(1, object)
        one[0] = np.array([f["x"].ref], h5py.ref_dtype)
        null = np.empty(1, object)
        null[0] = np.array([h5py.Reference()], h5py.ref_dtype)
        items = h5py.vlen_dtype(h5py.ref_dtype)
        f["too few"] = np.zeros((3, 3))
        f["too few"].attrs.create("DIMENSION_LIST", one, dtype=items)
        f["null"] = np.zeros(3)
        f["null"].attrs.create("DIMENSION_LIST", null, dtype=items)
        f["text"] = np.zeros(3)
        f["text"].attrs["DIMENSION_LIST"] = "x"
    made = generate()
    assert [names(made, each) for each in ("too few", "null", "text")] == [None] * 3
    assert verify_rfs(made.rfs, mode="full").equal


def test_axes_of_an_array_datatype_have_no_name(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(3)
        f["x"].make_scale("x")
        f.create_dataset("d", (3,), np.dtype(("i2", (2,))))
        f["d"].dims[0].attach_scale(f["x"])
    made = generate()
    assert names(made, "d") == ["x", None]
    assert verify_rfs(made.rfs, mode="full").equal


@pytest.mark.parametrize(
    ("file", "sizes"),
    [
        ("pyfive/netcdf4_classic.nc", {"x": 4}),
        ("pyfive/issue23_A_contiguous.nc", {"lat": 5, "bounds2": 2, "lon": 8}),
    ],
)
def test_xarray_opens_a_netcdf_file(shared: Path, file: str, sizes: dict[str, int]) -> None:
    xarray = pytest.importorskip("xarray")
    source = shared / "corpus" / "netcdf4" / file
    opened = xarray.open_zarr(RfsStore(generate_rfs(source)), consolidated=False, chunks=None)
    assert dict(opened.sizes) == sizes
    with h5py.File(source) as f:
        for name in opened.variables:
            if opened[name].dtype.kind != "M":  # xarray decodes times
                np.testing.assert_array_equal(opened[name].values, f[name][...])


def test_xarray_refuses_fill_values_as_they_are_stored(shared: Path) -> None:
    """It understands an attribute ``_FillValue`` only as it writes it itself; `RfsStore` serves it so."""
    xarray = pytest.importorskip("xarray")
    source = shared / "corpus" / "netcdf4" / "kerchunk" / "air.nc"
    store = RfsStore(generate_rfs(source), cf_attributes=False)
    with pytest.raises(TypeError, match="fill_value"):
        xarray.open_zarr(store, consolidated=False, chunks=None)
    with h5py.File(source) as f:
        np.testing.assert_array_equal(zarr.open_group(store, mode="r")["air"][...], f["air"][...])


def test_files_of_pynwb_have_no_names(shared: Path) -> None:
    file = next((shared / "corpus" / "nwb").rglob("*.nwb"))
    refs = generate_rfs(file)["refs"]
    arrays = [json.loads(value) for key, value in refs.items() if key.endswith("zarr.json")]
    assert arrays
    assert not any("dimension_names" in each for each in arrays)
