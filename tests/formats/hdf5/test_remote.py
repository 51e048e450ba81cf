from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.errors import NotHDF5Error, ReadError, SourceChangedError, SourceNotFoundError
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.progress import GenerationEvent
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.testing.faults import Fault
from shadowzarr.testing.range_server import RangeServer


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
    skipped = {entry["path"]: entry["reason"] for entry in rfs["skipped"]}
    assert "beside a local file only" in skipped["/elsewhere"]


def test_a_local_copy_of_a_url(small: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.h5"
    copy.write_bytes(small.read_bytes())
    with RangeServer(small.parent) as server:
        url = server.url(small.name)
        rfs = generate_rfs(url, local_hdf5_path=copy)
        assert rfs["templates"] == {"u0": url}
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
