"""Failures, left-out objects and assets passed over, grouped by cause."""

import inspect

from flows.report.asset_rows import asset_row, asset_rows, verification_text
from flows.report.groups import MOST_ITEMS, failure_groups, kept_groups, left_out_groups, passed_over_groups
from flows.report.remedies import remedy
from shadowzarr import errors
from shadowzarr.catalog import plan
from shadowzarr.catalog.records import ErrorSummary, SkippedObject, VerificationSummary
from shadowzarr.catalog.run_summary import KeptResult

from .conftest import make_failure, make_record, make_skipped

NOT_OF_AN_ASSET = {
    *("ConfigError", "OutputBusyError"),  # these end a whole run
    *("NeedsDataError", "OutOfRangeError"),  # what a program asks of a virtual array
    "ForeignJobError",  # it stands for any foreign error
}


def error_classes(module: object) -> set[type]:
    found = inspect.getmembers(module, inspect.isclass)
    return {cls for _, cls in found if issubclass(cls, Exception) and cls.__module__ == module.__name__}


def test_every_error_of_ours_has_its_own_remedy() -> None:
    classes = error_classes(errors)
    branches = {base.__name__ for cls in classes for base in cls.__mro__[1:]}
    raised = {cls.__name__ for cls in classes} - branches - NOT_OF_AN_ASSET
    general = [name for name in raised if name in remedy(name, transient=False).title]
    assert general == []


def test_an_error_without_a_remedy_is_named_and_advised_by_its_kind() -> None:
    assert remedy("OddError", transient=True).title == "A passing failure: OddError"
    assert "Run again" in remedy("OddError", transient=True).advice
    assert "report" in remedy("OddError", transient=False).advice


def test_failures_are_grouped_by_cause_the_most_frequent_first() -> None:
    slow = ErrorSummary("verify", "ChildTimedOutError", "took 600 s")
    records = [make_failure("b.nwb"), make_failure("c.nwb", error=slow), make_failure("a.nwb"), make_record()]
    groups = failure_groups(records)
    assert [(group.title, group.count) for group in groups] == [
        ("Truncated or damaged file", 2),
        ("Took longer than allowed", 1),
    ]
    assert [item.asset for item in groups[0].items] == ["000001/a.nwb", "000001/b.nwb"]
    assert groups[1].items[0].text == "verify: took 600 s"


def test_the_address_of_a_file_does_not_hide_what_is_said_about_it() -> None:
    record = make_failure()
    said = f"{record.url} is not an HDF5 file"
    record = make_failure(error=ErrorSummary("index", "NotHDF5Error", said))
    assert failure_groups([record])[0].items[0].text == "index: the file is not an HDF5 file"


def test_differences_stand_below_a_failed_verification() -> None:
    verification = VerificationSummary("full", differences=["/a: 1 is not 2"] * 30, difference_count=30)
    group = failure_groups([make_failure(verification=verification)])[0]
    assert group.items[0].lines == ("/a: 1 is not 2",) * 10


def test_a_failure_without_a_reason_is_still_shown() -> None:
    assert failure_groups([make_failure(error=None)])[0].items[0].text == "no reason was recorded"


def test_left_out_objects_are_grouped_by_kind_and_reason() -> None:
    skipped = [SkippedObject("/x", "dataset", "time"), SkippedObject("/y", "dataset", "time")]
    groups = left_out_groups([make_record(skipped=skipped), make_record("b.nwb", skipped=skipped[:1])])
    assert [(group.title, group.advice, group.count) for group in groups] == [("dataset", "time", 3)]
    assert [(item.asset, item.text) for item in groups[0].items] == [
        ("000001/b.nwb", "/x"),
        ("000001/sub-01/sub-01_ecephys.nwb", "/x"),
        ("000001/sub-01/sub-01_ecephys.nwb", "/y"),
    ]


def test_every_reason_for_passing_over_is_explained() -> None:
    for reason in plan.REASONS:
        group = passed_over_groups([make_skipped("a", reason)])[0]
        assert group.title == reason
        assert group.advice


def test_results_without_assets_are_grouped_by_what_they_are() -> None:
    kept = [KeptResult("000001", "draft", f"{n}.nwb", "references") for n in range(2)]
    kept.append(KeptResult("000001", "draft", "bad.nwb", "record of a failure"))
    groups = kept_groups(kept)
    assert [(group.title, group.count) for group in groups] == [
        ("references, kept", 2),
        ("record of a failure, kept", 1),
    ]
    assert groups[0].items[0].asset == "000001/draft/0.nwb"
    assert all(group.advice for group in groups)


def test_long_groups_are_cut_and_counted() -> None:
    group = passed_over_groups([make_skipped(f"{i}.mp4", "not NWB") for i in range(MOST_ITEMS + 5)])[0]
    assert (group.count, len(group.items)) == (MOST_ITEMS + 5, MOST_ITEMS)


def test_rows_begin_with_what_went_wrong_and_are_cut_at_the_end() -> None:
    records = [make_record("a.nwb"), make_record("b.nwb", outcome="partial"), make_failure("c.nwb")]
    assert [row.name for row in asset_rows(records)] == ["c.nwb", "b.nwb", "a.nwb"]
    assert [row.name for row in asset_rows(records, most=2)] == ["c.nwb", "b.nwb"]


def test_a_row_has_the_numbers_of_its_record() -> None:
    row = asset_row(make_record())
    assert (row.place, row.folder, row.name) == ("000001/draft", "sub-01/", "sub-01_ecephys.nwb")
    cells = (
        row.size,
        row.references,
        row.share,
        row.arrays,
        row.chunks,
        row.generate,
        row.verify,
        row.publish,
    )
    assert [cell.text for cell in cells] == [
        "2.50 GB",
        "412 kB",
        "0.016 %",
        "61",
        "16,384",
        "2.4 s",
        "1.1 s",
        "20 ms",
    ]
    assert row.size.order == 2_500_000_000
    assert row.link == "./dandisets/000001/draft/sub-01/sub-01_ecephys.nwb.shadowzarr/refs.json"


def test_a_failed_asset_has_no_link_and_no_numbers_of_references() -> None:
    row = asset_row(make_failure())
    assert (row.link, row.references.text, row.chunks.order, row.verify.text) == ("", "\u2013", -1, "\u2013")


def test_a_link_is_never_an_address_of_another_kind() -> None:
    assert asset_row(make_record(references="javascript:alert(1).shadowzarr.json")).link == (
        "./javascript%3Aalert%281%29.shadowzarr.json"
    )


def test_verification_says_what_was_compared() -> None:
    assert verification_text(make_record()) == "equal · 214 objects, 31 MB (sample)"
    different = VerificationSummary("full", objects=3, bytes=10, difference_count=1)
    assert verification_text(make_record(verification=different)) == "1 difference · 3 objects, 10 B (full)"
    assert verification_text(make_record(verification=None)) == "not verified"
    repointed = make_record(verification=None, repointed_from="x")
    assert verification_text(repointed) == "same blob, verified before"
