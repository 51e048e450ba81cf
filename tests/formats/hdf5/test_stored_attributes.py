from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5a, h5s, h5t

from shadowzarr.errors import TransientReadError
from shadowzarr.formats.hdf5 import stored_attributes
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.inventory import address_of
from shadowzarr.formats.hdf5.stored_attributes import StoredAttribute, read_attributes


def low(file: h5py.File, name: str, tid: h5t.TypeID, raw: bytes) -> None:
    made = h5a.create(file.id, name.encode(), tid, h5s.create(h5s.SCALAR))
    made.write(np.frombuffer(raw, f"V{len(raw)}").reshape(()), mtype=tid)


@pytest.fixture
def stored(path: Path) -> dict[bytes, StoredAttribute]:
    opaque = h5t.create(h5t.OPAQUE, 2)
    opaque.set_tag(b"tag")
    with h5py.File(path, "w") as file:
        file["named"] = np.dtype("<i2")
        file["target"] = 1
        file.attrs["text"] = "µV"
        file.attrs["texts"] = ["a", ""]
        file.attrs["number"] = 1.5
        file.attrs["null"] = h5py.Empty("f4")
        file.attrs["to"] = file["target"].ref
        file.attrs.create("committed", 3, dtype=file["named"])
        low(file, "opaque", opaque, b"\0\1")
        low(file, "time", h5t.UNIX_D32LE, bytes(4))
        low(file, "array", h5t.array_create(h5t.STD_I8LE, (2, 2)), b"\1\2\3\4")
    with h5py.File(path) as file:
        read = read_attributes(file.id)
        assert read.rest == ""
        found = {attribute.name: attribute for attribute in read.found}
        assert list(found) == sorted(found)
        assert found[b"to"].value == address_of(file["target"].id)
        assert found[b"committed"].committed == address_of(file["named"].id)
    return found


def test_values_are_what_h5py_reads(stored):
    assert stored[b"text"].value[()] == "µV".encode()
    assert stored[b"texts"].value.tolist() == [b"a", b""]
    assert stored[b"number"].value == 1.5
    assert isinstance(stored[b"null"].value, h5py.Empty)
    assert stored[b"opaque"].value == b"\0\1"
    assert stored[b"array"].value.tolist() == [[1, 2], [3, 4]]
    assert stored[b"committed"].value == 3


def test_types_and_spaces(stored):
    assert stored[b"number"].type.described == {"class": "H5T_FLOAT", "base": "H5T_IEEE_F64LE"}
    assert stored[b"number"].space == {"class": "H5S_SCALAR"}
    assert stored[b"texts"].space == {"class": "H5S_SIMPLE", "dims": [2]}
    assert stored[b"null"].space == {"class": "H5S_NULL"}
    assert [name for name, each in stored.items() if each.committed is not None] == [b"committed"]


def test_one_that_cannot_be_read_has_a_reason_and_costs_the_others_nothing(stored):
    assert {name for name, each in stored.items() if each.reason} == {b"time"}
    assert stored[b"time"].type is not None
    assert stored[b"time"].reason.startswith("h5py cannot read it: ")


def test_one_that_cannot_be_opened(path, monkeypatch):
    with h5py.File(path, "w") as file:
        file.attrs["a"], file.attrs["b"] = 1, 2

    def refuse(item, name):
        if name == b"a":
            raise KeyError("no such thing")
        return original(item, name)

    original = h5a.open
    monkeypatch.setattr(stored_attributes.h5a, "open", refuse)
    with h5py.File(path) as file:
        one, other = read_attributes(file.id).found
    assert (one.type, one.reason) == (None, "h5py cannot read it: no such thing")
    assert (other.value, other.reason) == (2, "")


def test_a_broken_connection_is_no_property_of_an_attribute(path, monkeypatch):
    with h5py.File(path, "w") as file:
        file.attrs["a"] = 1

    def fail(*_):
        raise TransientReadError("503")

    monkeypatch.setattr(stored_attributes.h5a, "open", fail)
    with h5py.File(path) as file, pytest.raises(TransientReadError):
        read_attributes(file.id)


def test_names_that_cannot_all_be_listed(path, monkeypatch):
    with h5py.File(path, "w") as file:
        file.attrs["a"], file.attrs["b"] = 1, 2

    def stop(_, hear):
        hear(b"a")
        raise RuntimeError("no more")

    monkeypatch.setattr(stored_attributes.h5a, "iterate", stop)
    with h5py.File(path) as file:
        read = read_attributes(file.id)
    assert [attribute.name for attribute in read.found] == [b"a"]
    assert read.rest == "the rest of its attributes: h5py cannot read it: no more"


def test_generation_opens_each_usual_attribute_once(path, monkeypatch):
    with h5py.File(path, "w") as file:
        for number in range(5):
            item = file.create_dataset(f"d{number}", data=np.arange(300.0))
            item.attrs["unit"], item.attrs["conversion"], item.attrs["count"] = "V", 1.5, number
        file.attrs["session"] = "one"
    opened = []
    original = h5a.open
    monkeypatch.setattr(
        stored_attributes.h5a, "open", lambda item, name: opened.append(name) or original(item, name)
    )
    rfs = generate_rfs(path)
    assert len(opened) == 5 * 3 + 1
    assert "objects" not in rfs["hdf5"]  # all of them are as usual
