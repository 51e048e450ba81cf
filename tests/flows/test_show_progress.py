import io
from dataclasses import replace

import pytest
from rich.console import Console

from flows.show_progress import Tally, open_progress
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
        progress.asset_ended(DONE)
        progress.asset_ended(FAILED)
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
        progress.asset_ended(FAILED)
        assert out.getvalue() == shown
        assert shown.count("\x1b[?25h") == is_terminal  # the cursor is back


def test_news_of_assets_count_until_their_records_do():
    tally = Tally()
    tally.current["id-1"] = IndexNews(100, 1_000_000)
    assert tally.text().startswith("100 chunks, 1 MB")
    tally.add(DONE)
    assert tally.text().startswith("1,500 chunks, 2 MB")
    tally.add(FAILED)
    assert tally.text().endswith("1 failed")


def test_embargoed_assets_are_not_named():
    out = io.StringIO()
    with open_progress(Plan(work=[WORK]), console=Console(file=out, width=120)) as progress:
        progress.asset_ended(replace(FAILED, private=True))
    assert "b.nwb" not in out.getvalue()
    assert "(an embargoed asset)" in out.getvalue()
