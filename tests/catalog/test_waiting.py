"""Assets that wait: versions take turns, and busy hosts are passed by."""

from dataclasses import replace

import pytest

from shadowzarr.catalog.limits import Limits, host_of
from shadowzarr.catalog.plan import AssetWork, record_key
from shadowzarr.catalog.waiting import Waiting, in_turns


@pytest.fixture
def work_of(asset, layout):
    def make(name, *, dandiset="000001", host="a.org", local=""):
        each = replace(asset, path=name, dandiset=dandiset, local_path=local)
        url = f"https://{host}/{name}"
        return AssetWork(each, url, layout.options, record_key(each, layout.options), "new")

    return make


def paths(works):
    return [work.asset.path for work in works]


def test_dandisets_take_turns(work_of):
    large = [work_of(f"l{n}", dandiset="000001") for n in range(5)]
    small = [work_of(f"s{n}", dandiset="000002") for n in range(2)]
    least = [work_of("x", dandiset="000003")]
    assert paths(in_turns(large + small + least)) == ["l0", "s0", "x", "l1", "s1", "l2", "l3", "l4"]
    assert in_turns([]) == []


def test_versions_of_one_dandiset_take_turns_too(work_of):
    draft = [work_of(f"d{n}") for n in range(2)]
    published = [
        replace(work, asset=replace(work.asset, version="0.1", path=f"p{n}")) for n, work in enumerate(draft)
    ]
    assert paths(in_turns(draft + published)) == ["d0", "p0", "d1", "p1"]


def test_a_host_that_is_busy_keeps_no_other_waiting(work_of):
    works = [work_of(f"a{n}") for n in range(3)] + [work_of("b0", host="b.org"), work_of("c", local="/c")]
    waiting = Waiting(works, per_host=1)
    first = waiting.take()
    assert paths([first, waiting.take(), waiting.take()]) == ["a0", "b0", "c"]
    assert waiting.take() is None
    waiting.ended(first)
    assert waiting.take().asset.path == "a1"
    waiting.put_back([first])
    assert paths(waiting.drain()) == ["a0", "a2"]
    assert waiting.take() is None


def test_without_a_limit_the_order_stays_and_work_is_taken_as_it_is_wanted(work_of):
    taken = []

    def works():
        for n in range(3):
            taken.append(n)
            yield work_of(f"a{n}")

    waiting = Waiting(works())
    assert paths([waiting.take(), waiting.take()]) == ["a0", "a1"]
    assert taken == [0, 1]


@pytest.mark.parametrize(
    ("limits", "processes", "of_a_host", "each"),
    [
        (Limits(), 4, None, None),
        (Limits(requests=64), 4, None, 16),
        (Limits(requests=3), 3, None, 1),
        (Limits(requests_per_host=64), 4, 64, 16),
        (Limits(requests_per_host=2), 4, 2, 1),
        (Limits(assets_per_host=2, requests_per_host=64), 4, 2, 32),
        (Limits(assets_per_host=8, requests=40, requests_per_host=20), 4, 8, 5),
    ],
)
def test_requests_are_shared_out_and_never_more_than_the_limits(limits, processes, of_a_host, each):
    assert (limits.processes(4), limits.assets_of_a_host, limits.requests_each(4)) == (
        processes,
        of_a_host,
        each,
    )
    at_once = min(processes, of_a_host or processes)
    assert at_once * (each or 0) <= (limits.requests_per_host or 10**9)
    assert processes * (each or 0) <= (limits.requests or 10**9)


def test_local_files_are_no_hosts(work_of):
    assert host_of(work_of("a", host="b.org:8080")) == "b.org"
    assert host_of(work_of("a", local="/a")) == ""
    assert host_of(replace(work_of("a"), url="/data/a")) == ""
