"""Files of each of VirtualiZarr's parsers: as references they equal what the format's own reader gives."""

import gzip
import json
import zipfile

import h5py
import numpy as np
import pytest
import zarr
from dmrpp_by_hand import dmrpp_of
from virtualizarr import parsers

TRIED = {
    "DMRPPParser": "test_dmrpp",
    "ENVIParser": "test_envi",
    "FITSParser": "test_fits",
    "HDF4Parser": "test_hdf4",
    "HDFParser": "test_hdf5",
    "IcechunkParser": "test_icechunk",
    "KerchunkJSONParser": "test_kerchunk_json",
    "KerchunkParquetParser": "test_kerchunk_parquet",
    "NetCDF3Parser": "test_netcdf3",
    "ZarrParser": "test_zarr",
    "ZippedZarrParser": "test_zipped_zarr",
}


def test_every_parser_is_tried():
    assert set(parsers.__all__) == set(TRIED)
    assert all(name in globals() for name in TRIED.values())


@pytest.fixture
def numbers():
    return np.random.default_rng(9)


@pytest.fixture
def hdf5(tmp_path, numbers):
    """An HDF5 file with chunks of several kinds, and what h5py reads of it."""
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        options = {"chunks": (4, 50), "compression": "gzip", "shuffle": True}
        file.create_dataset("gzip", data=numbers.integers(0, 99, (10, 120), "i4"), **options)
        file.create_dataset("big", data=numbers.normal(size=(7, 3)).astype(">f4"))
        file["little"] = numbers.normal(size=(4, 3))
        sparse = file.create_dataset("sparse", (8, 8), "f8", chunks=(4, 4), fillvalue=-1.5)
        sparse[4:, :4] = numbers.normal(size=(4, 4))
        file.create_dataset("g/scalar", data=np.int16(-7))
        file["empty"] = np.zeros((0, 3), "u2")
        file.attrs["title"] = "made by hand"
    with h5py.File(path) as file:
        names = ("gzip", "big", "little", "sparse", "g/scalar", "empty")
        return path, {name: file[name][...] for name in names}


def test_hdf5(hdf5, parsed, equal):
    path, values = hdf5
    rfs = equal(parsed(parsers.HDFParser(), path), values)
    assert rfs["sources"] == {str(path): {"size": path.stat().st_size}}
    assert json.loads(rfs["refs"]["zarr.json"])["attributes"] == {"title": "made by hand"}


def test_hdf5_with_chunks_that_the_manifest_holds(tmp_path, parsed, equal):
    path = tmp_path / "text.h5"
    words = ["", "Zürich", "x" * 300, "π"]
    with h5py.File(path, "w") as file:
        file["words"] = np.array(words, dtype=h5py.string_dtype())
        file["one"] = "alone"
    store = parsed(parsers.HDFParser(), path)
    rfs = equal(store, {"words": words, "one": "alone"})
    assert all(isinstance(value, str) for value in rfs["refs"].values())


@pytest.mark.filterwarnings("ignore:The data type .NullTerminatedBytes")  # VirtualiZarr's own store
def test_netcdf3(tmp_path, numbers, parsed, equal):
    scipy_io = pytest.importorskip("scipy.io")
    path = tmp_path / "x.nc"
    with scipy_io.netcdf_file(path, "w", version=2) as file:
        for name, length in {"time": None, "x": 5, "y": 3}.items():
            file.createDimension(name, length)
        made = {
            "fixed": ("f8", ("y", "x"), numbers.normal(size=(3, 5))),
            "scalar": ("i4", (), np.array(41)),
            "letters": ("S1", ("x",), np.array(list("hello"), "S1")),
            "recorded": ("f4", ("time", "x"), numbers.normal(size=(1200, 5))),
            "short": ("i2", ("time",), np.arange(1200)),  # padded to four bytes in each record
        }
        for name, (kind, dimensions, values) in made.items():
            variable = file.createVariable(name, kind, dimensions)
            variable[slice(None) if dimensions else ...] = values
            variable.units = "m"
    with scipy_io.netcdf_file(path, mmap=False) as file:
        expected = {name: np.array(file.variables[name].data) for name in made}
    rfs = equal(parsed(parsers.NetCDF3Parser(), path), expected)
    # Records are evenly spaced: a rule for each variable, however many there are.
    assert [entry["key"] for entry in rfs["gen"]] == ["recorded/c/{{i}}/0", "short/c/{{i}}"]
    assert json.loads(rfs["refs"]["fixed/zarr.json"])["dimension_names"] == ["y", "x"]
    assert json.loads(rfs["refs"]["fixed/zarr.json"])["attributes"] == {"units": "m"}


