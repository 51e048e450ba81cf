"""Small files, an archive of them, and assets in words."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.assets import CatalogAsset
from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.jobs import PRELOAD
from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.request import DandisetRequest, IndexRequest
from shadowzarr.testing import Archive, ArchiveServer

ASSET_ID = "0b34d3dd-037a-4dcb-9d8f-1073895048e1"
ETAG = "3f4734664390d668bbb6b2e19f603582-1"


def write_small_file(path: Path, *, seed: int = 0, chunks: int = 3) -> Path:
    """An HDF5 file with a chunked and a contiguous dataset, text, and NaN in an attribute."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file.attrs["seed"] = seed
        data = np.arange(100 * chunks) + seed
        file.create_dataset("counts", data=data, chunks=(100,), compression="gzip")
        series = file.create_group("series")
        series["values"] = np.linspace(0, seed + 1, 500)
        series["values"].attrs["resolution"] = np.nan
        file["title"] = f"file {seed}"
    return path


KEY_VARIABLE = "SHADOWZARR_TEST_KEY"
KEY = "a" * 40


@pytest.fixture(scope="session")
def pool():
    """Children of all tests that index; they know a key by their environment, as in a real run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_VARIABLE, KEY)
        with ChildPool(2, timeout=60, memory_limit=2**31, preload=PRELOAD) as pool:
            pool.start()
            yield pool


@pytest.fixture(scope="session")
def write_file():
    """Writes a small HDF5 file at a path; other seeds give other files."""
    return write_small_file


@pytest.fixture
def asset() -> CatalogAsset:
    return CatalogAsset(
        dandiset="000001",
        version="draft",
        asset_id=ASSET_ID,
        path="sub-1/a.nwb",
        size=100,
        etag=ETAG,
        download_url=f"https://archive.test/api/assets/{ASSET_ID}/download/",
        blob_url="https://store.test/blobs/0b3/4d3/x",
    )


@pytest.fixture
def layout(tmp_path) -> OutputLayout:
    return OutputLayout(tmp_path / "out", ReferenceOptions())


@pytest.fixture
def archive(tmp_path):
    """One dandiset with two files, served."""
    contents = Archive()
    contents.add_user("owner", key=KEY)
    contents.add_dandiset("000001")
    for number in range(2):
        file = write_small_file(tmp_path / "files" / f"{number}.nwb", seed=number)
        contents.add_asset("000001", f"sub-{number}/{number}.nwb", file)
    with ArchiveServer(contents) as server:
        yield server


@pytest.fixture
def request_of(archive, tmp_path):
    """Makes requests for the archive with some things changed."""

    def make(**changes) -> IndexRequest:
        values = {
            "archive": ArchiveAddress(archive.api_url),
            "dandisets": (DandisetRequest("000001"),),
            "output": tmp_path / "out",
            "concurrency": 1,
            "timeout": 60.0,
        }
        return IndexRequest(**(values | changes))

    return make
