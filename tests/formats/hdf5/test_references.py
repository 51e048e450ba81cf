from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5 import references
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
        regions = f.create_dataset("regions", (4,), h5py.regionref_dtype)
        regions[0] = f["g/x"].regionref[:2]
        space = h5py.h5s.create_simple((3,))
        space.select_elements(np.array([[2], [0]], "u8"))
        regions[1] = h5py.h5r.create(f.id, b"g/x", h5py.h5r.DATASET_REGION, space)
        f["lost"] = np.arange(2)
        regions[3] = f["lost"].regionref[:]
        del f["gone"], f["lost"]
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


def test_regions(opened: h5py.File, resolver: ReferenceResolver) -> None:
    found = opened["regions"][()]
    assert [resolver.region_of(each) for each in found[:3]] == [
        {"id": "/g/x", "select_type": "H5S_SEL_HYPERSLABS", "selection": [[[0], [1]]]},
        {"id": "/g/x", "select_type": "H5S_SEL_POINTS", "selection": [[2], [0]]},
        None,
    ]
    assert resolver.dangling == 0
    assert resolver.region_of(found[3]) is None
    assert resolver.dangling == 1
    assert resolver.region_of(0) is None


def test_a_region_of_too_many_pieces_is_refused(
    opened: h5py.File, resolver: ReferenceResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(references, "MOST_SELECTED", 1)
    with pytest.raises(CannotRepresentError, match="2 points"):
        resolver.region_of(opened["regions"][1])
