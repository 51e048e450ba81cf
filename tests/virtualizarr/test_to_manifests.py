"""References as manifests: xarray opens them, VirtualiZarr's writers take them, and they come back."""

import h5py
import numpy as np
import pytest
import zarr
from virtualizarr.manifests.manifest import INLINED_CHUNK_PATH

from shadowzarr import RfsBuilder, generate_rfs, open_rfs, write_rfs
from shadowzarr.errors import InvalidReferencesError, SourceChangedError, UnsupportedError
from shadowzarr.refs.zarr_metadata import BYTES_CODEC, array_metadata, group_metadata
from shadowzarr.testing import RangeServer
from shadowzarr.virtualizarr import manifest_store_to_rfs, rfs_to_manifest_store

xarray = pytest.importorskip("xarray")


@pytest.fixture
def hdf5(tmp_path):
    """An HDF5 file whose axes have names, with text, gaps, and a short last slab."""
    numbers = np.random.default_rng(3)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        for name, length in {"time": 60, "x": 5}.items():
            file[name] = np.arange(float(length))
            file[name].make_scale(name)
        options = {"chunks": (7, 5), "compression": "gzip", "shuffle": True}
        file.create_dataset("gzip", data=numbers.normal(size=(60, 5)), **options)
        sparse = file.create_dataset("sparse", (60,), "i4", chunks=(8,), fillvalue=-1)
        sparse[16:30] = np.arange(14)
        file.create_dataset("piece", data=numbers.normal(size=(60, 5)).astype(">f4"))
        for name in ("gzip", "sparse", "piece"):
            file[name].dims[0].attach_scale(file["time"])
            if file[name].ndim == 2:
                file[name].dims[1].attach_scale(file["x"])
        file["gzip"].attrs["_FillValue"] = np.array([np.nan])
        file["words"] = np.array(["a", "ö", ""] * 20, dtype=h5py.string_dtype())
        file["words"].dims[0].attach_scale(file["time"])
    with h5py.File(path) as file:
        values = {name: file[name][...] for name in ("gzip", "sparse", "piece", "time")}
    return path, values


def references(path):
    """With each form of a place: an index, a rule whose last slab is short, listed and held chunks."""
    return generate_rfs(path, chunk_index_threshold=5, contiguous_chunk_bytes=1000)


def test_read_as_they_are(hdf5):
    path, values = hdf5
    rfs = references(path)
    assert {"indexes", "gen"} <= set(rfs["requires"])
    store = rfs_to_manifest_store(rfs)
    group, ours = zarr.open_group(store, mode="r"), open_rfs(rfs, strict_json=True)
    assert sorted(group) == sorted(ours)
    for name, expected in values.items():
        assert np.array_equal(group[name][...], expected)
        scale = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}  # which xarray's own readers leave away
        assert dict(group[name].attrs).keys() == dict(ours[name].attrs).keys() - scale
    assert group["words"][:4].tolist() == ["a", "ö", "", "a"]


def test_there_and_back(hdf5, tmp_path):
    path, values = hdf5
    rfs = references(path)
    write_rfs(rfs, tmp_path / "refs")
    again = manifest_store_to_rfs(rfs_to_manifest_store(tmp_path / "refs"))
    assert "skipped" not in again
    assert again["sources"] == rfs["sources"]
    for name, expected in values.items():
        assert open_rfs(again)[name][...].tobytes() == open_rfs(rfs)[name][...].tobytes()
        assert np.array_equal(open_rfs(again)[name][...], expected)


def test_as_a_virtual_dataset(hdf5):
    path, values = hdf5
    opened = rfs_to_manifest_store(references(path)).to_virtual_dataset(loadable_variables=["time", "x"])
    assert dict(opened.sizes) == {"time": 60, "x": 5}
    assert opened["gzip"].dims == ("time", "x")
    assert np.array_equal(opened["time"].values, values["time"])
    from virtualizarr.manifests import ManifestArray

    assert isinstance(opened["gzip"].data, ManifestArray)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_through_virtualizarrs_kerchunk_writer(hdf5, tmp_path, zarr_format):
    import virtualizarr.accessor  # noqa: F401 - makes .vz

    from shadowzarr import kerchunk_to_rfs

    path, values = hdf5
    names = ["gzip", "sparse", "piece"]
    opened = rfs_to_manifest_store(references(path)).to_virtual_dataset(loadable_variables=[])[names]
    made = opened.vz.to_kerchunk(format="dict", zarr_format=zarr_format)
    again = kerchunk_to_rfs(made)
    assert "skipped" not in again
    for name in names:
        assert np.array_equal(open_rfs(again)[name][...], values[name])


