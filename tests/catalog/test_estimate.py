"""What a plan will take, from earlier records or from sizes."""

from dataclasses import replace

import pytest
from records_by_hand import record_of

from shadowzarr.catalog.estimate import LIKE_IT, Prices, cost_by_size, earlier_costs, estimate_plan
from shadowzarr.catalog.plan import SelectionRules, make_plan, record_key
from shadowzarr.catalog.records import StageTime, write_record


def etag(number: int) -> str:
    return f"{number:032x}-1"


@pytest.fixture
def plan_of(layout, asset):
    def plan_of(*sizes, etags=None):
        assets = [
            replace(asset, path=f"{n}.nwb", size=size, etag=etag(900 + n if etags is None else etags[n]))
            for n, size in enumerate(sizes)
        ]
        return make_plan(
            assets, SelectionRules(), public=layout, public_listing=layout.list_version("9", "x")
        )

    return plan_of


@pytest.fixture
def put_record(layout, asset):
    """Writes the record of an earlier asset: its size, and what it took."""

    def put(number, *, size, requests, seconds=2.0, **changes):
        done = replace(asset, path=f"done/{number}.nwb", etag=etag(number), size=size)
        key = record_key(done, layout.options)
        values = {
            "options_digest": key.options_digest,
            "references_bytes": size // 10,
            "statistics": {"requests": requests, "bytes_read": 1000 * requests},
            "stages": [StageTime("index", "", seconds)],
        }
        record = record_of(done, **(values | changes))
        path = layout.record_path(done, key, record.outcome)
        write_record(record, path, scratch=layout.staging)

    return put


def test_without_records_it_is_made_of_sizes(layout, plan_of):
    found = estimate_plan(plan_of(10**6, 10**9), [layout], concurrency=1)
    expected = [cost_by_size(size) for size in (10**6, 10**9)]
    assert (found.basis, found.records, found.assets) == ("sizes", 0, 2)
    assert found.requests == round(sum(cost.requests for cost in expected))
    assert found.bytes_read == sum(cost.bytes_read for cost in expected)
    assert found.cost is None
    assert cost_by_size(1000).bytes_read == 1000


def test_assets_of_like_size_tell_what_one_takes(layout, plan_of, put_record):
    for number in range(LIKE_IT):
        put_record(number, size=1000 + number, requests=4)
        put_record(100 + number, size=10**9 + number, requests=40, seconds=20.0)
    small = estimate_plan(plan_of(1500), [layout], concurrency=1)
    assert (small.basis, small.records) == ("records", 2 * LIKE_IT)
    assert (small.requests, small.bytes_read, small.seconds) == (4, 4000, 2.0)
    both = estimate_plan(plan_of(1500, 2 * 10**9), [layout], concurrency=2)
    assert (both.requests, both.bytes_read) == (44, 44_000)
    assert both.seconds == 20.0  # the longest one, for the other is done beside it
    assert estimate_plan(plan_of(*[1500] * 10), [layout], concurrency=2).seconds == 10.0


def test_only_what_was_made_tells_what_making_takes(layout, put_record):
    put_record(1, size=1000, requests=4)
    put_record(2, size=1000, requests=99, outcome="failed")
    put_record(3, size=1000, requests=99, repointed_from="another")
    put_record(4, size=1000, requests=99, statistics={})
    (only,) = earlier_costs([layout])
    assert only[1].requests == 4
    (file,) = layout.folder.glob("**/1.nwb.*.record.json")
    file.write_text("{}")
    assert earlier_costs([layout]) == []


def test_a_blob_that_is_known_costs_no_request(layout, plan_of, put_record):
    put_record(1, size=1000, requests=4)
    plan = plan_of(1000, 1000, 1000, etags=[7, 7, 8])
    known = (False, plan.work[2].key.blob_key)
    found = estimate_plan(plan, [layout], concurrency=1, twins=[known])
    assert (found.assets, found.pointed, found.requests, found.seconds) == (3, 2, 4, 4.0)


def test_prices_make_a_cost(layout, plan_of, put_record):
    put_record(
        1, size=1000, requests=2000, seconds=1800.0, statistics={"requests": 2000, "bytes_read": 2**29}
    )
    prices = Prices(per_thousand_requests=0.5, per_gib_read=4.0, per_hour=10.0)
    assert estimate_plan(plan_of(1000), [layout], concurrency=1, prices=prices).cost == 1.0 + 2.0 + 5.0
    assert estimate_plan(plan_of(1000), [layout], concurrency=1, prices=Prices()).cost is None


def test_nothing_to_do_takes_nothing(layout, plan_of):
    found = estimate_plan(plan_of(), [layout], concurrency=2)
    assert (found.assets, found.requests, found.seconds) == (0, 0, 0.0)


def test_local_files_take_no_requests(layout, plan_of, put_record):
    def local(plan):
        plan.work = [replace(work, asset=replace(work.asset, local_path="/a.nwb")) for work in plan.work]
        return plan

    by_size = estimate_plan(local(plan_of(10**6)), [layout], concurrency=1)
    assert (by_size.requests, by_size.bytes_read) == (0, 0)
    assert by_size.seconds > 0
    put_record(1, size=1000, requests=40)
    put_record(2, size=1000, requests=0, seconds=0.5)
    of_local = estimate_plan(local(plan_of(1000)), [layout], concurrency=1)
    assert (of_local.records, of_local.requests, of_local.seconds) == (1, 0, 0.5)
    of_remote = estimate_plan(plan_of(1000), [layout], concurrency=1)
    assert (of_remote.records, of_remote.requests, of_remote.seconds) == (1, 40, 2.0)
