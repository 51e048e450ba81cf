from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5.inventory import take_inventory
from shadowzarr.formats.hdf5.reasons import CannotRepresentError
from shadowzarr.formats.hdf5.references import ReferenceResolver


@pytest.fixture
def opened(path: Path) -> Iterator[h5py.File]:
    with h5py.File(path, "w") as f:
        f["g/x"] = np.arange(3)
        f["second/name/of/x"] = f["g/x"]
        f["gone"] = 1
        refs = f.create_dataset("refs", (4,), h5py.ref_dtype)
        refs[0], refs[1], refs[2] = f["g/x"].ref, f.ref, f["gone"].ref
        f.attrs["region"] = f["g/x"].regionref[:2]
        del f["gone"]
    with h5py.File(path, "r") as f:
        yield f


@pytest.fixture
def resolver(opened: h5py.File) -> ReferenceResolver:
    return ReferenceResolver(take_inventory(opened.id), opened.id)


def test_addresses_become_paths(opened: h5py.File, resolver: ReferenceResolver) -> None:
    addresses = np.zeros(4, "u8")
    opened["refs"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, addresses, mtype=h5py.h5t.STD_REF_OBJ)
    assert resolver.paths(addresses).tolist() == ["/g/x", "/", "", ""]
    assert resolver.dangling == 1
    assert resolver.paths(addresses.reshape(2, 2)).tolist() == [["/g/x", "/"], ["", ""]]


def test_each_dangling_reference_counts(resolver: ReferenceResolver) -> None:
    resolver.paths(np.array([7, 7, 0, 9], "u8"))
    assert resolver.dangling == 3


def test_empty_and_scalar(resolver: ReferenceResolver) -> None:
    assert resolver.paths(np.zeros(0, "u8")).tolist() == []
    scalar = resolver.paths(np.array(0, "u8"))
    assert scalar.shape == ()
    assert scalar[()] == ""


def test_references_that_h5py_hands_out(opened: h5py.File, resolver: ReferenceResolver) -> None:
    refs = opened["refs"][()]
    assert [resolver.path_of(reference) for reference in refs] == ["/g/x", "/", "", ""]
    with pytest.raises(CannotRepresentError, match="region"):
        resolver.path_of(opened.attrs["region"])