def test_fits(tmp_path, numbers, parsed, equal):
    fits = pytest.importorskip("astropy.io.fits")
    path = tmp_path / "x.fits"
    table = fits.TableHDU.from_columns(
        [
            fits.Column("n", "I6", array=np.array([1, -22, 333])),
            fits.Column("x", "E15.7", array=np.array([0.5, -1.25e10, 3], "f4")),
        ],
        name="TABLE",
    )
    hdus = [
        fits.PrimaryHDU(),
        fits.ImageHDU(numbers.integers(-999, 999, (3, 4, 5), "i2"), name="CUBE"),
        fits.ImageHDU(numbers.normal(size=(6, 7)).astype(">f4"), name="IMAGE"),
        fits.ImageHDU(np.arange(5, dtype="u1"), name="BYTES"),
        table,
    ]
    fits.HDUList(hdus).writeto(path)
    with fits.open(path) as file:
        expected = {name: np.array(file[name].data) for name in ("CUBE", "IMAGE", "BYTES")}
        rows = file["TABLE"].data
        columns = {name: np.array(rows[name]) for name in rows.names}
    store = parsed(parsers.FITSParser(), path)
    found = np.empty(3, [(name, values.dtype.newbyteorder("=")) for name, values in columns.items()])
    for name, values in columns.items():
        found[name] = values
    equal(store, {**expected, "TABLE": found})


def test_fits_with_scaled_values(tmp_path, numbers, parsed, equal):
    """VirtualiZarr's codec divides by 1 / BSCALE, where astropy multiplies: the last bit may differ."""
    fits = pytest.importorskip("astropy.io.fits")
    path = tmp_path / "scaled.fits"
    image = fits.ImageHDU(numbers.integers(-99, 99, (4, 5), "i2"), name="SCALED")
    image.header["BSCALE"], image.header["BZERO"] = 0.5, 32768
    fits.HDUList([fits.PrimaryHDU(), image]).writeto(path)
    with fits.open(path) as file:
        expected = file["SCALED"].data.astype("f8")
    equal(parsed(parsers.FITSParser(), path), {"SCALED": expected})


def test_fits_binary_tables_are_refused_by_the_parser(tmp_path, parsed):
    fits = pytest.importorskip("astropy.io.fits")
    path = tmp_path / "x.fits"
    column = fits.Column("n", "J", array=np.arange(3))
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns([column], name="T")]).writeto(path)
    with pytest.raises(ValueError, match="'T' cannot be virtualized"):
        parsed(parsers.FITSParser(), path)


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
@pytest.mark.parametrize("compressed", [False, True])
def test_envi(tmp_path, numbers, parsed, equal, interleave, compressed):
    values = numbers.integers(0, 9999, (2, 3, 4), "u2").astype(">u2")
    sizes = dict(zip({"bsq": "bls", "bil": "lbs", "bip": "lsb"}[interleave], values.shape, strict=True))
    header = [
        "ENVI",
        *(f"{name} = {sizes[name[0]]}" for name in ("samples", "lines", "bands")),
        "data type = 12",
        f"interleave = {interleave}",
        "byte order = 1",
        f"header offset = {0 if compressed else 8}",
        f"file compression = {int(compressed)}",
    ]
    (tmp_path / "x.img.hdr").write_text("\n".join(header))
    data = values.tobytes()
    (tmp_path / "x.img").write_bytes(gzip.compress(data) if compressed else b"8 bytes." + data)
    equal(parsed(parsers.ENVIParser(), tmp_path / "x.img"), {"x": values})


def zarr_store(place, zarr_format, numbers):
    """A Zarr store of some kinds of arrays, and their values; the last has a chunk that was never written."""
    group = zarr.open_group(place, mode="w", zarr_format=zarr_format)
    values = {
        "plain": numbers.integers(0, 99, (5, 7), "i4"),
        "deep/zstd": numbers.normal(size=(30,)),
        "sparse": np.where(np.arange(12) < 4, np.arange(12), 0).astype("i2"),
    }
    group.create_array("plain", data=values["plain"], chunks=(2, 7), compressors=None)
    group.create_array("deep/zstd", data=values["deep/zstd"], chunks=(8,))
    group.create_array("sparse", data=values["sparse"], chunks=(4,), fill_value=0)
    group.attrs["n"] = [1, 2]
    return values


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr(tmp_path, numbers, parsed, equal, zarr_format):
    values = zarr_store(tmp_path / "x.zarr", zarr_format, numbers)
    rfs = equal(parsed(parsers.ZarrParser(), tmp_path / "x.zarr"), values)
    assert "sparse/c/0" in rfs["refs"]
    assert "sparse/c/1" not in rfs["refs"]
    assert json.loads(rfs["refs"]["zarr.json"])["attributes"] == {"n": [1, 2]}


