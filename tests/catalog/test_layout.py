from dataclasses import replace

import pytest

from shadowzarr.catalog.layout import (
    OutputLayout,
    RecordKey,
    layout_at,
    parse_record_name,
    place_of,
    record_suffix,
)
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.errors import OutputError

KEY = RecordKey(
    "0b34d3dd-037a-4dcb-9d8f-1073895048e1", "3f4734664390d668bbb6b2e19f603582-12", "0123456789ab", 1
)


def test_places_of_one_asset(layout, asset):
    folder = layout.folder / "dandisets/000001/draft/sub-1"
    assert layout.references_path(asset) == folder / "a.nwb.shadowzarr"
    assert layout.other_form_path(asset) == folder / "a.nwb.shadowzarr.json"
    record = layout.record_path(asset, KEY, "indexed")
    assert record.parent == folder
    assert record.name == (
        "a.nwb.0b34d3dd-037a-4dcb-9d8f-1073895048e1.3f4734664390d668bbb6b2e19f603582-12"
        ".0123456789ab.f1.indexed.record.json"
    )
    assert layout.relative(record).startswith("dandisets/000001/draft/sub-1/a.nwb.")


def test_the_place_of_an_asset_is_found_from_its_references(layout, asset):
    for path in (layout.references_path(asset), layout.other_form_path(asset)):
        assert place_of(path) == layout.place(asset)


def test_the_form_decides_the_suffix(tmp_path, asset):
    layout = OutputLayout(tmp_path, ReferenceOptions(form="json"))
    assert layout.references_path(asset).name == "a.nwb.shadowzarr.json"
    assert layout.other_form_path(asset).name == "a.nwb.shadowzarr"
    assert layout.staged_references(asset).suffix == ".json"


def test_staging_is_one_folder_per_asset_of_a_version(layout, asset):
    others = [replace(asset, path="b.nwb"), replace(asset, version="0.240101.1200")]
    folders = {layout.staging_folder(each) for each in [asset, asset, *others]}
    assert len(folders) == 3
    assert layout.staged_references(asset).parent == layout.staging_folder(asset)


@pytest.mark.parametrize("outcome", ["indexed", "partial", "failed"])
@pytest.mark.parametrize("stem", ["a.nwb", "a.b-1.f2.nwb", "ü", "a\nb"])
def test_a_record_name_tells_everything(stem, outcome):
    assert parse_record_name(stem + record_suffix(KEY, outcome)) == (stem, KEY, outcome)


@pytest.mark.parametrize(
    "name",
    [
        "a.nwb",
        "refs.json",
        "a.record.json",
        "a" + record_suffix(KEY, "odd"),
        "a" + record_suffix(KEY, "failed") + "x",
    ],
)
def test_other_names_are_no_records(name):
    assert parse_record_name(name) is None


def test_a_path_that_would_leave_its_place_is_refused(layout, asset):
    with pytest.raises(OutputError, match="cannot be a path of the output"):
        layout.place(replace(asset, path="../a.nwb"))


def test_what_an_output_says_of_a_version_lies_outside_of_its_folder(layout):
    assert layout.skipped_path("000001", "draft") == layout.folder / "dandisets/000001/draft.skipped.json"
    for path in (layout.skipped_path("000001", "draft"), layout.report, layout.lock, layout.staging):
        assert not path.is_relative_to(layout.version_folder("000001", "draft"))


def test_a_listing_finds_records_and_references_without_looking_into_them(layout, asset):
    references = layout.references_path(asset)
    (references / "index").mkdir(parents=True)
    (references / "index" / ("x" + record_suffix(KEY, "indexed"))).write_text("no record")
    record = layout.record_path(asset, KEY, "partial")
    record.write_text("")
    (record.parent / "notes.txt").write_text("")
    listing = layout.list_version("000001", "draft")
    place = layout.place(asset)
    assert listing.references == {references}
    assert [(r.key, r.outcome, r.path) for r in listing.records[place]] == [(KEY, "partial", record)]
    assert listing.done(place, references) == listing.records[place]
    assert list(layout.list_all().records) == [place]


def test_a_record_without_references_is_not_done(layout, asset):
    record = layout.record_path(asset, KEY, "indexed")
    record.parent.mkdir(parents=True)
    record.write_text("")
    assert (
        layout.list_version("000001", "draft").done(layout.place(asset), layout.references_path(asset)) == []
    )


def test_a_folder_that_does_not_exist_holds_nothing(tmp_path):
    listing = layout_at(tmp_path / "missing").list_all()
    assert (listing.records, listing.references) == ({}, set())


def test_a_file_where_a_folder_should_be_is_told(tmp_path):
    (tmp_path / "dandisets").write_text("")
    with pytest.raises(OutputError, match="cannot list"):
        layout_at(tmp_path).list_all()
