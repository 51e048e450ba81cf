"""xarray reads references as it reads any Zarr store."""

import pickle

import h5py
import numpy as np
import pytest
import zarr

from shadowzarr import RfsBuilder, RfsStore, generate_rfs, open_rfs, verify_rfs, write_rfs
from shadowzarr.store.xarray_spelling import spelled_for_xarray
from shadowzarr.testing import RangeServer
from shadowzarr.testing.sample_nwb import write_recording

xarray = pytest.importorskip("xarray")


@pytest.fixture
def dataset(tmp_path):
    """A server, the references of two arrays in one file, and what they hold."""
    data = np.random.default_rng(5).integers(0, 1000, (300, 1000), dtype=np.int16)
    slab = np.random.default_rng(6).integers(0, 1000, (4, 2**20), dtype=np.int16)
    (tmp_path / "raw.bin").write_bytes(data.tobytes() + slab.tobytes())
    with RangeServer(tmp_path) as server:
        url = server.url("raw.bin")
        builder = RfsBuilder()
        builder.add_group("", {"title": "records", "resolution": float("nan")})
        names = {"data_type": "int16", "dimension_names": ["record", "sample"]}
        builder.add_array("records", shape=[300, 1000], chunk_shape=[1, 1000], **names)
        for i in range(300):
            builder.add_chunk("records", (i, 0), url, i * 2000, 2000)
        names["dimension_names"] = ["part", "time"]
        builder.add_array("slabs", shape=[4, 2**20], chunk_shape=[1, 2**20], **names)
        builder.add_contiguous_chunks(
            "slabs", url=url, start=600_000, shape=[4, 2**20], chunk_shape=[1, 2**20], itemsize=2
        )
        yield server, RfsStore(builder.build()), data, slab


def test_it_opens_without_a_request_and_reads_in_few(dataset):
    server, store, data, slab = dataset
    with xarray.open_zarr(store, chunks=None) as opened:
        assert np.isnan(opened.attrs["resolution"])
        assert len(server.log) == 0
        np.testing.assert_array_equal(opened.records.values, data)
        assert len(server.log) == 1
        server.log.clear()
        np.testing.assert_array_equal(
            opened.slabs.isel(part=2, time=slice(500, 600)).values, slab[2, 500:600]
        )
        assert (len(server.log), server.log.bytes_sent) == (1, 200)


@pytest.fixture(scope="module")
def netcdf(tmp_path_factory):
    """A NetCDF4 file with what CF knows: scales, times, fill values, text, coordinates, groups."""
    pytest.importorskip("h5netcdf")
    path = tmp_path_factory.mktemp("netcdf") / "x.nc"
    numbers = np.random.default_rng(7)
    air = numbers.normal(280, 10, (6, 4, 5))
    air[2, 1] = np.nan
    time = np.datetime64("2020-02-27T06", "ns") + np.arange(6) * np.timedelta64(6, "h")
    dataset = xarray.Dataset(
        {
            "air": (("time", "lat", "lon"), air, {"units": "K", "cell_methods": "time: mean"}),
            "packed": (("time", "lat", "lon"), np.round(air, 2), {"long_name": "packed"}),
            "counts": (("time", "lat"), numbers.integers(0, 9, (6, 4)).astype("f8")),
            "station": (("lat",), np.array(["a", "bö", "", "dddd"], dtype=object)),
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude", "radius": np.float32(6371.0)}),
            "wait": (("time",), np.arange(6).astype("m8[h]").astype("m8[ns]")),
            "huge": (
                ("time",),
                np.arange(6, dtype="u8") + 2**63,
                {"valid_range": np.array([0, 2**63], "u8")},
            ),
            "flag": (("lat",), np.array([True, False, True, True])),
        },
        {
            "time": time,
            "lat": ("lat", np.array([10.0, 20, 30, 40], "f4"), {"standard_name": "latitude", "axis": "Y"}),
            "lon": ("lon", np.arange(5) * 2.5, {"units": "degrees_east"}),
            "height": ((), 2.0, {"units": "m"}),
            "area": (("lat", "lon"), numbers.normal(size=(4, 5))),
        },
        {"Conventions": "CF-1.8", "history": "made by a test", "number": np.int16(3)},
    )
    dataset["air"].encoding["coordinates"] = "area height"
    encoding = {
        "air": {"zlib": True, "shuffle": True, "chunksizes": (2, 4, 5), "_FillValue": np.nan},
        "packed": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32767},
        "counts": {"dtype": "u1", "_FillValue": 255, "chunksizes": (4, 4)},
        "time": {"units": "hours since 1900-01-01", "calendar": "gregorian", "dtype": "i4"},
    }
    dataset["counts"][1] = np.nan
    dataset.to_netcdf(path, engine="h5netcdf", encoding=encoding, unlimited_dims=["time"])
    below = xarray.Dataset({"depth": (("z",), np.arange(3.0), {"units": "m"})}, {"z": [1, 2, 3]})
    below.to_netcdf(path, group="model/run", mode="a", engine="h5netcdf")
    return path