def test_zarr_with_shards(tmp_path, numbers, parsed, equal):
    values = numbers.integers(0, 99, (40, 6), "i8")
    group = zarr.open_group(tmp_path / "x.zarr", mode="w")
    group.create_array("a", data=values, chunks=(5, 3), shards=(20, 6))
    equal(parsed(parsers.ZarrParser(), tmp_path / "x.zarr"), {"a": values})


def test_zipped_zarr(tmp_path, numbers, parsed, equal):
    values = zarr_store(tmp_path / "x.zarr", 3, numbers)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_STORED) as archive:
        for file in sorted((tmp_path / "x.zarr").rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(tmp_path / "x.zarr"))
    equal(parsed(parsers.ZippedZarrParser(), tmp_path / "x.zip"), values)


@pytest.fixture
def kerchunk_refs(tmp_path, numbers):
    """References that kerchunk makes of a file whose axes have names, and the file's values."""
    hdf = pytest.importorskip("kerchunk.hdf")
    path = tmp_path / "k.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(12.0)
        file["x"].make_scale("x")
        file.create_dataset("a", data=numbers.integers(0, 99, (12,), "i4"), chunks=(5,), compression="gzip")
        file["a"].dims[0].attach_scale(file["x"])
        values = {name: file[name][...] for name in ("a", "x")}
    return hdf.SingleHdf5ToZarr(str(path), inline_threshold=0).translate(), values


def test_kerchunk_json(tmp_path, kerchunk_refs, parsed, equal):
    refs, values = kerchunk_refs
    (tmp_path / "k.json").write_text(json.dumps(refs))
    equal(parsed(parsers.KerchunkJSONParser(), tmp_path / "k.json"), values)


@pytest.mark.filterwarnings("ignore:The 'fastparquet' engine is deprecated")  # also where it is read
def test_kerchunk_parquet(tmp_path, kerchunk_refs, parsed, equal):
    df = pytest.importorskip("kerchunk.df")
    refs, values = kerchunk_refs
    df.refs_to_dataframe(refs, str(tmp_path / "k.parquet"), record_size=10)
    equal(parsed(parsers.KerchunkParquetParser(), tmp_path / "k.parquet"), values)


def test_icechunk(hdf5, tmp_path, equal):
    icechunk = pytest.importorskip("icechunk")
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore

    from shadowzarr import generate_rfs
    from shadowzarr.icechunk import commit_changes, open_repository, rfs_to_icechunk

    icechunk.set_logs_filter("error")
    path, values = hdf5
    repo = open_repository(tmp_path / "repo", [path.as_uri()])
    commit_changes(repo, "file", lambda session: rfs_to_icechunk(generate_rfs(path), session))
    store = parsers.IcechunkParser().parse_session(
        repo.readonly_session("main"),
        ObjectStoreRegistry({"file://": LocalStore()}),
        native_chunks_prefix=f"file://{tmp_path}/repo/chunks",
    )
    equal(store, values)


def test_dmrpp(hdf5, tmp_path, parsed, equal):
    path, values = hdf5
    there = {name: values[name] for name in ("gzip", "little")}
    (tmp_path / "x.h5.dmrpp").write_text(dmrpp_of(path, list(there)))
    equal(parsed(parsers.DMRPPParser(), tmp_path / "x.h5.dmrpp"), there)


def test_hdf4(tmp_path, parsed, equal):
    sd = pytest.importorskip("pyhdf.SD")
    path = tmp_path / "x.hdf"
    values = {"line": np.array([11, 22, 33, 44], "i2"), "mask": np.arange(24, dtype="u1").reshape(6, 4)}
    file = sd.SD(str(path), sd.SDC.WRITE | sd.SDC.CREATE | sd.SDC.TRUNC)
    for name, data in values.items():
        kind = {"int16": sd.SDC.INT16, "uint8": sd.SDC.UINT8}[str(data.dtype)]
        dataset = file.create(name, kind, data.shape)
        dataset.setcompress(sd.SDC.COMP_DEFLATE, 6)
        dataset[:] = data
        dataset.endaccess()
    file.end()
    file = sd.SD(str(path))
    assert all((file.select(name)[:] == data).all() for name, data in values.items())
    file.end()
    equal(parsed(parsers.HDF4Parser(), path), values)
