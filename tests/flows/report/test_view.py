"""What a report shows of a run: tiles, settings, plots."""

import xml.etree.ElementTree as ElementTree

from flows.report.plots import plots
from flows.report.view import report_view
from shadowzarr.catalog.records import StageTime, VerificationSummary
from shadowzarr.catalog.run_summary import KeptResult

from .conftest import make_failure, make_record, make_skipped, make_summary, stamp


def tiles(summary) -> dict[str, tuple[str, str]]:
    return {tile.label: (tile.value, tile.note) for tile in report_view(summary).tiles}


def test_tiles_count_assets_bytes_and_time() -> None:
    records = [make_record(), make_record(outcome="partial"), make_failure()]
    skipped = [make_skipped("a.nwb", "unchanged"), make_skipped("b.mp4", "not NWB")]
    assert tiles(make_summary(records, skipped=skipped, not_started=2)) == {
        "Indexed": ("2", "1 with objects left out"),
        "Unchanged": ("1", "done by an earlier run"),
        "Passed over": ("1", "reasons below"),
        "Failed": ("1", "2 not started"),
        "Files": ("5 GB", "3.80 MB read to index them"),
        "References": ("824 kB", "0.016 % of the files"),
        "Verified": ("2 of 2", "62 MB compared"),
        "Time": ("1 min 15 s", "7.3 s of work"),
    }


def test_an_unverified_asset_is_not_counted_as_verified() -> None:
    records = [make_record(), make_record(verification=VerificationSummary("none"))]
    assert tiles(make_summary(records))["Verified"][0] == "1 of 2"


def test_settings_name_the_configuration_and_the_options() -> None:
    settings = dict(report_view(make_summary([make_record()])).settings)
    assert settings["configuration"] == "configs/demo.yaml"
    assert settings["dandisets"] == "000001 (draft), 000002 (0.260302.0100)"
    assert settings["references.chunk_index_threshold"] == "1000"


def test_plots_of_a_run_without_records_are_none() -> None:
    assert plots(make_summary()) == []


def test_a_failed_asset_is_in_the_plot_of_times_and_not_in_that_of_references() -> None:
    drawn = {plot.title: plot for plot in plots(make_summary([make_record(), make_failure()]))}
    assert [kind for kind, _ in drawn["Time to generate"].legend] == ["indexed", "failed"]
    assert [kind for kind, _ in drawn["Size of the references"].legend] == ["indexed"]


def test_prefects_start_is_told_and_is_not_in_the_timeline() -> None:
    record = make_record(stages=[StageTime("index", stamp(40), 10.0, 3)])
    summary = make_summary([record], startup_seconds=38.0)
    assert tiles(summary)["Time"] == ("1 min 15 s", "10.0 s of work, 38.0 s Prefect's start")
    drawn = {plot.title: plot for plot in plots(summary)}["Timeline"]
    (bar,) = ElementTree.fromstring(drawn.drawing).findall("rect")
    assert float(bar.get("width")) == 750.0
    assert "Prefect's start (38.0 s) is left out" in drawn.note


def test_results_without_assets_are_shown_but_private_ones_counted() -> None:
    kept = [
        KeptResult("000001", "draft", "old.nwb", "references"),
        KeptResult("000002", "draft", "secret.nwb", "references", private=True),
    ]
    public = report_view(make_summary(kept=kept))
    assert [item.asset for group in public.kept for item in group.items] == ["000001/draft/old.nwb"]
    assert public.private_count == 1
    private = report_view(make_summary(kept=kept), include_private=True)
    assert (private.kept[0].count, private.private_count) == (2, 0)


def test_the_timeline_counts_from_the_start_of_the_run() -> None:
    record = make_record(stages=[StageTime("index", stamp(10), 10.0, 3)])
    drawn = {plot.title: plot for plot in plots(make_summary([record]))}["Timeline"]
    (bar,) = ElementTree.fromstring(drawn.drawing).findall("rect")
    assert float(bar.get("width")) == 450.0
    assert bar.find("title").text == "sub-01_ecephys.nwb: index, 10.0 s"
    assert ">worker 3</text>" in drawn.drawing


def test_requests_are_plotted_against_chunks_but_not_those_of_local_files() -> None:
    local = make_record("local.nwb", statistics={"requests": 0.0})
    drawn = {plot.title: plot for plot in plots(make_summary([make_record(), local]))}
    assert "sub-01_ecephys.nwb: 16,384 chunks, 41 requests" in drawn["Requests"].drawing
    assert "local.nwb" not in drawn["Requests"].drawing
    assert "Requests" not in {plot.title for plot in plots(make_summary([local]))}


def test_what_was_verified_is_plotted_by_what_was_found() -> None:
    different = VerificationSummary("full", equal=False, objects=9, bytes=500, difference_count=2)
    records = [
        make_record(),
        make_failure("bad.nwb", verification=different),
        make_record("new.nwb", verification=None),
        make_failure(),
    ]
    drawn = {plot.title: plot for plot in plots(make_summary(records))}["Verification"]
    assert drawn.note == "1 equal, 1 different, 1 not verified."
    assert drawn.legend == (("indexed", "equal"), ("failed", "different"))
    assert "bad.nwb: 2 differences" in drawn.drawing
    assert "new.nwb" not in drawn.drawing


def test_a_report_has_every_plot() -> None:
    titles = {plot.title for plot in plots(make_summary([make_record()]))}
    assert titles == {"Time to generate", "Size of the references", "Requests", "Verification", "Timeline"}
