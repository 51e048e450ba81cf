"""Results whose assets are no longer in their version: found by listings alone."""

from dataclasses import replace

from shadowzarr.catalog.gone_assets import gone_assets
from shadowzarr.catalog.layout import ListedRecord, Listing
from shadowzarr.catalog.plan import record_key

OF = ("000001", "draft")


def listing_of(layout, *results):
    """A listing of assets, each with an outcome; those that failed have no references."""
    listing = Listing()
    for asset, outcome in results:
        key = record_key(asset, layout.options)
        record = ListedRecord(key, outcome, layout.record_path(asset, key, outcome))
        listing.records.setdefault(layout.place(asset), []).append(record)
        if outcome != "failed":
            listing.references.add(layout.references_path(asset))
    return listing


def test_references_and_failures_of_removed_assets_are_found(layout, asset):
    old, bad = replace(asset, path="sub-1/old.nwb"), replace(asset, path="bad.nwb")
    listing = listing_of(layout, (asset, "indexed"), (old, "partial"), (bad, "failed"))
    kept = gone_assets(listing, layout, [asset], of=OF)
    assert [(each.path, each.what, each.private) for each in kept] == [
        ("bad.nwb", "record of a failure", False),
        ("sub-1/old.nwb", "references", False),
    ]
    assert gone_assets(listing, layout, [asset, old, bad], of=OF) == []


def test_references_without_any_record_are_found_too(layout, asset):
    listing = Listing(references={layout.references_path(asset), layout.other_form_path(asset)})
    (kept,) = gone_assets(listing, layout, [], of=OF, private=True)
    assert (kept.dandiset, kept.version, kept.path, kept.private) == ("000001", "draft", "sub-1/a.nwb", True)


def test_an_asset_that_is_not_wanted_or_has_no_place_is_not_gone(layout, asset):
    text = replace(asset, path="notes.txt")
    listing = listing_of(layout, (text, "failed"))
    assert gone_assets(listing, layout, [text, replace(asset, path="../x.nwb")], of=OF) == []


def test_a_name_that_was_shortened_is_recognised(layout, asset):
    long = replace(asset, path="x" * 250 + ".nwb")
    assert gone_assets(listing_of(layout, (long, "indexed")), layout, [long], of=OF) == []
