import ctypes
import os
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.access.dandi_api import DandiArchive
from shadowzarr.errors import NotHDF5Error, ReadError, SourceChangedError, SourceNotFoundError
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.progress import GenerationEvent
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.testing import Archive, ArchiveServer
from shadowzarr.testing.faults import Fault
from shadowzarr.testing.range_server import RangeServer
from shadowzarr.verify import verify_rfs


@pytest.fixture
def small(path: Path) -> Path:
    with h5py.File(path, "w") as f:
        for number in range(100):
            f[f"g/{number:03d}/data"] = np.arange(500) + number
            f[f"g/{number:03d}"].attrs["description"] = "x" * 200
        layout = h5py.VirtualLayout((5,), "i8")
        layout[:] = h5py.VirtualSource("other.h5", "x", (5,))
        f.create_virtual_dataset("elsewhere", layout)
    with h5py.File(path.with_name("other.h5"), "w") as f:
        f["x"] = np.arange(5)
    return path


def test_a_url(small: Path) -> None:
    events: list[GenerationEvent] = []
    with RangeServer(small.parent) as server:
        url = server.url(small.name)
        rfs = generate_rfs(url, progress=events.append)
        assert open_rfs(rfs)["g/042/data"][...].tolist() == list(range(42, 542))
    assert rfs["sources"][url]["size"] == small.stat().st_size
    assert rfs["sources"][url]["etag"].startswith('"')
    assert 0 < events[-1].requests <= 20
    assert events[-1].bytes_read > 0
    assert "skipped" not in rfs


