from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5g, h5l, h5t

from shadowzarr.formats.hdf5 import inventory as inventory_module
from shadowzarr.formats.hdf5.inventory import (
    Inventory,
    StoredObject,
    address_of,
    address_of_committed,
    read_links,
    take_inventory,
)


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
    assert list(inventory.root.links) == ["good"]
    assert [link.name for link in inventory.root.stored] == ["caf\udce9", "good"]


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


def test_links_say_how_their_names_are_stored_and_when_they_were_made(path: Path) -> None:
    with h5py.File(path, "w", track_order=True) as f:
        f["z"], f["µ"] = 1, 2
        f["s"] = h5py.SoftLink("/nowhere")
        f["e"] = h5py.ExternalLink("other.h5", "/there")
    with h5py.File(path, "r") as f:
        read = read_links(h5g.open(f.id, b"/"))
    assert read.is_complete
    found = dict(read.found)
    assert list(found) == [b"e", b"s", b"z", "µ".encode()]
    assert [link.order for link in found.values()] == [3, 2, 0, 1]
    assert [link.character_set for link in found.values()] == [*[h5t.CSET_ASCII] * 3, h5t.CSET_UTF8]
    classes = [h5l.TYPE_EXTERNAL, h5l.TYPE_SOFT, h5l.TYPE_HARD, h5l.TYPE_HARD]
    assert [link.link_class for link in found.values()] == classes


def test_a_link_that_cannot_be_read_is_named_and_the_group_not_taken_for_complete(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with h5py.File(path, "w") as f:
        f["a"], f["b"] = 1, 2

    def refuse(opened: object, name: bytes, *facts: int) -> object:
        if name == b"a":
            raise KeyError("no")
        return original(opened, name, *facts)

    original = inventory_module._link
    monkeypatch.setattr(inventory_module, "_link", refuse)
    with h5py.File(path, "r") as f:
        inventory = take_inventory(f.id)
    assert [(each.path, each.reason) for each in inventory.failures] == [("/a", "h5py cannot read it: no")]
    assert list(inventory.root.links) == ["b"]
    assert inventory.root.stored is None


def test_addresses_of_committed_types(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f["named"] = np.dtype("i4")
        f.create_dataset("of", (1,), f["named"])
        f["plain"] = 1
        assert address_of_committed(f["of"].id.get_type()) == address_of(f["named"].id)
        assert address_of_committed(f["plain"].id.get_type()) is None
