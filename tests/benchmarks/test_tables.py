"""Outcomes as Markdown, and their place in the page."""

import pytest

from benchmarks.measure.outcome import Outcome, median
from benchmarks.measure.rounds import best_peer, interleaved
from benchmarks.measure.run_contender import Contender
from benchmarks.options import PAGE
from benchmarks.tables import figures
from benchmarks.tables.comparison import Comparison, details, summary
from benchmarks.tables.markers import markers, replace_between

OUTCOMES = {
    "shadowzarr": Outcome(2.0, requests=3600, nbytes=9_300_000, depth=4, rounds=57, peak_rss=120_000_000),
    "limit": Outcome(1.6, requests=3600, nbytes=9_300_000, depth=1, rounds=57, peak_rss=60_000_000),
    "slow": Outcome(100.0, requests=3465, nbytes=2 * 10**8, depth=3465, rounds=3465, peak_rss=10**8),
    "wrong": Outcome(1.0, "wrong: 3 chunks", requests=1, nbytes=1, depth=1, rounds=1, peak_rss=10**8),
    "late": Outcome(None, "> 300 s"),
}
COMPARISON = Comparison("v1 B-tree", OUTCOMES)


@pytest.mark.parametrize(
    ("value", "text"), [(111.52, "112"), (18.94, "18.9"), (3.666, "3.67"), (0.641, "0.64"), (0.0784, "0.078")]
)
def test_seconds_have_the_figures_that_mean_something(value, text):
    assert figures.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(35.4, "35 ×"), (2.53, "2.5 ×"), (0.97, "1.0 ×"), (0.641, "0.64 ×")]
)
def test_ratios(value, text):
    assert figures.ratio(value) == text


@pytest.mark.parametrize(("nbytes", "text"), [(821_000_000, "821"), (9_300_000, "9.3"), (64_000, "0.06")])
def test_megabytes(nbytes, text):
    assert figures.megabytes(nbytes) == text


def test_waits_for_a_place_stand_in_brackets():
    assert figures.depth(4, 57) == "4 (57)"
    assert figures.depth(4, 4) == "4"


def test_the_summary_compares_with_the_fastest_peer_that_is_right():
    row = summary([COMPARISON], "file").splitlines()[2]
    assert row == "| v1 B-tree | 50 × | 1.2 × | 4 (57) | 3,600 | 9.3 | 120 | 2.00 | slow |"


def test_a_task_that_we_fail_says_why():
    row = summary([Comparison("v1", {**OUTCOMES, "shadowzarr": Outcome(None, "failed: x")})], "file")
    assert row.splitlines()[2].startswith("| v1 | failed: x | –")


def test_all_contenders_are_listed_also_those_without_a_result():
    lines = details([COMPARISON]).splitlines()
    assert lines[0] == "**v1 B-tree**"
    assert [line.split("|")[1].strip() for line in lines[4:]] == [
        "wrong",
        "limit",
        "shadowzarr",
        "slow",
        "late",
    ]
    assert lines[-1] == "| late | – | – | – | – | – | – | > 300 s |"
    assert "| wrong: 3 chunks |" in lines[4]


def test_nothing_was_asked_of_a_server():
    assert "| – | – | – | 1.0 |" in details([Comparison("t", {"shadowzarr": Outcome(1.0, peak_rss=10**6)})])


def test_text_between_markers_is_replaced_and_the_rest_stays():
    first, last = markers("read")
    page = f"# Title\n\n{first}\nold\n{last}\n\nEnd\n"
    once = replace_between(page, "read", "| new |\n")
    assert once == f"# Title\n\n{first}\n\n| new |\n\n{last}\n\nEnd\n"
    assert replace_between(once, "read", "| new |\n") == once


@pytest.mark.parametrize("page", ["", "{0}", "{1}{0}", "{0}{0}{1}"])
def test_a_page_without_its_markers_is_refused(page):
    with pytest.raises(ValueError, match="once each"):
        replace_between(page.format(*markers("read")), "read", "text")


def test_the_run_in_the_middle_counts():
    assert median([Outcome(3.0), Outcome(1.0), Outcome(2.0)]).seconds == 2.0
    assert median([Outcome(3.0), Outcome(1.0)]).seconds == 1.0


def test_one_failure_counts_more_than_two_results():
    assert median([Outcome(3.0), Outcome(None, "failed"), Outcome(2.0)]).note == "failed"
    assert median([Outcome(3.0), Outcome(1.0, "wrong")]).note == "wrong"


def test_the_best_peer_is_right_and_no_limit():
    assert best_peer(OUTCOMES, {"shadowzarr", "limit"}) == "slow"
    assert best_peer({"shadowzarr": Outcome(1.0)}, {"shadowzarr"}) is None


def test_who_is_no_peer_is_listed_with_the_reason():
    walk = Comparison("t", {**OUTCOMES, "walk": Outcome(3.0)}, {"walk": "makes no references"})
    assert "| 50 × |" in summary([walk], "file")
    assert "| walk | 1.5 × | – | – | – | 0.00 | 3.00 | makes no references |" in details([walk])


def test_contenders_take_turns_and_long_ones_run_once(tmp_path):
    seconds = {"a": 1.0, "b": 21.0}
    turns = []

    def run(contender):
        turns.append(contender.name)
        return Outcome(seconds[contender.name])

    who = [Contender(name, "module", tmp_path, {}) for name in seconds]
    assert {name: each.seconds for name, each in interleaved(who, run).items()} == seconds
    assert turns == ["a", "b", "a", "a"]


def test_the_page_has_a_place_for_every_table():
    page = PAGE.read_text(encoding="utf-8")
    for name in ("generate", "generate in full", "read", "read in full"):
        assert replace_between(page, name, "text").count("\ntext\n") == 1