def test_a_local_copy_of_a_url(small: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.h5"
    copy.write_bytes(small.read_bytes())
    with RangeServer(small.parent) as server:
        url = server.url(small.name)
        rfs = generate_rfs(url, local_hdf5_path=copy)
        assert list(rfs["sources"]) == [url, server.url("other.h5")]  # what it names lies beside the URL
        copy.write_bytes(small.read_bytes()[:-1])
        with pytest.raises(SourceChangedError):
            generate_rfs(url, local_hdf5_path=copy)


def test_what_is_not_there_or_not_hdf5(tmp_path: Path) -> None:
    (tmp_path / "text.h5").write_bytes(b"x" * 5000)
    with RangeServer(tmp_path) as server:
        with pytest.raises(SourceNotFoundError):
            generate_rfs(server.url("missing.h5"))
        with pytest.raises(NotHDF5Error):
            generate_rfs(server.url("text.h5"))


def test_a_read_that_fails_is_no_reason_to_leave_an_object_out(path: Path) -> None:
    with h5py.File(path, "w") as f:
        for number in range(300):
            f[f"{number:03d}/data"] = np.random.default_rng(number).integers(0, 2**60, 4000)
    with RangeServer(path.parent) as server:
        server.faults.add(Fault(status=404, after=4))
        with pytest.raises(ReadError):
            generate_rfs(server.url(path.name))


SECRET = Path("/etc/hostname")


@pytest.fixture
def family(path: Path) -> Path:
    """A file that names others, beside it, above it and on this machine."""
    folder = path.parent / "public"
    (folder / "sub").mkdir(parents=True)
    for place in (folder / "sub" / "near.h5", path.parent / "above.h5"):
        with h5py.File(place, "w") as f:
            f.create_dataset("g/x", data=np.arange(1000), chunks=(100,), compression="gzip")
            f["back"] = h5py.ExternalLink("../main.h5", "/own")
    (folder / "near.raw").write_bytes(np.arange(1000, dtype="<i4").tobytes())
    with h5py.File(folder / "main.h5", "w") as f:
        f["own"] = np.arange(300)
        f["near"] = h5py.ExternalLink("sub/near.h5", "/")
        f["lab"] = h5py.ExternalLink("/lab/disk/main.h5", "/own")
        f["above"] = h5py.ExternalLink("../above.h5", "/g")
        f["missing"] = h5py.ExternalLink("missing.h5", "/g")
        f["secret"] = h5py.ExternalLink(str(SECRET), "/g")
        f.create_dataset("raw", (1000,), "<i4", external=[("near.raw", 0, 4000)])
        f.create_dataset("raw_secret", (2,), "u1", external=[(str(SECRET), 0, 2)])
        f.create_dataset("raw_above", (2,), "u1", external=[("../above.h5", 0, 2)])
        for name, source in (("virtual", "sub/near.h5"), ("virtual_above", "../above.h5")):
            layout = h5py.VirtualLayout((2, 1000), "i8")
            layout[1] = h5py.VirtualSource(source, "g/x", (1000,))
            f.create_virtual_dataset(name, layout, fillvalue=-1)
        layout = h5py.VirtualLayout((10,), "f8")
        layout[:] = h5py.VirtualSource(str(SECRET), "x", (10,))
        f.create_virtual_dataset("virtual_secret", layout)
    return folder / "main.h5"


def test_what_a_file_behind_a_url_names(family: Path) -> None:
    with RangeServer(family.parents[1]) as server:
        url = server.url("public/main.h5")
        rfs = generate_rfs(url)
        near = server.url("public/sub/near.h5")
        assert list(rfs["sources"]) == [url, near, server.url("public/near.raw")]
        assert all(entry["etag"] for entry in rfs["sources"].values())
        root = open_rfs(rfs)
        assert root["near/g/x"][...].tolist() == list(range(1000))
        assert root["raw"][...].tolist() == list(range(1000))
        assert root["virtual"][...].tolist() == [[-1] * 1000, list(range(1000))]
        assert {entry["name"] for entry in root.attrs["_LINKS"]} == {"lab"}
        skipped = {entry["path"]: entry["reason"] for entry in rfs["skipped"]}
        outside = {"/above", "/raw_above", "/virtual_above"}
        assert set(skipped) == outside | {"/missing", "/secret", "/raw_secret"}
        assert all("outside the folder" in skipped[each] for each in outside)
        assert "local file" in skipped["/raw_secret"]
        report = verify_rfs(rfs, mode="full")
        assert report.equal, report.differences
        asked = {request.path for request in server.log}
    assert "/above.h5" not in asked


def test_outside_the_folder_of_a_url_when_allowed(family: Path) -> None:
    with RangeServer(family.parents[1]) as server:
        rfs = generate_rfs(server.url("public/main.h5"), allow_external=True)
        assert open_rfs(rfs)["above/x"][...].tolist() == list(range(1000))
        assert verify_rfs(rfs, mode="full", allow_external=True).equal
        kinds = {each.path: each.kind for each in verify_rfs(rfs).differences}
        assert kinds["/above"] == kinds["/virtual_above"] == "not to be judged"


class Watch:
    """Says whether files were opened, by whomever: HDF5 opens them behind Python's back."""

    def __init__(self, *paths: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._queue = libc.inotify_init1(os.O_NONBLOCK)
        for path in paths:
            assert libc.inotify_add_watch(self._queue, os.fsencode(path), 0x20) >= 0  # IN_OPEN

    def saw_any(self) -> bool:
        """Whether a file was opened since the last call."""
        try:
            return bool(os.read(self._queue, 4096))
        except BlockingIOError:
            return False

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._queue)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_file_behind_a_url_never_leads_to_a_local_one(family: Path) -> None:
    local = family.with_name("local.raw")
    local.write_bytes(b"secret")
    with h5py.File(family, "a") as f:
        f["local"] = h5py.ExternalLink(str(family.parent / "sub" / "near.h5"), "/g")
        f.create_dataset("raw_local", (6,), "u1", external=[(str(local), 0, 6)])
        layout = h5py.VirtualLayout((6,), "u1")
        layout[:] = h5py.VirtualSource(".", "raw_local", (6,))
        f.create_virtual_dataset("virtual_local", layout)
    with RangeServer(family.parents[1]) as server, Watch(local, SECRET) as watch:
        url = server.url("public/main.h5")
        for allow_external in (False, True):
            rfs = generate_rfs(url, allow_external=allow_external)
            skipped = {entry["path"] for entry in rfs["skipped"]}
            assert {
                "/secret",
                "/raw_secret",
                "/virtual_secret",
                "/raw_local",
                "/virtual_local",
            } <= skipped | {
                "/virtual_secret"  # its source is not beside the URL, so that it is fill values
            }
            assert verify_rfs(rfs, mode="full", allow_external=allow_external).equal
        assert not watch.saw_any()
        with family.open("rb") as file, h5py.File(file) as f:
            assert f["raw_local"][...].tobytes() == b"secret"
        assert watch.saw_any()  # so h5py does that, and the watch sees it


def test_an_asset_of_an_archive_has_nothing_beside_it(family: Path) -> None:
    contents = Archive()
    contents.add_user("owner", key="key")
    contents.add_dandiset("000001")
    contents.add_asset("000001", "sub-1/main.nwb", family)
    contents.add_asset("000001", "sub-1/sub/near.h5", family.with_name("sub") / "near.h5")
    with ArchiveServer(contents) as server, Watch(SECRET) as watch:
        with DandiArchive(server.api_url) as api:
            asset = next(iter(api.list_assets("000001", "draft")))
        rfs = generate_rfs(asset.download_url, allow_external=True)
        reasons = {entry["path"]: entry["reason"] for entry in rfs["skipped"]}
        assert "download URL of an archive's asset has no folder" in reasons["/near"]
        assert {"/near", "/raw", "/virtual", "/secret", "/raw_secret"} <= set(reasons)
        assert list(rfs["sources"]) == [asset.download_url]
        assert verify_rfs(rfs, mode="full", allow_external=True).equal
        assert not watch.saw_any()
