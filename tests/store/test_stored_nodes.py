"""The metadata of a document's nodes, as they are stored."""

import json

import pytest

from shadowzarr.errors import InvalidReferencesError
from shadowzarr.store.locate import Locator
from shadowzarr.store.stored_nodes import stored_nodes

GROUP = {"zarr_format": 3, "node_type": "group", "attributes": {"x": "NaN"}}


def nodes(refs):
    rfs = {"version": 1, "refs": {key: json.dumps(value) for key, value in refs.items()}}
    return list(stored_nodes(rfs, Locator(rfs)))


def test_groups_come_before_what_is_in_them_without_their_consolidated_metadata():
    whole = {**GROUP, "consolidated_metadata": {"kind": "inline", "metadata": {}, "must_understand": False}}
    found = nodes({"a/b/zarr.json": GROUP, "a/zarr.json": GROUP, "zarr.json": whole})
    assert [path for path, _ in found] == ["", "a", "a/b"]
    assert all(metadata == GROUP for _, metadata in found)


@pytest.mark.parametrize("refs", [{"a/zarr.json": GROUP}, {"zarr.json": GROUP, "/zarr.json": GROUP}])
def test_refused(refs):
    with pytest.raises(InvalidReferencesError, match="at their root|without a name"):
        nodes(refs)
