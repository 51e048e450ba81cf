import io
from dataclasses import replace

import pytest
from rich.console import Console

from flows.summary_text import failure_line, markdown_summary, print_estimate, print_plan, print_summary
from shadowzarr.catalog.assets import CatalogAsset
from shadowzarr.catalog.estimate import Estimate
from shadowzarr.catalog.index_run import RunLog
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.plan import AssetWork, Plan, record_key
from shadowzarr.catalog.records import ErrorSummary, IndexRecord, RecordCounts
from shadowzarr.catalog.resolve import ResolvedVersion
from shadowzarr.catalog.run_summary import KeptResult, RunSummary, SkippedAsset

GOOD = IndexRecord(
    "i", "000001", "draft", "a.nwb", "e-1", 3_000_000, "u", {}, "0", 1, "indexed",
    references_bytes=1500, counts=RecordCounts(chunks=1234),
)  # fmt: skip
BAD = replace(GOOD, path="b.nwb", outcome="failed", error=ErrorSummary("verify", "E", "[bold] is no markup"))


def summary(*records, **changes):
    values = {
        "flow": "index_dandisets", "config_digest": "", "config_path": "", "archive": "", "output": "",
        "dandisets": [("000001", "draft")], "started": "", "finished": "", "seconds": 12.34, "versions": {},
        "records": list(records),
        "skipped": [SkippedAsset("000001", "draft", "n.txt", "i", 1, "not NWB")],
    }  # fmt: skip
    return RunSummary(**(values | changes))


def printed(function, *arguments, **options) -> str:
    out = io.StringIO()
    function(Console(file=out, width=100), *arguments, **options)
    return out.getvalue()


def test_a_summary_counts_and_names_failures(capsys):
    text = printed(print_summary, summary(GOOD, BAD, not_started=4, warnings=["W"]), report="out/report.html")
    words = " ".join(text.split())
    for expected in (
        "indexed and verified │ 1", "failed │ 1", "passed over: not NWB │ 1", "source files │ 3 MB",
        "references │ 1.50 kB", "chunks │ 1,234", "time │ 12.3 s", "verify: [bold] is no markup",
        "4 assets not started, because", "report: out/report.html",
    ):  # fmt: skip
        assert expected in words
    assert "warning" not in text
    assert capsys.readouterr().err == "warning: W\n"
    assert "1 asset not started" in printed(print_summary, summary(BAD, not_started=1), report="r")


def test_many_failures_are_cut_short():
    text = printed(print_summary, summary(*[BAD] * 25), report="r")
    assert "and 5 more; the report names all" in text


def test_failures_that_were_told_are_only_counted():
    text = printed(print_summary, summary(GOOD, BAD), report="r", names_failures=False)
    assert "failed │ 1" in " ".join(text.split())
    assert "b.nwb" not in text


def test_the_time_says_how_much_of_it_was_prefects_start():
    text = printed(print_summary, summary(GOOD, seconds=75.0, startup_seconds=38.2), report="r")
    words = " ".join(text.split())
    assert "time │ 1 min 15 s" in words
    assert "of it Prefect's start │ 38.2 s" in words
    assert "Prefect" not in printed(print_summary, summary(GOOD), report="r")


def test_the_address_of_a_file_does_not_stand_beside_its_path():
    url = "http://h/api/assets/5a9cc6f1-aeaf-46cc-aae7-ea27960236ea/download/"
    error = ErrorSummary("index", "E", f"{url} is not an HDF5 file")
    line = failure_line(replace(BAD, url=url, error=error))
    assert line == "failed  000001  b.nwb  index: the file is not an HDF5 file"


KEPT = [
    KeptResult("000001", "draft", "old.nwb", "references"),
    KeptResult("000001", "draft", "[bad].nwb", "record of a failure"),
    KeptResult("000002", "draft", "secret.nwb", "references", private=True),
]


def test_results_without_assets_are_named():
    log = RunLog(plan=Plan(kept=KEPT))
    for text in (
        printed(print_plan, log, output="out", warnings=[]),
        printed(print_summary, summary(kept=KEPT), report="r"),
        markdown_summary(summary(kept=KEPT)),
    ):
        assert "no longer in the version: kept  000001  old.nwb  (references)" in text
        assert "kept  000001  [bad].nwb  (record of a failure)" in text
        assert "kept  000002  (an embargoed asset)" in text
        assert "secret" not in text
    many = printed(print_summary, summary(kept=KEPT[:1] * 25), report="r")
    assert "and 5 more that are no longer in their version" in many


