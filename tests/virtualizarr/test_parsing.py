"""VirtualiZarr's parsers by name, and what comes of files that they do not take."""

import h5py
import numpy as np
import pytest
import zarr
from virtualizarr import parsers

from shadowzarr import open_rfs, verify_rfs
from shadowzarr.cli import main
from shadowzarr.errors import MissingDependencyError, SourceError, SourceNotFoundError, UsageError
from shadowzarr.testing import RangeServer
from shadowzarr.virtualizarr import PARSERS, manifest_store_to_rfs, parse_source


@pytest.fixture
def hdf5(tmp_path):
    path = tmp_path / "a b.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("g/x", data=np.arange(60).reshape(6, 10), chunks=(2, 10), compression="gzip")
        file["y"] = np.arange(5.0)
    return path


def test_every_parser_has_a_name():
    assert set(PARSERS.values()) == set(parsers.__all__) - {"IcechunkParser"}


def test_a_file_and_a_group_of_it(hdf5):
    rfs = manifest_store_to_rfs(parse_source(hdf5, "hdf5"))
    assert open_rfs(rfs)["g/x"][...].tolist() == np.arange(60).reshape(6, 10).tolist()
    assert set(rfs["sources"]) == {str(hdf5)}
    rfs = manifest_store_to_rfs(parse_source(hdf5, "hdf5", group="g"))
    assert [name for name, _ in open_rfs(rfs).members()] == ["x"]


def test_a_url(hdf5):
    (hdf5.parent / "x.h5").write_bytes(hdf5.read_bytes())
    with RangeServer(hdf5.parent) as server:
        rfs = manifest_store_to_rfs(parse_source(server.url("x.h5"), "hdf5"))
        assert set(rfs["sources"]) == {server.url("x.h5")}
        assert open_rfs(rfs)["y"][...].tolist() == list(range(5))


@pytest.mark.parametrize("parser", sorted(PARSERS))
def test_a_file_of_another_kind(tmp_path, parser):
    path = tmp_path / "x.bin"
    path.write_bytes(b"neither of them, for sure" * 9)
    with pytest.raises((SourceError, MissingDependencyError), match="VirtualiZarr's"):
        parse_source(path, parser)


def test_what_is_refused(tmp_path, hdf5):
    with pytest.raises(UsageError, match="there is no parser 'nc'; VirtualiZarr has dmrpp, envi"):
        parse_source(hdf5, "nc")
    with pytest.raises(UsageError, match="knows no groups"):
        parse_source(hdf5, "envi", group="g")
    with pytest.raises(SourceNotFoundError, match=r"gone\.h5: there is no such file"):
        parse_source(tmp_path / "gone.h5", "hdf5")
    with pytest.raises(UsageError, match="comes with a signature"):
        parse_source("https://b.s3.amazonaws.com/x?X-Amz-Signature=00", "hdf5")


class TestCommand:
    def test_netcdf3(self, tmp_path, capsys):
        scipy_io = pytest.importorskip("scipy.io")
        with scipy_io.netcdf_file(tmp_path / "air.nc", "w", version=2) as file:
            file.createDimension("time", 7)
            file.createVariable("air", "f4", ("time",))[:] = np.arange(7)
        out = tmp_path / "air.shadowzarr"
        call = [
            "convert",
            "--from",
            "virtualizarr",
            "--parser",
            "netcdf3",
            str(tmp_path / "air.nc"),
            str(out),
        ]
        assert main(call) == 0
        assert "1 group, 1 array, 1 chunk" in capsys.readouterr().out
        air = open_rfs(out)["air"]
        assert isinstance(air, zarr.Array)
        assert air[...].tolist() == list(range(7))
        assert air.metadata.dimension_names == ("time",)

    def test_to_kerchunk_at_once(self, hdf5, tmp_path):
        out = tmp_path / "k.json"
        call = [
            "convert",
            "--from",
            "virtualizarr",
            "--parser",
            "hdf5",
            "--to",
            "kerchunk",
            str(hdf5),
            str(out),
        ]
        assert main(call) == 0
        assert verify_rfs(out, hdf5, mode="full").counts["arrays"] == 2

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (["--from", "virtualizarr"], "needs --parser"),
            (["--from", "lindi", "--parser", "hdf5"], "--parser: only for --from virtualizarr"),
            (["--from", "kerchunk", "--group", "g"], "--group: only for --from virtualizarr"),
        ],
    )
    def test_wrong_calls(self, tmp_path, capsys, more, message):
        assert main(["convert", *more, str(tmp_path / "x"), str(tmp_path / "out")]) == 2
        assert message in capsys.readouterr().err

    def test_a_file_that_is_none(self, tmp_path, capsys):
        (tmp_path / "x.nc").write_bytes(b"no NetCDF" * 99)
        call = ["convert", "--from", "virtualizarr", "--parser", "netcdf3"]
        assert main([*call, str(tmp_path / "x.nc"), str(tmp_path / "out")]) == 1
        error = capsys.readouterr().err
        assert error.startswith("shadowzarr: error: ")
        assert "is not taken by VirtualiZarr's NetCDF3Parser" in error
        assert error.count("\n") == 1
        assert not (tmp_path / "out").exists()
