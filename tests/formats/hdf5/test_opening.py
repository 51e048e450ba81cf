import os
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.errors import DamagedSourceError, NotHDF5Error, SourceChangedError, SourceNotFoundError
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.opening import METADATA_BYTES, open_source


def test_a_missing_file(path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match="no such file"):
        generate_rfs(path)


@pytest.mark.parametrize("content", [b"CDF\x01 not HDF5", b"\x89HDF", b"x" * 5000])
def test_what_is_not_hdf5(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(NotHDF5Error, match="signature"):
        generate_rfs(path)


def test_an_empty_file(path: Path) -> None:
    path.touch()
    with pytest.raises(NotHDF5Error, match="is not an HDF5 file: the file is empty"):
        generate_rfs(path)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(NotHDF5Error, match="directory"):
        generate_rfs(tmp_path)


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_truncated_file(path: Path, kept: float) -> None:
    with h5py.File(path, "w") as f:
        f["d"] = np.arange(1000)
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(DamagedSourceError, match="truncated"):
        generate_rfs(path)


def test_a_signature_after_a_userblock_is_found(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w", userblock_size=4096) as f:
        f["d"] = 1
    assert generate()["d"] == 1


def test_references_name_the_absolute_path(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with h5py.File(path, "w") as f:
        f["d"] = np.arange(1000)
    monkeypatch.chdir(path.parent)
    rfs = generate_rfs(path.name)
    assert list(rfs["sources"]) == [str(path)]
    assert rfs["sources"][str(path)] == {"size": path.stat().st_size}
    assert rfs["templates"] == {"u0": str(path)}


def test_a_file_that_changes_meanwhile(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f["d"] = 1

    def change() -> None:
        with open_source(path, None):
            os.utime(path, ns=(1, 1))

    with pytest.raises(SourceChangedError, match="changed while"):
        change()


@pytest.mark.parametrize("locking", [True, False])
def test_a_file_that_is_open_already_is_read(path: Path, generate: Callable, locking: bool) -> None:
    with h5py.File(path, "w") as f:
        f["d"] = 1
    with h5py.File(path, "r", locking=locking):
        assert generate()["d"] == 1


def test_hdf5_keeps_what_it_decoded(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f["d"] = 1
    with open_source(path, None) as opened:
        assert opened.file.id.get_mdc_config().initial_size == METADATA_BYTES


def test_a_damage_that_closing_shows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HDF5 finds some when it writes back what it holds; h5py raises a RuntimeError then."""
    with h5py.File(path, "w") as file:
        file["x"] = [1, 2, 3]
    close = h5py.File.close

    def fail(file: h5py.File) -> None:
        close(file)
        raise RuntimeError("Can't decrement id ref count (Pinned entry count not decreasing)")

    monkeypatch.setattr(h5py.File, "close", fail)
    with pytest.raises(DamagedSourceError, match=r"file.h5 cannot be closed, it is damaged: Pinned entry"):
        generate_rfs(path)
