"""A file that is no references is named for what it is, whatever its size."""

import gzip
import zipfile

import h5py
import numpy as np
import pytest

from shadowzarr import RfsStore, load_rfs, open_rfs, verify_rfs
from shadowzarr.errors import InvalidReferencesError
from shadowzarr.store.other_files import kind_of_binary
from shadowzarr.testing import ArchiveServer, RangeServer

IS_HDF5 = r"session\.nwb is an HDF5 file.*shadowzarr generate \S*session\.nwb\S* OUT"


@pytest.fixture(params=[0, 512, 4096])
def session(request, tmp_path):
    with h5py.File(tmp_path / "session.nwb", "w", userblock_size=request.param) as file:
        file["x"] = np.arange(3000)
    return tmp_path / "session.nwb"


@pytest.mark.parametrize("opens", [load_rfs, open_rfs, verify_rfs, RfsStore])
def test_an_hdf5_file_says_how_references_are_made(session, opens):
    with pytest.raises(InvalidReferencesError, match=IS_HDF5):
        opens(session)


def test_an_hdf5_file_is_not_read_whole(tmp_path):
    with (tmp_path / "session.nwb").open("wb") as file:
        file.write(b"\x89HDF\r\n\x1a\n")
        file.truncate(2**42)
    with pytest.raises(InvalidReferencesError, match=IS_HDF5):
        load_rfs(tmp_path / "session.nwb")


def test_an_hdf5_file_behind_a_url(tmp_path):
    with h5py.File(tmp_path / "session.nwb", "w") as file:
        file["x"] = np.arange(30_000)
    with RangeServer(tmp_path) as server:
        with pytest.raises(InvalidReferencesError, match=IS_HDF5) as caught:
            load_rfs(server.url("session.nwb") + "?X-Amz-Signature=secret")
        assert sum(entry.sent for entry in server.log) < 2000
    assert "secret" not in str(caught.value)


def test_an_asset_of_an_archive_that_is_hdf5_is_not_downloaded(tmp_path):
    folder = tmp_path / "000001"
    folder.mkdir()
    with h5py.File(folder / "session.nwb", "w") as file:
        file["x"] = np.arange(30_000)
    with ArchiveServer(tmp_path) as server:
        (asset_id,) = server.archive.dandisets["000001"].draft.assets.values()
        with pytest.raises(InvalidReferencesError, match="is an HDF5 file"):
            load_rfs(f"{server.api_url}/assets/{asset_id}/download/")
        assert sum(entry.sent for entry in server.store.log) < 2000


def test_other_binary_files_are_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("a", "b")
    (tmp_path / "b.json").write_bytes(gzip.compress(b"{}"))
    (tmp_path / "c.bin").write_bytes(bytes(100))
    for name, kind in {"a.zip": "a zip archive", "b.json": "compressed by gzip", "c.bin": "a binary"}.items():
        with pytest.raises(InvalidReferencesError, match=rf"{name} is {kind}.*, not references; expected"):
            load_rfs(tmp_path / name)


def test_text_is_not_called_binary(tmp_path):
    assert kind_of_binary("{ no JSON, but text: ü".encode()) is None
    (tmp_path / "d.json").write_text("{no")
    with pytest.raises(InvalidReferencesError, match=r"d\.json is not JSON"):
        load_rfs(tmp_path / "d.json")
