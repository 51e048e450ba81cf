"""The longest chain of requests that had to wait for each other."""

import pytest

from benchmarks.serving.serial_depth import longest_chain, serial_depth, without_waits
from benchmarks.serving.timed_request import TimedRequest

LATENCY = 0.030
TURN_AROUND = 0.010
PAUSE = TURN_AROUND / 2


def requests(*times: tuple[float, float]) -> list[TimedRequest]:
    return [TimedRequest(start, end, "/f", 0, 1, 206) for start, end in times]


def batches(sizes: list[int], pause: float) -> list[tuple[float, float]]:
    """So many requests at once, and `pause` seconds after their answers the next."""
    return [
        (number * (LATENCY + pause), number * (LATENCY + pause) + LATENCY)
        for number, size in enumerate(sizes)
        for _ in range(size)
    ]


@pytest.mark.parametrize(
    ("times", "length"),
    [
        ([], 0),
        ([(0, 1)], 1),
        ([(0, 1), (0, 1), (0, 1)], 1),
        ([(0, 1), (1, 2), (2, 3)], 3),
        ([(0, 10), (0, 1), (2, 3), (4, 5)], 3),
        ([(0, 3), (1, 2), (2.5, 4)], 2),
    ],
)
def test_requests_that_do_not_overlap_are_a_chain(times, length):
    assert longest_chain(times) == length


def test_the_order_of_the_log_does_not_matter():
    assert serial_depth(requests((2, 3), (0, 1), (1, 2))).depth == 3


def test_without_a_limit_every_wait_counts():
    found = serial_depth(requests(*batches([4, 4, 4], PAUSE)))
    assert (found.depth, found.rounds) == (3, 3)


def test_waiting_for_a_free_place_is_told_apart():
    found = serial_depth(requests(*batches([4, 4, 4], PAUSE)), in_flight=4, turn_around=TURN_AROUND)
    assert (found.depth, found.rounds) == (1, 3)


def test_a_level_that_needs_the_one_before_still_counts():
    found = serial_depth(requests(*batches([1, 3, 4, 4, 4], PAUSE)), in_flight=4, turn_around=TURN_AROUND)
    assert (found.depth, found.rounds) == (3, 5)


def test_who_takes_its_time_did_not_wait_for_a_place():
    found = serial_depth(requests(*batches([4, 4, 4], 2 * TURN_AROUND)), in_flight=4, turn_around=TURN_AROUND)
    assert (found.depth, found.rounds) == (3, 3)


def test_one_at_a_time_is_as_deep_as_it_is_long():
    found = serial_depth(requests(*batches([1] * 20, PAUSE)), in_flight=64, turn_around=TURN_AROUND)
    assert (found.depth, found.rounds) == (20, 20)


def test_a_request_moves_to_where_it_began_to_wait():
    times = [(0.0, 0.03), (0.0, 0.04), (0.031, 0.061)]
    assert without_waits(times, 2, TURN_AROUND) == [(0.0, 0.03), (0.0, 0.04), (0.0, 0.061)]