HIDDEN = {"DIMENSION_LABELS", "_NCProperties", "_nc3_strict", "_DTYPE", "_FillValue"}
"""Attributes that xarray's readers of NetCDF hide, and one of ours; no `to_netcdf` is hindered by them."""


def plain(attributes):
    """Attributes as values that compare: NetCDF's attributes of one element are lists of one here."""
    return {name: np.ravel(value).tolist() for name, value in attributes.items() if name not in HIDDEN}


def check_same(ours, theirs):
    """What xarray has of references is what it has of the file: names, axes, types, values, attributes."""
    assert set(ours.variables) == set(theirs.variables)
    assert set(ours.coords) == set(theirs.coords)
    assert dict(ours.sizes) == dict(theirs.sizes)
    assert plain(ours.attrs) == plain(theirs.attrs)
    for name, variable in theirs.variables.items():
        found = ours.variables[name]
        assert found.dims == variable.dims, name
        assert plain(found.attrs) == plain(variable.attrs), name
        values, expected = found.values, variable.values
        if expected.dtype.kind in "OTU":
            assert values.tolist() == expected.tolist(), name
        elif variable.encoding.get("scale_factor") is not None and expected.dtype == "f4":
            # JSON makes numbers of 64 bits of scales of 32, and xarray values of these
            assert values.dtype == "f8"
            np.testing.assert_allclose(values, expected, rtol=1e-6, err_msg=name)
        else:
            assert values.dtype == expected.dtype.newbyteorder("="), name
            np.testing.assert_array_equal(values, expected, err_msg=name)
        for key in ("scale_factor", "add_offset", "_FillValue", "units", "calendar"):
            one, other = (np.ravel(each.encoding.get(key)) for each in (found, variable))
            assert one.tolist() == other.tolist() or (np.isnan(one[0]) and np.isnan(other[0])), (name, key)


@pytest.mark.parametrize("group", [None, "model/run"])
@pytest.mark.parametrize("form", ["memory", "json", "directory", "server"])
def test_a_netcdf_file_is_as_xarray_opens_it_itself(netcdf, tmp_path, group, form):
    rfs = generate_rfs(netcdf)
    refs = {"memory": rfs, "json": tmp_path / "x.json", "directory": tmp_path / "x.shadowzarr"}.get(form)
    if form in ("json", "directory"):
        write_rfs(rfs, refs)
    server = RangeServer(netcdf.parent).start() if form == "server" else None
    try:
        if server is not None:
            refs = generate_rfs(server.url(netcdf.name))
        with (
            xarray.open_zarr(RfsStore(refs), zarr_format=3, group=group, chunks=None) as ours,
            xarray.open_dataset(netcdf, engine="h5netcdf", group=group) as theirs,
        ):
            check_same(ours, theirs)
    finally:
        if server is not None:
            server.close()


@pytest.fixture
def bare(tmp_path):
    """A NetCDF4 file with dimensions that have no values, one of a name that has values above it."""
    h5netcdf = pytest.importorskip("h5netcdf")
    with h5netcdf.File(tmp_path / "x.nc", "w") as file:
        file.dimensions = {"time": 3, "channel": 2}
        file.create_variable("time", ("time",), "f8", data=np.arange(3) / 10)
        file.create_variable("signal", ("time", "channel"), "i2", data=np.arange(6).reshape(3, 2))
        group = file.create_group("model")
        group.dimensions = {"time": 3, "level": 4}
        group.create_variable("heat", ("time", "level"), "f4", data=np.ones((3, 4), "f4"))
    return tmp_path / "x.nc"


