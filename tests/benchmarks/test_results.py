"""Results that are kept, and a page that shows every row although one was measured by itself."""

import dataclasses

import pytest

from benchmarks import results
from benchmarks.measure.outcome import Outcome
from benchmarks.options import read_options
from benchmarks.tables.comparison import Comparison
from benchmarks.tables.markers import markers

TITLES = ["first file, 3 chunks", "second file", "never measured"]


@pytest.fixture
def options(tmp_path):
    found = read_options("", [], ["--scratch", str(tmp_path)])
    return dataclasses.replace(found, is_written=True)


@pytest.fixture
def page(tmp_path, monkeypatch):
    path = tmp_path / "page.md"
    names = ("read", "read in full")
    path.write_text("\n".join(line for name in names for line in markers(name)))
    monkeypatch.setattr(results, "PAGE", path)
    return path


def comparison(title, seconds):
    ours = Outcome(seconds, requests=3, nbytes=9, ranges=[("a", 0, 9)], answer={"a": [1]})
    return Comparison(title, {"shadowzarr": ours, "peer": Outcome(2.0)}, {"peer": "aside"})


def test_the_page_shows_rows_of_earlier_runs(options, page):
    results.keep("read", comparison(TITLES[1], 4.0), options)
    latest = comparison(TITLES[0], 1.0)
    results.keep("read", latest, options)
    results.show("read", "pattern", [latest], options, TITLES)
    rows = [
        line for line in page.read_text().splitlines() if line.startswith(("| first", "| second", "| never"))
    ]
    assert [row.split(" |")[0] for row in rows] == [f"| {title}" for title in TITLES[:2]]


def test_what_is_kept_is_read_again(options):
    kept = comparison(TITLES[0], 1.0)
    results.keep("read", kept, options)
    found = results.kept("read", TITLES[0], options)
    assert found.asides == kept.asides
    assert found.outcomes["shadowzarr"].seconds == 1.0
    assert results.kept("read", TITLES[0], dataclasses.replace(options, is_quick=True)) is None
