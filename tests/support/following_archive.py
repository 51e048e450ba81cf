"""An archive whose draft changes, indexed into an output, and a repository that follows it."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import zarr
from zarr.core.sync import sync

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.request import DandisetRequest, IndexRequest
from shadowzarr.testing import ArchiveServer

DANDISET = "000001"


class Following:
    """An archive, an output, and a repository that follows."""

    def __init__(self, server: ArchiveServer, folder: Path, pool) -> None:
        from shadowzarr.catalog.refresh.request import RefreshRequest

        self.server, self.archive, self.folder, self.pool = server, server.archive, folder, pool
        self.address = ArchiveAddress(server.api_url)
        self.output = folder / "out"
        layout = OutputLayout(self.output, ReferenceOptions())
        self.request = RefreshRequest(self.address, layout, str(self.output / "icechunk"))
        self.place = self.output / "icechunk" / DANDISET
        self.random = random.Random(5)
        self.written = 0

    def file(self) -> Path:
        """A new small file, unlike all others."""
        self.written += 1
        path = self.folder / "files" / f"{self.written}.h5"
        path.parent.mkdir(exist_ok=True)
        with h5py.File(path, "w") as file:
            file.attrs["number"] = self.written
            values = np.arange(30 * self.random.randint(1, 4)) + 1000 * self.written
            file.create_dataset("counts", data=values, chunks=(30,), compression="gzip")
            file[f"series/{self.written % 3}"] = np.linspace(0, self.written, 40)
            file["title"] = f"file {self.written}"
        return path

    def add(self, path: str):
        return self.archive.add_asset(DANDISET, path, self.file())

    def index(self, **changes):
        """Index what is new, as every night before the refresh."""
        wanted = (DandisetRequest(DANDISET),)
        request = IndexRequest(self.address, wanted, self.output, concurrency=1, timeout=60.0, gone="deleted")
        return index_dandisets(replace(request, **changes), pool=self.pool)

    def refresh(self, **changes):
        """Refresh the one repository."""
        from shadowzarr.catalog.refresh.run import refresh_icechunk

        (report,) = refresh_icechunk(replace(self.request, **changes)).repositories
        return report

    def repository(self):
        from shadowzarr.icechunk import open_repository

        return open_repository(self.place, [self.server.store_url], create=False)

    def session(self, **at):
        return self.repository().readonly_session(**(at or {"branch": "main"}))

    def root(self, **at) -> zarr.Group:
        return zarr.open_group(self.session(**at).store, mode="r")

    def assets(self, version: str = "draft") -> dict[str, Path]:
        """Files of a version by path."""
        assets = self.archive.assets(DANDISET, version)
        return {asset.path: self.archive.blob(asset.blob_id).file for asset in assets}

    def history(self) -> list:
        return list(self.repository().ancestry(branch="main"))


def nodes_of(session) -> set[str]:
    """Paths of everything in a repository, by the keys of its store."""

    async def keys() -> list[str]:
        return [key async for key in session.store.list()]

    return {key.removesuffix("zarr.json").rstrip("/") for key in sync(keys()) if key.endswith("zarr.json")}


def expected_nodes(assets: dict[str, Path]) -> set[str]:
    """The same from the files themselves, by h5py."""
    found = {""}
    for asset, file in assets.items():
        path = asset.replace("%", "%25")
        parts = path.split("/")
        found |= {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}
        with h5py.File(file) as source:
            source.visit(lambda name: found.add(f"{path}/{name}"))  # noqa: B023
    return found


def assert_same_values(root: zarr.Group, path: str, file: Path) -> None:
    """An asset's arrays and attributes are those of its file."""
    path = path.replace("%", "%25")
    with h5py.File(file) as source:
        assert dict(root[path].attrs) == dict(source.attrs)
        assert np.array_equal(root[f"{path}/counts"][...], source["counts"][...])
        for name, values in source["series"].items():
            assert np.array_equal(root[f"{path}/series/{name}"][...], values[...])
        assert str(root[f"{path}/title"][...]) == source["title"].asstr()[()]


def state_of(session) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, int]]]:
    """What a repository holds: paths and ETags as it says, and how many chunks there are in which file."""
    from shadowzarr.icechunk.asset_groups import held_assets

    held = frozenset((asset.path, asset.etag) for asset in held_assets(session).values())
    return held, frozenset(Counter(session.all_virtual_chunk_locations()).items())
