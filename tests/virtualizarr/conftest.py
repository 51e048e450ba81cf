"""Manifest stores that the tests make; without the library there are none."""

import importlib.util

import numpy as np
import pytest
import zarr

if importlib.util.find_spec("virtualizarr") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def parsed():
    """Parses a local file by one of VirtualiZarr's parsers."""
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore

    def parse(parser, path):
        return parser(url=f"file://{path}", registry=ObjectStoreRegistry({"file://": LocalStore()}))

    return parse


@pytest.fixture
def equal(tmp_path):
    """Checks references made of a manifest store: written, opened, and read they equal what is expected.

    Arrays that are not named must be none, and none may be left out unless it is named with None.
    """
    from shadowzarr import open_rfs, write_rfs
    from shadowzarr.virtualizarr import manifest_store_to_rfs

    def check(store, expected, **options):
        rfs = manifest_store_to_rfs(store, **options)
        place = tmp_path / "made.shadowzarr"
        write_rfs(rfs, place)
        group = open_rfs(place)
        there = {name for name, node in group.members(max_depth=None) if isinstance(node, zarr.Array)}
        assert there == {name for name, values in expected.items() if values is not None}
        left_out = {
            entry["path"].strip("/") for entry in rfs.get("skipped", []) if entry["kind"] == "dataset"
        }
        assert left_out == {name for name, values in expected.items() if values is None}
        theirs = zarr.open_group(store, mode="r")
        for name in there:
            values = np.asarray(expected[name])
            same(group[name][...], values, name)
            same(group[name][...], theirs[name][...], name)
        return rfs

    return check


def same(found, expected, name):
    """Bit for bit, in native byte order."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, name
    if expected.dtype.kind in "TUO":
        assert found.tolist() == expected.tolist(), name
        return
    assert found.dtype == expected.dtype.newbyteorder("="), name
    assert found.tobytes() == expected.astype(found.dtype).tobytes(), name