def test_a_dimension_without_values_is_no_variable_of_zeros(bare):
    rfs = generate_rfs(bare)
    for group in (None, "model"):
        with (
            xarray.open_zarr(RfsStore(rfs), zarr_format=3, group=group, chunks=None) as ours,
            xarray.open_dataset(bare, engine="h5netcdf", group=group) as theirs,
        ):
            check_same(ours, theirs)
    with (
        xarray.open_datatree(RfsStore(rfs), engine="zarr", zarr_format=3) as ours,
        xarray.open_datatree(bare, engine="h5netcdf") as theirs,
    ):
        assert ours.groups == theirs.groups
        check_same(ours["model"].dataset, theirs["model"].dataset)
    assert "channel" not in list(zarr.open_group(RfsStore(rfs), mode="r"))
    for group in (open_rfs(rfs), zarr.open_group(RfsStore(rfs, cf_attributes=False), mode="r")):
        assert sorted(group) == ["channel", "model", "signal", "time"]
    assert zarr.open_array(RfsStore(rfs), path="channel", mode="r").shape == (2,)


def test_what_was_read_can_be_written_as_netcdf(netcdf, tmp_path):
    with (
        xarray.open_zarr(RfsStore(generate_rfs(netcdf)), zarr_format=3) as ours,
        xarray.open_dataset(netcdf, engine="h5netcdf") as theirs,
    ):
        names = ["air", "packed", "counts"]
        ours[names].isel(time=slice(2)).to_netcdf(tmp_path / "part.nc", engine="h5netcdf")
        with xarray.open_dataset(tmp_path / "part.nc", engine="h5netcdf") as written:
            xarray.testing.assert_equal(written, theirs[names].isel(time=slice(2)))


def test_undecoded_too(netcdf):
    with (
        xarray.open_zarr(RfsStore(generate_rfs(netcdf)), zarr_format=3, chunks=None, decode_cf=False) as ours,
        xarray.open_dataset(netcdf, engine="h5netcdf", decode_cf=False) as theirs,
    ):
        assert ours["packed"].dtype == np.int16
        np.testing.assert_array_equal(ours["packed"].values, theirs["packed"].values)
        assert ours["packed"].attrs["_FillValue"] == theirs["packed"].attrs["_FillValue"]
        assert np.isnan(ours["air"].attrs["_FillValue"])


@pytest.mark.filterwarnings("ignore:variable 'v' has multiple fill values")
def test_scales_as_netcdf_writes_them(tmp_path):
    """As lists of one, which xarray takes for objects."""
    pytest.importorskip("h5netcdf")
    path = tmp_path / "x.nc"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(4.0)
        file["x"].make_scale("x")
        file["v"] = np.array([1, 2, -9, -8], "i2")
        file["v"].dims[0].attach_scale(file["x"])
        attributes = {"scale_factor": 0.1, "add_offset": 3.0, "_FillValue": -9, "missing_value": -8}
        for name, value in attributes.items():
            file["v"].attrs[name] = np.array([value], "i2" if value < 0 else "f8")
    rfs = generate_rfs(path)
    with (
        xarray.open_zarr(RfsStore(rfs), zarr_format=3, chunks=None) as ours,
        xarray.open_dataset(path, engine="h5netcdf") as theirs,
    ):
        check_same(ours, theirs)
        assert np.isnan(ours["v"].values).tolist() == [False, False, True, True]
    assert open_rfs(rfs)["v"].attrs["scale_factor"] == [0.1]


def test_references_keep_the_number(netcdf):
    rfs = generate_rfs(netcdf)
    assert verify_rfs(rfs, mode="full").equal
    with h5py.File(netcdf) as file:
        stored = {name: file[name].attrs["_FillValue"] for name in ("air", "packed", "counts")}
    for name, value in stored.items():
        np.testing.assert_array_equal(open_rfs(rfs)[name].attrs["_FillValue"], value)
        assert "NaN" in str(open_rfs(rfs, strict_json=True)["air"].attrs["_FillValue"])


