"""What a repository should hold, and the difference to what it holds: literals, no repository."""

from dataclasses import replace

import pytest

from shadowzarr.catalog.assets import CatalogAsset
from shadowzarr.catalog.layout import ListedRecord, RecordKey
from shadowzarr.catalog.plan import SelectionRules
from shadowzarr.catalog.records import ErrorSummary
from shadowzarr.catalog.refresh.contents import contents_of, virtual_url
from shadowzarr.catalog.refresh.decide import decide, record_label
from shadowzarr.icechunk.asset_groups import group_of

AWS = "https://dandiarchive.s3.amazonaws.com/blobs/0b3/4d3/0b34d3dd"


def asset(path, number=1, **changes) -> CatalogAsset:
    values = {
        "dandiset": "000001",
        "version": "draft",
        "asset_id": f"0b34d3dd-037a-4dcb-9d8f-{number:012d}",
        "size": 100,
        "etag": f"{number:032d}-1",
        "blob_url": f"https://store.test/blobs/{number}",
    }
    return CatalogAsset(path=path, **values | changes)


def wanted(*assets, options="0" * 12, unindexed=(), rules=None, failure=None):
    def record_of(each):
        key = RecordKey(each.asset_id, each.etag, options, 1)
        return None if each.path in unindexed else ListedRecord(key, "indexed", None)

    return contents_of(
        assets, rules or SelectionRules(), record_of=record_of, failure_of=lambda each: failure
    )


def held(*assets, **more):
    return {group: record_label(each) for group, each in wanted(*assets, **more).wanted.items()}


def change(before, after):
    found = decide(before, after.wanted)
    return found.counts, [each.path for each in found.missing]


def test_an_open_blob_of_the_archive_is_read_from_its_bucket():
    """Without asking the archive, and of any asset with the same bytes."""
    assert virtual_url(asset("a.nwb", blob_url=AWS)) == "s3://dandiarchive/blobs/0b3/4d3/0b34d3dd"
    assert virtual_url(asset("a.nwb")) == "https://store.test/blobs/1"
    assert (
        virtual_url(asset("a.nwb", blob_url="", download_url="https://x/download/")) == "https://x/download/"
    )


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("sub-1/a b#?.nwb", "sub-1/a b#?.nwb"),
        ("50%/a.nwb", "50%25/a.nwb"),
        ("zarr.json/a.nwb", "%7Aarr.json/a.nwb"),
        ("__a/__b", "%5F_a/%5F_b"),
        ("%5F_a", "%255F_a"),
    ],
)
def test_groups_of_assets(path, group):
    assert group_of(path) == group


def test_nothing_changed_is_nothing_to_do():
    both = asset("a.nwb"), asset("b/c.nwb", 2)
    found = decide(held(*both), wanted(*both).wanted)
    assert found.is_empty
    assert found.kept == {"a.nwb", "b/c.nwb"}


@pytest.mark.parametrize(
    ("after", "counts"),
    [
        ((asset("a.nwb"), asset("b.nwb", 2)), {"added": 1}),
        ((asset("a.nwb", 2),), {"changed": 1}),
        ((asset("a.nwb", blob_url="https://elsewhere.test/1"),), {"changed": 1}),
        ((asset("b.nwb", asset_id="0b34d3dd-037a-4dcb-9d8f-000000000009"),), {"renamed": 1}),
        ((asset("b.nwb"), asset("c.nwb")), {"renamed": 1, "added": 1}),
        ((asset("a.nwb", asset_id="0b34d3dd-037a-4dcb-9d8f-000000000009"),), {"relabelled": 1}),
        ((), {"removed": 1}),
    ],
)
def test_differences(after, counts):
    assert change(held(asset("a.nwb")), wanted(*after)) == (counts, [])


def test_two_that_take_each_others_path():
    before = held(asset("a.nwb", 1), asset("b.nwb", 2))
    assert change(before, wanted(asset("a.nwb", 2), asset("b.nwb", 1))) == ({"changed": 2}, [])


def test_references_made_otherwise():
    assert change(held(asset("a.nwb")), wanted(asset("a.nwb"), options="1" * 12)) == (
        {"other references": 1},
        [],
    )


def test_what_is_held_needs_no_references_any_more():
    assert change(held(asset("a.nwb")), wanted(asset("a.nwb"), unindexed={"a.nwb"})) == ({}, [])


def test_what_has_no_references_is_missing_and_what_was_there_goes():
    other = wanted(asset("a.nwb", 2), unindexed={"a.nwb"})
    assert change(held(asset("a.nwb")), other) == ({"removed": 1}, ["a.nwb"])
    assert not other.wanted["a.nwb"].missing.is_final


def test_a_failure_is_final_when_it_stays_with_the_file():
    for permanent in (True, False):
        failure = ErrorSummary("index", "DamagedSourceError", "it is cut", permanent=permanent)
        found = wanted(asset("a.nwb"), unindexed={"a.nwb"}, failure=failure).wanted["a.nwb"].missing
        assert (found.reason, found.is_final) == ("it could not be indexed: it is cut", permanent)


def test_what_belongs_into_a_repository():
    found = wanted(
        asset("a.nwb"),
        asset("b.nwb", embargoed=True),
        asset("c.zarr", kind="zarr", etag=""),
        asset("d.txt"),
        asset("e/../f.nwb"),
        asset("g.nwb", etag=""),
        asset("x.nwb"),
        asset("x.nwb/y.nwb"),
        asset("z.nwb"),
        rules=SelectionRules(exclude=("z*",)),
    )
    assert (set(found.wanted), found.embargoed, found.listed) == ({"a.nwb", "x.nwb"}, 1, 9)
    assert [(each.path, each.is_final) for each in found.missing] == [
        ("e/../f.nwb", True),
        ("g.nwb", False),
        ("x.nwb/y.nwb", True),
    ]
    assert set(wanted(*map(asset, "ab"), rules=SelectionRules(("*",), limit=1)).wanted) == {"a"}


def test_references_of_the_same_bytes_elsewhere_are_used(layout):
    """As of an asset that was renamed after it was indexed."""
    from shadowzarr.catalog.refresh.references import PublishedReferences

    old, new = asset("old.nwb"), asset("new.nwb")
    key = RecordKey(old.asset_id, old.etag, "0" * 12, 1)
    for path in (layout.record_path(old, key, "indexed"), layout.references_path(old) / "refs.json"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    references = PublishedReferences(layout, "000001")
    assert references.of(new) == references.of(old)
    assert references.of(new).key == key
    assert references.of(replace(new, etag="f" * 32 + "-1")) is None
    assert references.failure(new) is None