def test_through_virtualizarrs_icechunk_writer(hdf5, tmp_path):
    icechunk = pytest.importorskip("icechunk")
    import virtualizarr.accessor  # noqa: F401

    from shadowzarr.icechunk import icechunk_to_rfs, open_repository

    icechunk.set_logs_filter("error")
    path, values = hdf5
    names = ["gzip", "sparse", "piece"]
    opened = rfs_to_manifest_store(references(path)).to_virtual_dataset(loadable_variables=[])[names]
    session = open_repository(tmp_path / "repo", [path.as_uri()]).writable_session("main")
    opened.vz.to_icechunk(session.store)
    session.commit("by VirtualiZarr")
    with xarray.open_zarr(session.store, consolidated=False, chunks=None, decode_cf=False) as read:
        for name in names:
            assert np.array_equal(read[name].values, values[name])
    again = icechunk_to_rfs(session)
    for name in names:
        assert np.array_equal(open_rfs(again)[name][...], values[name])


def document(shape, chunk_shape, refs, **parts):
    metadata = array_metadata(
        shape=shape, data_type="int16", chunk_shape=chunk_shape, codecs=[BYTES_CODEC], fill_value=0
    )
    return {
        "version": 2 if parts else 1,
        "refs": {"zarr.json": group_metadata(), "a/zarr.json": metadata} | refs,
        **parts,
    }


def test_selections_are_refused_or_held(tmp_path):
    packets = np.zeros(6, np.dtype([("head", "S4"), ("data", "<i2", 2)]))
    packets["data"] = np.arange(12).reshape(6, 2)
    (tmp_path / "x.bin").write_bytes(packets.tobytes())
    builder = RfsBuilder()
    builder.add_array("a", shape=(6, 2), data_type="int16", chunk_shape=(3, 2))
    for number in range(2):
        builder.add_chunk("a", (number, 0), str(tmp_path / "x.bin"), number * 24, 24)
    builder.add_selection("a", 8, [(4, 8)])
    rfs = builder.build()
    with pytest.raises(
        UnsupportedError, match=r"1 array cannot be in a manifest.*: /a\. With copy_selections"
    ):
        rfs_to_manifest_store(rfs)
    store = rfs_to_manifest_store(rfs, copy_selections=True)
    assert np.array_equal(zarr.open_group(store, mode="r")["a"][...], np.arange(12).reshape(6, 2))


def test_whole_files_and_files_that_changed(tmp_path):
    (tmp_path / "x.bin").write_bytes(np.arange(4, dtype="<i2").tobytes())
    refs = {"a/c/0": [str(tmp_path / "x.bin")]}
    store = rfs_to_manifest_store(document((4,), (4,), refs))
    assert zarr.open_group(store, mode="r")["a"][...].tolist() == [0, 1, 2, 3]
    sources = {str(tmp_path / "x.bin"): {"size": 9}}
    short = document((4,), (4,), {"a/c/0": [str(tmp_path / "x.bin"), 2, 8]}) | {"sources": sources}
    with pytest.raises(SourceChangedError):
        rfs_to_manifest_store(short)


def test_what_manifests_cannot_hold(tmp_path):
    with pytest.raises(UnsupportedError, match="a manifest would take an entry for each place"):
        rfs_to_manifest_store(document((2**40,), (1,), {"a/c/0": ["/f", 0, 2]}))
    for name, message in (
        ("a#b", "cuts .* at its '#'"),
        ("a?b", r"at its '\?'"),
        ("\udcff", "no Unicode text"),
    ):
        with pytest.raises(UnsupportedError, match=message):
            rfs_to_manifest_store(document((4,), (4,), {"a/c/0": [f"/{name}", 0, 8]}))
    mapped = rfs_to_manifest_store(
        document((4,), (4,), {"a/c/0": ["/a#b", 0, 8]}), url_for=lambda _: "https://host/x"
    )
    assert mapped._group.arrays["a"].manifest.dict()["0"]["path"] == "https://host/x"
    lonely = document((4,), (4,), {})
    del lonely["refs"]["zarr.json"]
    with pytest.raises(InvalidReferencesError, match="no zarr.json at their root"):
        rfs_to_manifest_store(lonely)


def test_from_a_server(hdf5, tmp_path):
    path, values = hdf5
    with RangeServer(path.parent) as server:
        rfs = generate_rfs(server.url(path.name), chunk_index_threshold=5, contiguous_chunk_bytes=1000)
        store = rfs_to_manifest_store(rfs)
        group = zarr.open_group(store, mode="r")
        for name, expected in values.items():
            assert np.array_equal(group[name][...], expected)
        again = manifest_store_to_rfs(store)
        assert again["sources"] == rfs["sources"]
        held = store._group.arrays["piece"].manifest._paths == INLINED_CHUNK_PATH
        assert held.sum() <= 1