def test_warnings_of_the_plan_are_printed(capsys):
    log = RunLog(plan=Plan(warnings=["no match"]))
    assert "warning" not in printed(print_plan, log, output="out", warnings=["W"])
    assert capsys.readouterr().err == "warning: W\nwarning: no match\n"


def test_the_summary_for_prefects_page():
    text = markdown_summary(summary(GOOD, BAD, warnings=["W"]))
    assert "| failed | 1 |" in text
    assert "- failed  000001  b.nwb  verify: [bold] is no markup" in text
    assert "- W" in text


def test_embargoed_assets_are_not_named():
    assert failure_line(replace(BAD, private=True)) == (
        "failed  000001  (an embargoed asset)  verify: [bold] is no markup"
    )


def test_a_plan_says_what_and_why():
    asset = CatalogAsset("000001", "draft", "i", "sub/[x].nwb", 5000, "e-1")
    options = ReferenceOptions()
    work = [
        AssetWork(asset, "u", options, record_key(asset, options), "changed", private)
        for private in (False, True)
    ]
    log = RunLog(
        versions=[ResolvedVersion("000001", "draft", is_open=True)],
        plan=Plan(work * 15, summary().skipped),
    )
    text = printed(print_plan, log, output="out", warnings=["W"])
    words = " ".join(text.split())
    for expected in (
        "000001 │ draft │ 30 │ 150 kB │ 1 not NWB", "000001 sub/[x].nwb 5 kB (changed)",
        "(an embargoed asset)", "and 10 more",
        "30 assets would be indexed into out; nothing was done.",
    ):  # fmt: skip
        assert expected in words


HELD = [
    SkippedAsset("000001", "draft", "bad.nwb", "i", 1, "quarantined", "failed on 2026-01-02: [why]"),
    SkippedAsset("000001", "draft", "a//b.nwb", "i", 1, "unusable path", "an empty part"),
    SkippedAsset("000002", "draft", "secret.nwb", "i", 1, "quarantined", "secret", private=True),
]


def test_what_is_wanted_and_passed_over_is_named_with_the_reason():
    held = summary(skipped=HELD)
    for text in (
        printed(print_plan, RunLog(plan=Plan(skipped=HELD)), output="out", warnings=[]),
        printed(print_summary, held, report="r"),
        markdown_summary(held),
    ):
        assert "quarantined  000001  bad.nwb  (failed on 2026-01-02: [why])" in text
        assert "unusable path  000001  a//b.nwb  (an empty part)" in text
        assert "quarantined  000002  (an embargoed asset)" in text
        assert "secret" not in text
    many = printed(print_summary, summary(skipped=HELD[:1] * 25), report="r")
    assert "and 5 more that are passed over" in many


@pytest.mark.parametrize(
    ("records", "changes", "line"),
    [
        ([GOOD], {}, None),
        ([GOOD, BAD], {"not_started": 2}, "exit code 1: 1 asset failed, 2 assets not started"),
        ([GOOD], {"skipped": HELD}, "exit code 3: 2 assets in quarantine"),
        (
            [replace(GOOD, outcome="partial")],
            {"left_out_before": 2},
            "exit code 3: 1 indexed asset with objects left out, 2 unchanged assets with objects left out "
            "by an earlier run",
        ),
    ],
)
def test_a_summary_ends_with_why_the_exit_code_is_not_0(records, changes, line):
    made = summary(*records, **changes)
    assert (made.exit_code == 0) == (line is None)
    assert printed(print_summary, made, report="r").splitlines()[-1] == (line or "report: r")


def test_an_estimate_of_local_files_has_no_requests():
    values = {"assets": 2, "pointed": 0, "bytes_read": 0, "seconds": 3.0, "bytes_written": 10, "records": 0}
    text = printed(print_estimate, Estimate(requests=0, **values), currency="USD")
    assert "2 assets; no requests, 10 B written, 3.0 s" in " ".join(text.split())
    text = printed(print_estimate, Estimate(requests=7, **values), currency="USD")
    assert "2 assets; 7 requests and 0 B read to index (verification not counted), 10 B" in " ".join(
        text.split()
    )


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(None, "3.0 s"), (0.0, "0.00 USD"), (0.004, "less than 0.01 USD"), (1234.5, "1,234.50 USD")],
)
def test_a_price_is_shown_when_there_are_prices(cost, shown):
    estimate = Estimate(
        assets=2, pointed=0, requests=7, bytes_read=0, seconds=3.0, bytes_written=10, records=0, cost=cost
    )
    text = " ".join(printed(print_estimate, estimate, currency="USD").split())
    assert text.endswith(f" {shown}")
