"""The comparer sees: every kind of change to a file is reported, and an equal copy is not."""

import importlib.util
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

spec = importlib.util.spec_from_file_location("h5compare", Path(__file__).with_name("h5compare.py"))
h5compare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(h5compare)


@pytest.fixture
def pair(tmp_path):
    """A file with a little of everything, and a copy of it."""
    one, other = tmp_path / "one.h5", tmp_path / "other.h5"
    with h5py.File(one, "w", track_order=True) as file:
        file["a/numbers"] = np.arange(12, dtype="<i4").reshape(3, 4)
        file.create_dataset(
            "a/chunks", data=np.arange(100.0), chunks=(10,), maxshape=(None,), compression="gzip"
        )
        file["text"] = np.array(["one", "two"], h5py.string_dtype())
        file["soft"] = h5py.SoftLink("/text")
        file["outside"] = h5py.ExternalLink("f.h5", "/x")
        file["second"] = file["text"]
        file["where"] = np.array([file["text"].ref, file["a"].ref], h5py.ref_dtype)
        file["part"] = np.array([file["a/numbers"].regionref[1, :2]], h5py.regionref_dtype)
        file["list"] = np.array([np.array([1, 2], "i4"), np.array([3], "i4")], h5py.vlen_dtype("i4"))
        file["t"] = np.dtype("<f4")
        file.create_dataset("named", data=np.ones(2, "f4"), dtype=file["t"])
        file.attrs["x"] = 1
        file.attrs["name"] = "value"
        file["a"].attrs["target"] = file["text"].ref
    shutil.copy(one, other)
    return one, other


def test_a_copy_is_equal(pair):
    assert h5compare.compare(*pair) == []


def replaced(file, name, **options):
    data = file[name][()]
    del file[name]
    return file.create_dataset(name, **{"data": data, **options})


def text_of(cset, padding=h5t.STR_NULLTERM):
    tid = h5t.C_S1.copy()
    tid.set_size(5)
    tid.set_cset(cset)
    tid.set_strpad(padding)
    return tid


def put(file, name, tid, value=b"abc", space=None):
    if name in file:
        del file[name]
    made = h5d.create(file.id, name.encode(), tid, space or h5s.create(h5s.SCALAR))
    made.write(h5s.ALL, h5s.ALL, np.array(value.ljust(5, b"\0"), "V5"), tid)


def swap(file, name, make):
    del file[name]
    file[name] = make


CHANGES = {
    "a value": lambda f: f["a/numbers"].__setitem__((1, 2), 99),
    "a byte order": lambda f: replaced(f, "a/numbers", dtype=">i4"),
    "a width": lambda f: replaced(f, "a/numbers", dtype="<i8"),
    "a shape": lambda f: replaced(f, "a/numbers", data=np.arange(12, dtype="<i4").reshape(4, 3)),
    "a limit": lambda f: replaced(f, "a/chunks", chunks=(10,), maxshape=(200,), compression="gzip"),
    "a chunk shape": lambda f: replaced(f, "a/chunks", chunks=(20,), maxshape=(None,), compression="gzip"),
    "a filter": lambda f: replaced(f, "a/chunks", chunks=(10,), maxshape=(None,)),
    "a level": lambda f: replaced(
        f, "a/chunks", chunks=(10,), maxshape=(None,), compression="gzip", compression_opts=9
    ),
    "a fill value": lambda f: replaced(
        f, "a/chunks", chunks=(10,), maxshape=(None,), compression="gzip", fillvalue=1.0
    ),
    "a text": lambda f: f["text"].__setitem__(1, "twO"),
    "a soft link": lambda f: swap(f, "soft", h5py.SoftLink("text")),
    "an external link": lambda f: swap(f, "outside", h5py.ExternalLink("f.h5", "/y")),
    "a second name": lambda f: swap(f, "second", np.array(["one", "two"], h5py.string_dtype())),
    "a name": lambda f: f.move("named", "renamed"),
    "a reference": lambda f: f["where"].__setitem__(0, f["a"].ref),
    "a region": lambda f: f["part"].__setitem__(0, f["a/numbers"].regionref[1, :3]),
    "an item of a list": lambda f: f["list"].__setitem__(0, np.array([1, 3], "i4")),
    "a length of a list": lambda f: f["list"].__setitem__(1, np.array([3, 3], "i4")),
    "a committed type": lambda f: replaced(f, "named"),
    "an attribute": lambda f: f.attrs.modify("x", 2),
    "an attribute's type": lambda f: f.attrs.create("x", 1, dtype="i2"),
    "an attribute more": lambda f: f.attrs.create("y", 1),
    "an attribute less": lambda f: f.attrs.pop("name"),
    "an attribute's target": lambda f: f["a"].attrs.modify("target", f["a"].ref),
    "the order of attributes": lambda f: f.attrs.create("x", f.attrs.pop("x")),
    "the order of links": lambda f: (f.move("text", "tmp"), f.move("tmp", "text")),
    "a character set": lambda f: put(f, "name", text_of(h5t.CSET_UTF8)),
    "a padding": lambda f: put(f, "name", text_of(h5t.CSET_ASCII, h5t.STR_NULLPAD)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(pair, change):
    one, other = pair
    for path in pair:
        with h5py.File(path, "a") as file:
            put(file, "name", text_of(h5t.CSET_ASCII))
    assert h5compare.compare(one, other) == []
    with h5py.File(other, "a") as file:
        CHANGES[change](file)
    assert h5compare.compare(one, other) != []


def test_an_undefined_fill_value_is_no_default(tmp_path):
    paths = tmp_path / "a.h5", tmp_path / "b.h5"
    for path, time in zip(paths, (h5d.FILL_TIME_IFSET, h5d.FILL_TIME_NEVER), strict=True):
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_fill_time(time)
        with h5py.File(path, "w") as file:
            h5d.create(file.id, b"x", h5t.STD_I8LE, h5s.create_simple((3,)), dcpl=properties)
    assert [what.partition(":")[0] for _, what in h5compare.compare(*paths)] == ["fill time"]


def test_what_lies_behind_the_end_of_a_text_is_no_value(tmp_path):
    paths = tmp_path / "a.h5", tmp_path / "b.h5"
    for path, value in zip(paths, (b"ab\0xy", b"ab\0zz"), strict=True):
        with h5py.File(path, "w") as file:
            put(file, "t", text_of(h5t.CSET_ASCII), value)
    assert h5compare.compare(*paths) == []
