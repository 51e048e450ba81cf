"""Remote files of every structure: h5py finds in memory whatever it asks for, after few rounds."""

import io
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.opening import RemoteReading
from shadowzarr.testing import RangeServer
from shadowzarr.testing.sample_nwb import write_recording

from .remote import SMALL, WITHOUT, comparable, run


def groups(file: h5py.File) -> None:
    for number in range(60):
        file[f"a/{number % 7}/b/{number:03d}"] = np.arange(5) + number
    file["a/soft"] = h5py.SoftLink("/a/1")
    file["a/hard"] = file["a/2"]
    file["a/2/up"] = file["a"]


def dense_groups(file: h5py.File) -> None:
    for number in range(300):
        file[f"a/{'long name ' * (number % 20)}{number:03d}"] = np.arange(5) + number
    ordered = file.create_group("ordered", track_order=True)
    for number in range(200):
        ordered[f"x{number * 7919 % 200}"] = number


def attributes(file: h5py.File) -> None:
    group = file.create_group("g", track_order=True)
    for number in range(50):
        group.attrs[f"text {number}"] = "word " * number
        group.attrs[f"numbers {number}"] = np.arange(number)
    group.attrs["texts"] = ["a", "bc", "def"]
    group.attrs["root"] = file.ref
    if file.id.get_create_plist().get_version()[0] >= 2:
        group.attrs.create("huge", np.arange(20_000))


def texts(file: h5py.File) -> None:
    words = [f"word {number} " * (number % 30) for number in range(2000)]
    file["contiguous"] = words
    file.create_dataset("chunked", data=words, chunks=(100,), compression="gzip", shuffle=True)
    file.create_dataset("plain chunks", data=words[:300], chunks=(100,))
    file["scalar"] = "one text " * 2000
    file["fixed"] = np.array(words[:50], "S100")
    file.create_dataset("unwritten", (10,), h5py.string_dtype(), fillvalue="filled " * 50)
    table = np.zeros(20, [("x", "i4"), ("name", h5py.string_dtype()), ("of", h5py.ref_dtype)])
    table["name"] = words[:20]
    table["of"] = file["scalar"].ref
    file["table"] = table


def sequences(file: h5py.File) -> None:
    ragged = file.create_dataset("ragged", (20,), h5py.vlen_dtype(np.int32))
    for number in range(20):
        ragged[number] = np.arange(number * 100)
    regions = file.create_dataset("regions", (3,), h5py.regionref_dtype)
    target = file.create_dataset("target", data=np.arange(100))
    for number in range(3):
        regions[number] = target.regionref[number : number + 20]


def types(file: h5py.File) -> None:
    file["type"] = np.dtype([("x", "i4"), ("name", h5py.string_dtype())])
    for number in range(5):
        rows = np.array([(number, "name")] * 3, file["type"].dtype)
        file.create_dataset(f"of{number}", data=rows, dtype=file["type"])
        file[f"of{number}"].attrs.create("a", rows, dtype=file["type"])


def layouts(file: h5py.File) -> None:
    compact = h5p.create(h5p.DATASET_CREATE)
    compact.set_layout(h5d.COMPACT)
    text = h5t.C_S1.copy()
    text.set_size(h5t.VARIABLE)
    data = h5py.Dataset(h5d.create(file.id, b"compact", text, h5s.create_simple((3,)), compact))
    data[...] = [b"one", b"two" * 900, b"three"]
    file.create_dataset("small chunks", data=np.arange(40), chunks=(7,), compression="gzip")
    file.create_dataset("lzf", data=np.arange(9000), chunks=(100,), compression="lzf")
    file.create_dataset("raw", (10,), "i4", external=[("raw.bin", 0, 40)])
    if file.libver[1] == "v108":
        return  # which had no virtual datasets
    layout = h5py.VirtualLayout((2, 40), "i8")
    layout[0] = h5py.VirtualSource(file["small chunks"])
    file.create_virtual_dataset("virtual", layout)


def indexes(file: h5py.File) -> None:
    values = np.arange(900).reshape(30, 30)
    for name, limits in (
        ("fixed", (30, 30)),
        ("extensible", (None, 30)),
        ("tree", (None, None)),
    ):
        file.create_dataset(name, data=values, chunks=(2, 1), maxshape=limits)
        file.create_dataset(f"{name} packed", data=values, chunks=(2, 1), maxshape=limits, compression=1)
    file.create_dataset("one", data=values, chunks=(30, 30), compression=1)


FILES = [groups, dense_groups, attributes, texts, sequences, types, layouts, indexes]
FORMATS = {
    "early": {"libver": "earliest"},
    "1.8": {"libver": ("v108", "v108")},
    "latest": {"libver": "latest"},
    "userblock": {"userblock_size": 1024},
    "ordered": {"track_order": True},
    "pages": {"fs_strategy": "page", "fs_page_size": 4096},
}


@pytest.fixture
def served(tmp_path: Path):
    with RangeServer(tmp_path) as server:
        yield server


def write(path: Path, build: Callable[[h5py.File], None], options: dict) -> None:
    with h5py.File(path, "w", **options) as file:
        build(file)
    path.with_name("raw.bin").write_bytes(bytes(40))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("build", FILES, ids=lambda build: build.__name__)
def test_h5py_asks_for_nothing_itself(tmp_path, served, monkeypatch, build, kind):
    write(tmp_path / "a.h5", build, FORMATS[kind])
    url = served.url("a.h5")
    ahead = run(monkeypatch, url)
    assert ahead.late <= (1 if kind == "userblock" else 0)  # where offsets count from is asked of one block
    assert ahead.depth <= 20
    without = run(monkeypatch, url, WITHOUT)
    assert without.late > 0
    assert comparable(ahead.rfs) == comparable(without.rfs)


