"""Chunks that are not whole: of sources of virtual datasets, at plain edges, beyond the end of a file."""

import ctypes
import struct
import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from shadowzarr.formats.hdf5 import foreign, in_place
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.hdf5_filters.pipeline import mark_chunk
from shadowzarr.hdf5_types.hdf5_library import leaves_edges_unfiltered
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.verify.judge import verify_rfs

SHORT = zlib.compress(bytes(10))


def skipped(rfs: dict[str, Any]) -> dict[str, str]:
    return {entry["path"]: entry["reason"] for entry in rfs.get("skipped", [])}


def source(path: Path, wrong: tuple[int, ...] = ()) -> None:
    """Forty numbers in chunks of ten; some chunks are not whole."""
    with h5py.File(path, "a") as file:
        made = file.create_dataset("s", data=np.arange(40, dtype="<i4"), chunks=(10,), compression="gzip")
        for start in wrong:
            made.id.write_direct_chunk((start,), SHORT)


def virtual(path: Path, sources: list[str], part: slice, dtype: str = "<i8") -> None:
    """Parts of sources of another type, which no reference gives, one row each."""
    count = len(range(*part.indices(40)))
    layout = h5py.VirtualLayout((len(sources), count), dtype)
    for row, name in enumerate(sources):
        layout[row] = h5py.VirtualSource(name, "s", (40,), "<i4")[part]
    with h5py.File(path, "a") as file:
        file.create_virtual_dataset("v", layout)


@pytest.mark.parametrize("name", [".", "other.h5"])
def test_a_source_that_is_copied(path: Path, name: str) -> None:
    source(path if name == "." else path.with_name(name), wrong=(20,))
    virtual(path, [name], slice(5, 35))
    rfs = generate_rfs(path)
    assert "its source s: its chunk (2,)" in skipped(rfs)["/v"]
    assert verify_rfs(rfs, path, mode="full").equal


@pytest.mark.parametrize("name", [".", "other.h5"])
def test_what_is_not_taken_of_a_source_does_not_count(path: Path, name: str) -> None:
    source(path if name == "." else path.with_name(name), wrong=(0, 30))
    virtual(path, [name], slice(12, 28))
    rfs = generate_rfs(path)
    assert "/v" not in skipped(rfs)
    assert verify_rfs(rfs, path, mode="full").equal


@pytest.mark.parametrize("dtype", ["<i4", "<i8"])
@pytest.mark.parametrize("mode", ["sample", "full"])
def test_the_verifier_sees_it_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str, mode: Any
) -> None:
    """Values that were held although a source is damaged; in place (the same type) they are not read."""
    other = path.with_name("other.h5")
    source(other, wrong=(20,))
    virtual(path, ["other.h5", "missing.h5"], slice(0, 40), dtype)
    monkeypatch.setattr(foreign, "check_whole", lambda *_: None)
    rfs = generate_rfs(path)
    assert skipped(rfs) == {}
    report = verify_rfs(rfs, path, mode=mode)
    (found,) = report.differences
    assert (found.path, found.kind) == ("/v", "unreadable original")
    assert "s in other.h5, of which it is made: its chunk (2,)" in found.original


