import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from flows.flow_end import FlowEnd
from flows.json_lines import JsonLines
from flows.progress_tally import Tally
from flows.show_progress import open_progress, things_progress
from flows.things import Things
from flows.watched_run import WatchedRun
from shadowzarr.catalog.assets import CatalogAsset
from shadowzarr.catalog.jobs import IndexNews
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.plan import AssetWork, Plan, record_key
from shadowzarr.catalog.records import ErrorSummary, IndexRecord, RecordCounts

ASSET = CatalogAsset("000001", "draft", "id-1", "a.nwb", 2_000_000, "e-1")
WORK = AssetWork(ASSET, "u", ReferenceOptions(), record_key(ASSET, ReferenceOptions()), "new")
DONE = IndexRecord(
    "id-1", "000001", "draft", "a.nwb", "e-1", 2_000_000, "u", {}, "0", 1, "indexed",
    counts=RecordCounts(chunks=1500),
)  # fmt: skip
FAILED = replace(
    DONE,
    counts=RecordCounts(),
    asset_id="id-2",
    path="b.nwb",
    outcome="failed",
    error=ErrorSummary("index", "E", "it is text"),
)


@pytest.mark.parametrize("is_terminal", [False, True])
def test_bars_or_lines(is_terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, width=120, color_system=None)
    with open_progress(Plan(work=[WORK, WORK]), console=console) as progress:
        progress.asset_news(WORK, IndexNews(100, 1_000_000))
        progress.ended(DONE)
        progress.ended(FAILED)
    shown = out.getvalue()
    assert "failed  000001  b.nwb  index: it is text" in shown
    assert ("2/2" if is_terminal else "2 of 2 assets: 1,500 chunks, 2 MB") in shown
    assert ("2 assets to index (4 MB)" in shown) is not is_terminal


@pytest.mark.parametrize("is_terminal", [False, True])
def test_nothing_is_shown_of_a_run_that_is_stopped(is_terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, width=120, color_system=None)
    with open_progress(Plan(work=[WORK]), console=console) as progress:
        progress.close()
        shown = out.getvalue()
        progress.asset_news(WORK, IndexNews(100, 1_000_000))
        progress.ended(FAILED)
        assert out.getvalue() == shown
        assert shown.count("\x1b[?25h") == is_terminal  # the cursor is back


def test_news_of_assets_count_until_their_records_do():
    tally = Tally.of([WORK, WORK])
    tally.current["id-1"] = IndexNews(100, 1_000_000, 7)
    assert tally.requests_so_far == 7
    assert tally.eta_seconds is None
    assert tally.text().startswith("100 chunks, 1 MB")
    tally.add(DONE)
    assert tally.text().startswith("1,500 chunks, 2 MB")
    assert tally.eta_seconds == pytest.approx(tally.seconds, rel=0.5)  # two of a size: as long again
    assert " left" in tally.text()
    assert "requests/s" not in tally.text()
    tally.add(replace(FAILED, statistics={"requests": 5}))
    assert (tally.requests_so_far, tally.eta_seconds) == (5, 0.0)
    assert "requests/s" in tally.text()
    assert tally.text().endswith("1 failed")


def test_embargoed_assets_are_not_named():
    out = io.StringIO()
    with open_progress(Plan(work=[WORK]), console=Console(file=out, width=120)) as progress:
        progress.ended(replace(FAILED, private=True))
    assert "b.nwb" not in out.getvalue()
    assert "(an embargoed asset)" in out.getvalue()


def test_json_lines_tell_the_same_to_programs():
    out = io.StringIO()
    failed = replace(FAILED, private=True, path="secret.nwb", statistics={"requests": 3})
    with open_progress(Plan(work=[WORK, WORK]), json_lines=JsonLines(out)) as progress:
        progress.asset_news(WORK, IndexNews(100, 1_000_000, 2))
        progress.ended(DONE)
        progress.ended(failed)
    begin, done, bad, last = events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [each["event"] for each in events] == ["begin", "asset", "asset", "progress"]
    assert all(each["time"].endswith("Z") for each in events)
    assert (begin["assets_total"], begin["bytes_total"], begin["passed_over"]) == (2, 4_000_000, {})
    assert (done["path"], done["outcome"], done["chunks"], done["error"]) == ("a.nwb", "indexed", 1500, None)
    assert (bad["path"], bad["requests"]) == (None, 3)
    assert bad["error"] == {"stage": "index", "kind": "E", "message": "it is text", "transient": False}
    assert (last["assets_done"], last["assets_total"], last["failures"], last["requests"]) == (2, 2, 1, 3)
    assert (last["bytes_done"], last["bytes_total"], last["eta_seconds"]) == (2_000_000, 4_000_000, 0.0)
    assert "secret" not in out.getvalue()


def things(**values) -> Things:
    return Things(
        noun="repository",
        plural="repositories",
        verb="refresh",
        doing="refreshing",
        sizes=[0, 0],
        is_failed=lambda ended: ended == "bad",
        line=lambda ended: f"told {ended}" if ended == "bad" else "",
        event=lambda ended: {"outcome": ended},
        **values,
    )


def test_things_of_other_flows_are_told_the_same_way(capsys):
    run = WatchedRun()
    with things_progress(things(), run) as progress:
        progress.ended("good")
        progress.ended("bad")
        run.hush()
        progress.ended("after the run was stopped")
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == ["2 repositories to refresh", "told bad"]
    assert told[2].startswith("2 of 2 repositories: ")
    assert told[2].endswith(" repositories/s, 1 failed")
    assert len(told) == 3


def test_things_of_other_flows_as_json_lines():
    out = io.StringIO()
    lines = JsonLines(out)
    with things_progress(things(passed_over={"embargoed": 1}), WatchedRun(json_lines=lines)) as progress:
        progress.ended("good")
        progress.ended("bad")
    lines.end_of_flow(FlowEnd("1 failed.", 1, {"bad": 1}, reasons=["why"]), seconds=1.5, warnings=["w"])
    begin, good, bad, last, end = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (begin["event"], begin["repositories_total"], begin["passed_over"]) == (
        "begin",
        2,
        {"embargoed": 1},
    )
    assert [(each["event"], each["outcome"]) for each in (good, bad)] == [
        ("repository", "good"),
        ("repository", "bad"),
    ]
    assert (last["repositories_done"], last["repositories_total"], last["failures"]) == (2, 2, 1)
    assert (end["exit_code"], end["seconds"], end["report"], end["warnings"]) == (1, 1.5, None, ["w"])
