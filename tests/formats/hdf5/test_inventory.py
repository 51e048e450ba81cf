from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5g

from shadowzarr.formats.hdf5.inventory import Inventory, StoredObject, address_of, take_inventory


@pytest.fixture
def inventory(path: Path) -> Inventory:
    with h5py.File(path, "w") as f:
        f["z/deep/x"] = np.arange(3)
        f["short"] = f["z/deep/x"]
        f["z/soft"] = h5py.SoftLink("/z/deep")
        f["z/relative"] = h5py.SoftLink("deep/./x")
        f["z/through"] = h5py.SoftLink("/z/soft/x")
        f["z/dangling"] = h5py.SoftLink("/nowhere")
        f["z/loop"] = h5py.SoftLink("/z/loop")
        f["z/up"] = f["/"]
        f["ext"] = h5py.ExternalLink("other.h5", "/a")
        f["type"] = np.dtype("i4")
    with h5py.File(path, "r") as f:
        return take_inventory(f.id)


def found(inventory: Inventory, path: str) -> StoredObject:
    return next(item for item in inventory.objects.values() if item.path == path)


def test_every_object_once_by_its_shortest_name(inventory: Inventory) -> None:
    kinds = {item.path: item.kind for item in inventory.in_tree_order()}
    assert kinds == {"": "group", "short": "dataset", "type": "datatype", "z": "group", "z/deep": "group"}


def test_links_in_the_order_of_their_names(inventory: Inventory) -> None:
    assert list(found(inventory, "z").links) == [
        "dangling",
        "deep",
        "loop",
        "relative",
        "soft",
        "through",
        "up",
    ]
    assert found(inventory, "z").links["up"].address == inventory.root.address
    external = inventory.root.links["ext"]
    assert (external.kind, external.file, external.target) == ("external", "other.h5", "/a")


def test_addresses_are_those_of_references_also_behind_a_userblock(path: Path) -> None:
    with h5py.File(path, "w", userblock_size=512) as f:
        f["x"] = np.arange(3)
        dataset = f.create_dataset("ref", (1,), h5py.ref_dtype)
        dataset[0] = f["x"].ref
    with h5py.File(path, "r") as f:
        addresses = np.zeros(1, "u8")
        f["ref"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, addresses, mtype=h5py.h5t.STD_REF_OBJ)
        inventory = take_inventory(f.id)
        assert inventory.objects[int(addresses[0])].path == "x"
        assert address_of(h5g.open(f.id, b"/")) == inventory.root.address


def test_names_that_are_no_text_are_reported(path: Path) -> None:
    with h5py.File(path, "w") as f:
        h5g.create(f.id, b"caf\xe9")
        f["good"] = 1
    with h5py.File(path, "r") as f:
        inventory = take_inventory(f.id)
    assert [(f.path, f.kind) for f in inventory.failures] == [("/caf\\xe9", "link")]
    assert {item.path for item in inventory.objects.values()} == {"", "good"}


def test_deep_nesting_and_many_names_need_no_recursion(path: Path) -> None:
    with h5py.File(path, "w") as f:
        group = f
        for _ in range(300):
            group = group.create_group("g")
        for number in range(2000):
            f.create_group(f"n{number:04d}")
    with h5py.File(path, "r") as f:
        inventory = take_inventory(f.id)
    assert len(inventory.objects) == 2301
    assert max(item.path.count("/") for item in inventory.objects.values()) == 299