def test_one_inside_another(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source(path, wrong=(20,))
    layout = h5py.VirtualLayout((40,), "<i4")
    layout[:] = h5py.VirtualSource(".", "s", (40,), "<i4")
    outer = h5py.VirtualLayout((20,), "<f8")
    outer[:] = h5py.VirtualSource(".", "inner", (40,), "<i4")[10:30]
    with h5py.File(path, "a") as file:
        file.create_virtual_dataset("inner", layout)
        file.create_virtual_dataset("outer", outer)
    rfs = generate_rfs(path)
    assert "its source s: its chunk (2,)" in skipped(rfs)["/outer"]
    monkeypatch.setattr(foreign, "check_whole", lambda *_: None)
    report = verify_rfs(generate_rfs(path), path, mode="full")
    assert {each.path: each.kind for each in report.differences}["/outer"] == "unreadable original"


@pytest.mark.parametrize("dtype", ["<i4", "S3", h5py.string_dtype()])
@pytest.mark.parametrize("count", [25, 405])
def test_edges_without_filters_are_whole(path: Path, dtype: Any, count: int) -> None:
    """Their chunks have no mask that says so; zeros would be too short a stream for lzf."""
    with h5py.File(path, "w", libver="latest") as file:
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_chunk((10,))
        properties.set_deflate(4)
        _leave_edges(properties)
        assert leaves_edges_unfiltered(properties)
        tid = h5t.py_create(np.dtype(dtype), logical=True)
        limits = h5s.create_simple((count,), (h5s.UNLIMITED,))
        made = h5py.Dataset(h5d.create(file.id, b"d", tid, limits, properties))
        made[...] = [b"ab"] * count if dtype != "<i4" else np.zeros(count)
    with h5py.File(path) as file:
        assert leaves_edges_unfiltered(file["d"].id.get_create_plist())
    rfs = generate_rfs(path)
    assert skipped(rfs) == {}
    assert verify_rfs(rfs, path, mode="full").equal


def _leave_edges(properties: h5p.PropDCID) -> None:
    function = ctypes.CDLL(h5p.__file__).H5Pset_chunk_opts
    function.argtypes, function.restype = [ctypes.c_int64, ctypes.c_uint], ctypes.c_int
    assert function(properties.id, 2) >= 0


def test_other_datasets_filter_their_edges() -> None:
    properties = h5p.create(h5p.DATASET_CREATE)
    assert not leaves_edges_unfiltered(properties)  # not even chunked
    properties.set_chunk((10,))
    assert not leaves_edges_unfiltered(properties)


@pytest.mark.parametrize("count", [64, 4096])
@pytest.mark.parametrize("gzip", [False, True])
@pytest.mark.parametrize("beyond", [-40, 4096, 2**62])
def test_a_chunk_beyond_the_end(path: Path, count: int, gzip: bool, beyond: int) -> None:
    """Wholly or in part; HDF5 refuses both, by the end that the file names."""
    with h5py.File(path, "w") as file:
        made = file.create_dataset("d", data=np.arange(count, dtype="<i4"), chunks=(32,))
        if gzip:
            del file["d"]
            made = file.create_dataset("d", data=np.arange(count, dtype="<i4"), chunks=(32,), compression=4)
        start = made.id.get_chunk_info(0).byte_offset
    data = path.read_bytes()
    at = data.rindex(struct.pack("<Q", start))
    path.write_bytes(data[:at] + struct.pack("<Q", len(data) + beyond) + data[at + 8 :])
    rfs = generate_rfs(path)
    assert list(skipped(rfs)) == ["/d"]
    assert verify_rfs(rfs, path, mode="full").equal


def test_a_plain_chunk_of_another_size(path: Path) -> None:
    """A size in the chunk index that is not that of a chunk."""
    with h5py.File(path, "w") as file:
        made = file.create_dataset("d", data=np.arange(512, dtype="<i4"), chunks=(32,))
        start = made.id.get_chunk_info(0).byte_offset
    data = path.read_bytes()
    at = data.index(struct.pack("<Q", start)) - 24  # size, mask and two coordinates come before the address
    assert struct.unpack_from("<I", data, at) == (128,)
    path.write_bytes(data[:at] + struct.pack("<I", 96) + data[at + 4 :])
    rfs = generate_rfs(path)
    assert "its chunk (0,) is stored in 96 bytes" in skipped(rfs)["/d"]


@pytest.mark.parametrize("dtype", ["<i4", np.longdouble])
@pytest.mark.parametrize("count", [50, 500])
def test_a_raw_file_that_is_short(path: Path, dtype: Any, count: int) -> None:
    """HDF5 shows zeros for what is missing, so they are the values."""
    size = np.dtype(dtype).itemsize
    with h5py.File(path, "w") as file:
        external = [("raw.bin", 0, count * size)]
        file.create_dataset("d", (count,), dtype, external=external, fillvalue=7)
    path.with_name("raw.bin").write_bytes(np.arange(1, 11, dtype=dtype).tobytes())
    rfs = generate_rfs(path)
    assert skipped(rfs) == {}
    assert verify_rfs(rfs, path, mode="full").equal
    assert open_rfs(rfs)["d"][:].tolist() == [*range(1, 11), *[0] * (count - 10)]


def test_a_chunk_that_begins_as_ours_do(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It decodes here as one that skipped its filters; HDF5 knows nothing of that."""
    with h5py.File(path, "w") as file:
        made = file.create_dataset("d", data=np.zeros(40, "<i4"), chunks=(40,), shuffle=True)
        made.id.write_direct_chunk((0,), mark_chunk(bytes(range(160)), 2**32 - 1))
    assert "its chunk (0,) begins as" in skipped(generate_rfs(path))["/d"]
    monkeypatch.setattr(in_place, "check_whole", lambda *_, **__: None)
    report = verify_rfs(generate_rfs(path), path, mode="full")
    assert [(each.path, each.kind) for each in report.differences] == [("/d", "unreadable original")]