def test_an_nwb_file(tmp_path, served, monkeypatch):
    write_recording(tmp_path / "a.nwb")
    url = served.url("a.nwb")
    ahead, without = run(monkeypatch, url), run(monkeypatch, url, WITHOUT)
    assert ahead.late == 0
    assert ahead.depth <= 16 < without.depth
    assert comparable(ahead.rfs) == comparable(without.rfs)


USUAL = RemoteReading()


def index_file(path: Path, growing: int | None) -> None:
    """3,000 chunks with the index of HDF5 1.10 for so many unlimited axes, or the earlier B-tree."""
    limits = {None: (3000, 8), 0: (3000, 8), 1: (None, 8), 2: (None, None)}[growing]
    with h5py.File(path, "w", libver="earliest" if growing is None else "latest") as file:
        data = file.create_dataset("data", (3000, 8), "i8", chunks=(8, 1), maxshape=limits)
        raw = bytes(64)
        for number in range(3000):
            data.id.write_direct_chunk((number // 8 * 8, number % 8), raw)
        file.create_dataset("more", data=np.arange(300_000))


@pytest.mark.parametrize(
    ("growing", "depth", "requests"),
    [(None, 5, 80), (0, 5, 12), (1, 6, 30), (2, 6, 60)],
    ids=["v1 B-tree", "fixed array", "extensible array", "v2 B-tree"],
)
def test_depth_and_requests_of_each_chunk_index(tmp_path, served, monkeypatch, growing, depth, requests):
    index_file(tmp_path / "a.h5", growing)
    found = run(monkeypatch, served.url("a.h5"))
    assert found.late == 0
    assert found.depth <= depth
    assert found.requests <= requests
    assert found.requests == len(served.log)
    assert comparable(found.rfs) == comparable(generate_as(tmp_path / "a.h5", served.url("a.h5")))


def generate_as(path: Path, url: str):
    return generate_rfs(url, local_hdf5_path=path)


def small_objects(path: Path, count: int) -> None:
    with h5py.File(path, "w") as file:
        for number in range(count):
            name = f"group{number // 10:02d}/object{number:03d}"
            file[name] = [f"label {k}" for k in range(40)] if number % 5 == 4 else np.arange(280.0)
            file[name].attrs["unit"] = f"unit {number % 17}"
            file[name].attrs["description"] = f"Small object {number}, in a sentence of its own"
            file[name].attrs["conversion"] = number


@pytest.mark.parametrize("remote", [SMALL, USUAL], ids=["small blocks", "usual blocks"])
def test_300_objects(tmp_path, served, monkeypatch, remote):
    small_objects(tmp_path / "a.h5", 300)
    needed = bytes_that_h5py_reads(tmp_path / "a.h5")
    found = run(monkeypatch, served.url("a.h5"), remote)
    assert found.late == 0
    assert found.depth <= (9 if remote is SMALL else 6)
    assert found.requests <= (400 if remote is SMALL else 60)
    if remote is SMALL:
        assert found.bytes_read <= 1.3 * needed
    without = run(monkeypatch, served.url("a.h5"), WITHOUT)
    assert without.depth > 40 * found.depth
    assert comparable(found.rfs) == comparable(without.rfs)


def bytes_that_h5py_reads(path: Path) -> int:
    """Bytes of a file that h5py reads when everything is looked at."""
    content = path.read_bytes()
    seen = np.zeros(len(content), bool)

    class Watched(io.RawIOBase):
        place = 0

        def seek(self, offset, whence=0):
            self.place = offset + {0: 0, 1: self.place, 2: len(content)}[whence]
            return self.place

        def tell(self):
            return self.place

        def readinto(self, buffer):
            part = content[self.place : self.place + len(buffer)]
            buffer[: len(part)] = part
            seen[self.place : self.place + len(part)] = True
            self.place += len(part)
            return len(part)

    def look(_, item):
        dict(item.attrs)
        if isinstance(item, h5py.Dataset) and item.dtype.hasobject:
            item[...]

    with h5py.File(Watched(), "r") as file:
        file.visititems(look)
    return int(seen.sum())


def test_progress_tells_levels_nodes_requests_and_bytes(tmp_path, served):
    small_objects(tmp_path / "a.h5", 300)
    events = []
    generate_rfs(served.url("a.h5"), progress=events.append)
    ahead = [event for event in events if event.stage == "read_ahead"]
    assert [event.levels for event in ahead] == list(range(1, len(ahead) + 1))
    assert events[: len(ahead)] == ahead
    assert ahead[-1].nodes > 600
    done = events[-1]
    assert (done.levels, done.nodes) == (ahead[-1].levels, ahead[-1].nodes)
    assert (done.requests, done.bytes_read) == (len(served.log), served.log.bytes_sent)
    generate_rfs(tmp_path / "a.h5", progress=events.append)
    assert (events[-1].levels, events[-1].nodes) == (0, 0)


def test_a_file_that_is_none_costs_two_rounds(tmp_path, served, monkeypatch):
    from shadowzarr.errors import NotHDF5Error

    (tmp_path / "a.h5").write_bytes(bytes(10**6))
    with pytest.raises(NotHDF5Error):
        run(monkeypatch, served.url("a.h5"))
    assert len(served.log) <= 13  # the places where a superblock may be, in one round