@pytest.mark.parametrize(
    ("data_type", "value", "served"),
    [
        ("float32", [1.5], "AAAAAAAA+D8="),
        ("float64", -1, "AAAAAAAA8L8="),
        ("float64", "NaN", "AAAAAAAA+H8="),
        ("float64", "AAAAAAAA+D8=", "AAAAAAAA+D8="),
        ("int16", [-9], -9),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("bool", [True], True),
        ("float32", [1.5, 2.5], [1.5, 2.5]),
        ("string", "x", "x"),
        ("int8", None, None),
    ],
)
def test_spellings(data_type, value, served):
    document = {"node_type": "array", "shape": [3], "dimension_names": ["x"], "data_type": data_type}
    document["attributes"] = {"_FillValue": value, "units": "m"}
    found = spelled_for_xarray(document)
    assert found["attributes"] == {"_FillValue": served, "units": "m"}
    for names in (None, [None], []):
        assert spelled_for_xarray({**document, "dimension_names": names})["attributes"]["_FillValue"] == value
    assert (
        spelled_for_xarray({**document, "shape": [], "dimension_names": None})["attributes"]
        == (found["attributes"])
    )


@pytest.mark.parametrize(
    ("attributes", "served"),
    [
        (
            {"DIMENSION_LIST": [[]], "_Netcdf4Coordinates": [0], "NAME": "mine", "units": "m"},
            ["NAME", "units"],
        ),
        ({"CLASS": "DIMENSION_SCALE", "NAME": "x", "REFERENCE_LIST": [], "_Netcdf4Dimid": [0]}, []),
        ({"CLASS": "IMAGE", "NAME": "x"}, ["CLASS", "NAME"]),
    ],
)
def test_only_housekeeping_is_left_away(attributes, served):
    document = {"node_type": "array", "shape": [3], "dimension_names": ["x"], "attributes": attributes}
    assert list(spelled_for_xarray(document)["attributes"]) == served
    assert spelled_for_xarray({**document, "dimension_names": None})["attributes"] == attributes


NETCDF4 = [
    *("kerchunk/air.nc", "netcdf-c/ref_tst_interops4.nc", "pyfive/netcdf4_classic.nc"),
    *("pyfive/issue23_A_contiguous.nc", "netcdf4-python/issue672.nc"),
]


@pytest.mark.parametrize("name", NETCDF4)
def test_real_files(shared, name):
    pytest.importorskip("h5netcdf")
    path = shared / "corpus" / "netcdf4" / name
    with (
        xarray.open_zarr(RfsStore(generate_rfs(path)), zarr_format=3, chunks=None) as ours,
        xarray.open_dataset(path, engine="h5netcdf") as theirs,
    ):
        check_same(ours, theirs)


@pytest.fixture
def nameless(tmp_path):
    """An HDF5 file with axes of equal extents, some with scales, in groups, and what NetCDF numbers."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["b"] = np.arange(12.0).reshape(3, 4)
        file["a"] = np.arange(36, dtype="i2").reshape(3, 3, 4, 1)
        file["scalar"] = 1.5
        file["deep/er/c"] = np.arange(4)
        file["deep/d"] = np.arange(16).reshape(4, 4)
        file["deep/x"] = np.arange(4) / 2
        file["deep/x"].make_scale("x")
        file["deep/x"].attrs["_Netcdf4Dimid"] = 6
        file["deep/named"] = np.arange(4)
        file["deep/named"].dims[0].attach_scale(file["deep/x"])
        file["last"] = np.arange(7)
    return tmp_path / "x.h5"


def test_axes_without_names_are_called_as_h5netcdf_does(nameless):
    pytest.importorskip("h5netcdf")
    store = RfsStore(generate_rfs(nameless), phony_dims=True)
    for group in (None, "deep", "deep/er"):
        with (
            xarray.open_zarr(store, zarr_format=3, group=group, chunks=None) as ours,
            xarray.open_dataset(nameless, engine="h5netcdf", phony_dims="sort", group=group) as theirs,
        ):
            check_same(ours, theirs)
    assert pickle.loads(pickle.dumps(store)) == store != RfsStore(store.rfs)
    with pytest.raises(KeyError, match="dimension_names"):
        xarray.open_zarr(RfsStore(store.rfs), zarr_format=3)


def test_an_nwb_file_opens_as_a_tree(tmp_path):
    pytest.importorskip("pynwb")
    nwb_file = tmp_path / "x.nwb"
    write_recording(nwb_file)
    with xarray.open_datatree(
        RfsStore(generate_rfs(nwb_file), phony_dims=True), engine="zarr", zarr_format=3
    ) as tree:
        series = tree["acquisition/ElectricalSeries"]
        with h5py.File(nwb_file) as file:
            np.testing.assert_array_equal(
                series["data"][:9, 3], file["acquisition/ElectricalSeries/data"][:9, 3]
            )
