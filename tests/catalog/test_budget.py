"""Work by a budget: the oldest first, never nothing, and in the end all of it."""

from dataclasses import replace

import pytest

from shadowzarr.catalog import budget as budget_module
from shadowzarr.catalog.budget import Budget, TimeBudget, plan_within
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.layout import Listing
from shadowzarr.catalog.plan import SelectionRules, make_plan
from shadowzarr.catalog.records import read_record


@pytest.fixture
def plan_of(layout, asset):
    """Makes a plan of assets by their names: size and day of modification."""

    def plan_of(**assets):
        made = [
            replace(asset, path=f"{name}.nwb", size=size, modified=day and f"2026-03-{day:02d}T00:00:00Z")
            for name, (size, day) in assets.items()
        ]
        return make_plan(made, SelectionRules(), public=layout, public_listing=Listing())

    return plan_of


def names(plan):
    return [work.asset.path[0] for work in plan.work], [each.path[0] for each in plan.skipped]


def test_the_oldest_come_first_as_far_as_the_bytes_go(plan_of):
    plan = plan_of(a=(10, 3), b=(10, 1), c=(10, 2), d=(10, ""))
    plan_within(plan, Budget(nbytes=35))
    assert names(plan) == (["d", "b", "c"], ["a"])
    assert (plan.skipped[0].reason, plan.skipped[0].detail) == (
        "left for another run",
        "the budget of 35 bytes for a run",
    )


def test_one_that_is_larger_than_the_budget_is_done_alone(plan_of):
    plan = plan_of(a=(100, 1), b=(1, 2))
    plan_within(plan, Budget(nbytes=35))
    assert names(plan) == (["a"], ["b"])


def test_without_bytes_only_the_order_changes(plan_of):
    plan = plan_of(a=(10, 3), b=(10, 1))
    plan_within(plan, Budget(seconds=9.0))
    assert names(plan) == (["b", "a"], [])


def test_when_the_time_is_over_no_further_asset_is_started(plan_of, monkeypatch):
    plan = plan_of(a=(10, 1), b=(10, 2), c=(10, 3))
    third = plan.work[2]
    passed = iter([5.0, 11.0])
    monkeypatch.setattr(budget_module, "_since", lambda started: next(passed))
    time_budget = TimeBudget(plan, Budget(seconds=10.0))
    assert [time_budget.may_start() for _ in plan.work] == [True, True, False]
    time_budget.leave([third])
    assert names(plan) == (["a", "b"], ["c"])
    assert plan.skipped[0].detail == "the budget of 10 seconds for a run"
    monkeypatch.setattr(budget_module, "_since", lambda started: 99.0)
    assert TimeBudget(plan, Budget(seconds=10.0)).may_start()  # else a run would never do anything


@pytest.mark.parametrize("budget", [None, Budget(nbytes=5)])
def test_without_seconds_there_is_always_time(plan_of, budget):
    time_budget = TimeBudget(plan_of(a=(10, 1)), budget)
    assert all(time_budget.may_start() for _ in range(3))


def test_runs_go_on_where_the_one_before_ended(archive, request_of, pool, write_file, tmp_path):
    for number in (2, 3, 4):
        file = write_file(tmp_path / "files" / f"{number}.nwb", seed=number)
        archive.archive.add_asset("000001", f"early/{9 - number}.nwb", file)
    size = archive.archive.blob(archive.archive.asset_at("000001", "sub-0/0.nwb").blob_id).size
    request = request_of(budget=Budget(nbytes=2 * size + size // 2))
    done = []
    for left in (3, 1, 0, 0):
        summary = index_dandisets(request, pool=pool)
        assert (summary.exit_code, summary.not_started) == (0, 0)
        assert summary.plan_counts.get("left for another run", 0) == left
        done.append(sorted(record.path for record in summary.records))
    # In the order in which they were added, which their paths are not in.
    assert done == [
        ["sub-0/0.nwb", "sub-1/1.nwb"],
        ["early/6.nwb", "early/7.nwb"],
        ["early/5.nwb"],
        [],
    ]
    records = [read_record(path) for path in (tmp_path / "out").rglob("*.record.json")]
    assert [record.outcome for record in records] == ["indexed"] * 5
