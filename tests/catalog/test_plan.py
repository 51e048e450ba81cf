from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shadowzarr.catalog.layout import ListedRecord, Listing, OutputLayout
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.plan import (
    SelectionRules,
    idle_patterns,
    make_plan,
    record_key,
    source_url,
    twins,
)
from shadowzarr.catalog.redo import Quarantine, RedoRules


def listing_of(layout, asset, *, outcome="indexed", key=None, with_references=True):
    key = key or record_key(asset, layout.options)
    record = ListedRecord(key, outcome, layout.record_path(asset, key, outcome))
    references = {layout.references_path(asset)} if with_references else set()
    return Listing({layout.place(asset): [record]}, references)


def plan_of(layout, *assets, rules=None, listing=None, **private):
    return make_plan(
        assets, rules or SelectionRules(), public=layout, public_listing=listing or Listing(), **private
    )


def fate(plan):
    return [(each.path, each.reason) for each in plan.skipped]


def test_a_new_asset_is_work(layout, asset):
    plan = plan_of(layout, asset)
    assert [(w.asset, w.url, w.cause, w.private) for w in plan.work] == [
        (asset, asset.download_url, "new", False)
    ]
    assert plan.skipped == []
    assert plan.work_bytes == 100


def test_an_asset_with_its_record_is_unchanged(layout, asset):
    plan = plan_of(layout, asset, listing=listing_of(layout, asset))
    assert (plan.work, fate(plan), plan.left_out_before) == ([], [("sub-1/a.nwb", "unchanged")], 0)


def test_an_unchanged_asset_with_objects_left_out_is_counted(layout, asset):
    plan = plan_of(layout, asset, listing=listing_of(layout, asset, outcome="partial"))
    assert (plan.work, plan.left_out_before) == ([], 1)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"etag": "00000000000000000000000000000000-1"}, "changed"),
        ({"asset_id": "11111111-1111-4111-8111-111111111111"}, "changed"),
        ({"options_digest": "000000000000"}, "other options"),
        ({"format_version": 0}, "other options"),
    ],
)
def test_anything_else_in_the_record_is_work(layout, asset, change, cause):
    key = replace(record_key(asset, layout.options), **change)
    plan = plan_of(layout, asset, listing=listing_of(layout, asset, key=key))
    assert [w.cause for w in plan.work] == [cause]


def test_a_failed_asset_is_tried_again(layout, asset):
    plan = plan_of(layout, asset, listing=listing_of(layout, asset, outcome="failed"))
    assert [w.cause for w in plan.work] == ["failed before"]


def test_a_record_whose_references_are_gone_does_not_count(layout, asset):
    plan = plan_of(layout, asset, listing=listing_of(layout, asset, with_references=False))
    assert len(plan.work) == 1


@pytest.mark.parametrize(
    ("changes", "rules", "reason"),
    [
        ({"path": "notes.txt"}, {}, "not NWB"),
        ({"path": "a.nwb", "kind": "zarr", "etag": ""}, {}, "already Zarr"),
        ({"path": "a.nwb.zarr", "kind": "zarr"}, {}, "already Zarr"),
        ({"path": "a.nc", "kind": "other"}, {"include": ("**",)}, "another format"),
        ({"path": "a.nc", "kind": "other"}, {"include": ("**/*.h5",)}, "excluded"),
        ({"path": "sub-2/a.nwb"}, {"include": ("sub-1/*",)}, "excluded"),
        ({"path": "sub-1/a.nwb"}, {"exclude": ("sub-1/**",)}, "excluded"),
        ({"embargoed": True}, {}, "embargoed"),
        ({"path": "../a.nwb"}, {}, "unusable path"),
        ({"path": "a\nb.nwb"}, {}, "unusable path"),
        ({"etag": ""}, {}, "no ETag yet"),
        ({"etag": "../x"}, {}, "unusable identity"),
        ({"asset_id": "../x"}, {}, "unusable identity"),
    ],
)
def test_assets_are_passed_over_with_a_reason(layout, asset, changes, rules, reason):
    plan = plan_of(layout, replace(asset, **changes), rules=SelectionRules(**rules))
    assert (plan.work, [each.reason for each in plan.skipped]) == ([], [reason])


def test_where_case_is_ignored_the_first_of_two_paths_has_the_place(layout, asset, monkeypatch):
    assets = [replace(asset, path=path) for path in ("sub/é.nwb", "Sub/E\u0301.nwb", "sub/f.nwb")]
    assert len(plan_of(layout, *assets).work) == 3
    monkeypatch.setattr("shadowzarr.catalog.folder_output.ignores_case", lambda folder: True)
    plan = plan_of(layout, *assets)
    assert [w.asset.path for w in plan.work] == ["Sub/E\u0301.nwb", "sub/f.nwb"]
    assert fate(plan) == [("sub/é.nwb", "unusable path")]
    assert "Sub/E" in plan.skipped[0].detail


