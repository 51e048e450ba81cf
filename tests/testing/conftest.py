"""A small folder of dandisets, and the archive that serves it."""

import httpx
import pytest

from shadowzarr.testing import Archive, ArchiveServer

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def client():
    with httpx.Client(timeout=20, verify=False) as client:  # loading certificates takes longer than a test
        yield client


@pytest.fixture
def files(tmp_path):
    """Files to make assets from, by a letter."""
    paths = {}
    for letter in "abcd":
        paths[letter] = tmp_path / f"{letter}.bin"
        paths[letter].write_bytes(letter.encode() + CONTENT)
    return paths


@pytest.fixture
def zarr_folder(tmp_path):
    folder = tmp_path / "store"
    (folder / "x" / "c").mkdir(parents=True)
    (folder / "zarr.json").write_text("{}")
    (folder / "x" / "zarr.json").write_text("{ }")
    (folder / "x" / "c" / "0 1").write_bytes(b"chunk")
    return folder


@pytest.fixture
def archive(files, zarr_folder):
    """Dandiset 000001 is open and has four kinds of assets, 000002 is embargoed, 000003 is empty."""
    archive = Archive()
    archive.add_user("alice", key="alice-key")
    archive.add_user("bob", key="bob-key")
    archive.add_user("root", key="root-key", is_admin=True)
    archive.add_dandiset("000001", title="Open recordings", owners=["alice"])
    archive.add_asset("000001", "sub-01/sub-01_ecephys.nwb", files["a"])
    archive.add_asset("000001", "sub-01/video.mp4", files["b"])
    archive.add_asset("000001", "sub-02/image.zarr", zarr_folder)
    archive.add_asset("000001", "README.txt", files["c"])
    archive.add_dandiset("000002", title="Secret", embargo="EMBARGOED", owners=["alice"])
    archive.add_asset("000002", "secret.nwb", files["d"])
    archive.add_dandiset("000003", title="Empty")
    return archive


@pytest.fixture
def server(archive):
    with ArchiveServer(archive) as server:
        yield server


@pytest.fixture
def nwb(archive):
    return archive.asset_at("000001", "sub-01/sub-01_ecephys.nwb")


@pytest.fixture
def secret(archive):
    return archive.asset_at("000002", "secret.nwb")
