import h5py
import numpy as np
import pytest
from h5py import h5d

from shadowzarr.formats.hdf5.opened_object import (
    OpenedDataset,
    OpenedObject,
    open_dataset,
    open_object,
    opened,
)
from shadowzarr.formats.hdf5.reasons import CannotRepresentError


@pytest.fixture
def file(path):
    with h5py.File(path, "w") as made:
        made["g"] = np.dtype("i4")
        made.create_group("a/µ").attrs["x"] = 1
        made.create_dataset("a/chunked", (4, 6), "i2", chunks=(2, 3))
        made["plain"] = np.arange(3.0)
        made["null"] = h5py.Empty("f4")
        made.create_dataset("raw", (2,), "i4", external=[("raw.bin", 0, 8)])
    with h5py.File(path) as made:
        yield made


def test_a_dataset(file):
    found = open_dataset(file.id, "a/chunked")
    assert (found.shape, found.edges, found.layout, found.is_foreign) == ((4, 6), (2, 3), h5d.CHUNKED, False)
    assert found.type.stored == np.dtype("<i2")
    assert found.shown == file["a/chunked"]
    assert open_dataset(file.id, "null").shape is None
    assert open_dataset(file.id, "raw").is_foreign


def test_each_is_asked_for_once(file):
    found = open_dataset(file.id, "plain")
    for name in ("tid", "type", "properties", "space", "shown", "attributes"):
        assert getattr(found, name) is getattr(found, name)


def test_what_is_no_dataset(file):
    kinds = [type(opened(file[name].id)) for name in ("g", "a", "plain")]
    assert kinds == [OpenedObject, OpenedObject, OpenedDataset]
    assert open_object(file.id, "").id == file["/"].id
    group = open_object(file.id, "a/µ")
    assert (group.has_attribute(b"x"), group.has_attribute(b"y")) == (True, False)


@pytest.mark.parametrize(("opens", "name"), [(open_object, "b"), (open_dataset, "a"), (open_dataset, "a/b")])
def test_what_is_not_there(file, opens, name):
    with pytest.raises(CannotRepresentError, match="^h5py cannot read it: "):
        opens(file.id, name)