def test_other_files_are_taken_when_they_are_asked_for(layout, asset):
    plan = plan_of(layout, replace(asset, path="a.h5"), rules=SelectionRules(include=("**/*.h5",)))
    assert len(plan.work) == 1


def test_the_limit_takes_the_first_by_path_and_counts_what_is_done(layout, asset):
    assets = [replace(asset, path=f"{name}.nwb") for name in "cabd"]
    plan = plan_of(layout, *assets, rules=SelectionRules(limit=2), listing=listing_of(layout, assets[1]))
    assert [w.asset.path for w in plan.work] == ["b.nwb"]
    assert fate(plan) == [("a.nwb", "unchanged"), ("c.nwb", "limit"), ("d.nwb", "limit")]


def test_embargoed_assets_go_to_the_private_output_only(layout, asset, tmp_path):
    private = OutputLayout(tmp_path / "private", ReferenceOptions())
    secret = replace(asset, embargoed=True)
    plan = plan_of(layout, secret, private=private, private_listing=Listing())
    assert [w.private for w in plan.work] == [True]
    done = plan_of(layout, secret, private=private, private_listing=listing_of(private, secret))
    assert fate(done) == [("sub-1/a.nwb", "unchanged")]
    public_record = plan_of(layout, secret, listing=listing_of(layout, secret), private=private)
    assert len(public_record.work) == 1


def test_patterns_that_match_nothing_are_found(asset):
    rules = SelectionRules(include=("sub-1/*", "sub-[2]/*"), exclude=("*.txt", "**/a.nwb"))
    assert idle_patterns(rules, [asset]) == [("include", 1, "sub-[2]/*"), ("exclude", 0, "*.txt")]
    assert idle_patterns(SelectionRules(), []) == [("include", 0, "**/*.nwb")]
    assert idle_patterns(SelectionRules(exclude=("x",), is_include_own=False), []) == [("exclude", 0, "x")]


def test_which_url_references_use(asset):
    blob = ReferenceOptions(url="blob")
    assert source_url(asset, ReferenceOptions()) == asset.download_url
    assert source_url(asset, blob) == asset.blob_url
    assert source_url(replace(asset, embargoed=True), blob) == asset.download_url
    assert source_url(replace(asset, blob_url=""), blob) == asset.download_url


def test_twins_are_the_first_good_records_of_a_blob(layout, asset):
    listing = Listing()
    for path, outcome in [("c.nwb", "indexed"), ("a.nwb", "failed"), ("b.nwb", "partial")]:
        one = listing_of(layout, replace(asset, path=path), outcome=outcome)
        listing.records |= one.records
    found = twins(listing)
    assert [record.path.name[:5] for record in found.values()] == ["b.nwb"]
    assert list(found) == [record_key(asset, layout.options).blob_key]


def test_what_is_done_again_although_it_was_done_or_tried(layout, asset):
    """By rules and by the quarantine, which reads the record of a failure with the asset's own key alone."""
    done, failed = replace(asset, path="sub-1/done.nwb"), replace(asset, path="sub-1/failed.nwb")
    older = replace(asset, path="sub-1/older.nwb", modified="2026-01-01T00:00:00Z")
    stale = record_key(replace(asset, etag="00000000000000000000000000000000-1"), layout.options)
    changed = replace(asset, path="sub-1/changed.nwb")
    listing = listing_of(layout, done)
    for each, key in ((failed, None), (changed, stale)):
        other = listing_of(layout, each, outcome="failed", key=key, with_references=False)
        listing.records |= other.records
    until = Quarantine("damaged", datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))

    def fates(**rules):
        plan = make_plan(
            [done, failed, older, changed],
            SelectionRules(),
            public=layout,
            public_listing=listing,
            redo=RedoRules(**rules),
            quarantine=lambda layout, record: None if rules else until,
        )
        return {work.asset.path[6:-4]: work.cause for work in plan.work}, {
            each.path[6:-4]: each.reason for each in plan.skipped
        }

    assert fates() == (
        {"older": "new", "changed": "changed"},
        {"done": "unchanged", "failed": "quarantined"},
    )
    assert fates(force=True)[0] == {
        "done": "forced",
        "failed": "failed before",
        "older": "new",
        "changed": "changed",
    }
    assert fates(only_failed=True) == (
        {"failed": "failed before", "changed": "changed"},
        {"done": "unchanged", "older": "did not fail"},
    )
    assert fates(since=datetime(2026, 1, 2, tzinfo=UTC))[1] == {
        "done": "unchanged",
        "older": "not modified since",
    }
