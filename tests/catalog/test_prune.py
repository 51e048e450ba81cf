"""Results of assets that left their version: kept, moved aside or deleted."""

from dataclasses import replace

import pytest

from shadowzarr.catalog.gone_assets import gone_assets
from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.plan import record_key
from shadowzarr.catalog.prune import prune_gone
from shadowzarr.errors import OutputError


def put(layout, asset, outcome="indexed"):
    """References and record of an asset, by name alone."""
    record = layout.record_path(asset, record_key(asset, layout.options), outcome)
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(f"record of {asset.path}")
    if outcome != "failed":
        layout.references_path(asset).mkdir()
        (layout.references_path(asset) / "refs.json").write_text("{}")


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def assets(layout, asset):
    """One that stays, one that is gone, one that is gone and had failed, in folders of their own."""
    found = (asset, replace(asset, path="old/deep/b.nwb"), replace(asset, path="bad/c.nwb"))
    for each, outcome in zip(found, ("indexed", "partial", "failed"), strict=True):
        put(layout, each, outcome)
    return found


def prune(layout, asset, fate):
    listing = layout.list_version(asset.dandiset, asset.version)
    gone = gone_assets(listing, layout, [asset], of=(asset.dandiset, asset.version), fate=fate)
    prune_gone(gone, public=layout, private=None)
    return gone


def test_kept_results_stay(layout, assets):
    before = files(layout.folder)
    assert [each.fate for each in prune(layout, assets[0], "kept")] == ["kept", "kept"]
    assert files(layout.folder) == before


def test_deleted_results_leave_nothing_behind(layout, assets):
    prune(layout, assets[0], "deleted")
    place = "dandisets/000001/draft/sub-1/a.nwb"
    assert [name[: len(place)] for name in files(layout.folder)] == [place, place]
    assert sorted(path.name for path in (layout.folder / "dandisets/000001/draft").iterdir()) == ["sub-1"]
    assert prune(layout, assets[0], "deleted") == []


def test_moved_results_are_whole_beside_the_others_and_no_part_of_the_output(layout, assets):
    before = files(layout.folder)
    prune(layout, assets[0], "moved aside")
    gone = files(layout.folder / "gone")
    assert sorted(gone + [n for n in files(layout.folder) if not n.startswith("gone/")]) == before
    assert len(gone) == 3
    assert len(layout.list_all().records) == 1
    put(layout, assets[1], "partial")  # it came back, and leaves again
    prune(layout, assets[0], "moved aside")
    assert files(layout.folder / "gone") == gone


def test_a_version_without_any_assets_is_believed_to_be_a_mistake(layout, assets):
    listing = layout.list_version("000001", "draft")
    gone = gone_assets(listing, layout, [], of=("000001", "draft"), fate="deleted")
    assert {each.fate for each in gone} == {"kept"}


def test_results_of_embargoed_assets_are_sought_in_the_private_output(layout, assets, tmp_path):
    private = OutputLayout(tmp_path / "private", layout.options)
    put(private, assets[1])
    listing = private.list_version("000001", "draft")
    gone = gone_assets(listing, private, [assets[0]], of=("000001", "draft"), private=True, fate="deleted")
    before = files(layout.folder)
    prune_gone(gone, public=layout, private=private)
    assert (files(private.folder), files(layout.folder)) == ([], before)


def test_what_cannot_be_moved_is_told(layout, assets):
    layout.gone.write_text("a file where the folder should be")
    with pytest.raises(OutputError, match=r"bad/c\.nwb.*cannot be moved aside"):
        prune(layout, assets[0], "moved aside")
