"""Numbers as people read them."""

import pytest

from shadowzarr.formatting import format_bytes, format_count, format_seconds, format_share


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (999, "999 B"),
        (1_000, "1 kB"),
        (1_255_585, "1.26 MB"),
        (15_530_000, "15.5 MB"),
        (999_600, "1.00 MB"),
        (137e9, "137 GB"),
        (2.5e18, "2500 PB"),
    ],
)
def test_bytes(nbytes: float, text: str) -> None:
    assert format_bytes(nbytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.0004, "< 1 ms"),
        (0.0123, "12 ms"),
        (0.0999, "0.1 s"),
        (3.44, "3.4 s"),
        (59.97, "1 min"),
        (75, "1 min 15 s"),
        (3_600, "1 h"),
        (7_500, "2 h 5 min"),
        (90_000_000, "25,000 h"),
    ],
)
def test_seconds(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 10, "0 %"),
        (1, 1_000, "0.1 %"),
        (1, 1_000_000, "< 0.01 %"),
        (5, 4, "125 %"),
        (1, 0, "\u2013"),
        (97, 1_000, "9.7 %"),
    ],
)
def test_share(part: float, whole: float, text: str) -> None:
    assert format_share(part, whole) == text


def test_counts_agree_with_their_nouns() -> None:
    assert [format_count(1, "asset"), format_count(0, "asset"), format_count(1_234, "asset")] == [
        "1 asset",
        "0 assets",
        "1,234 assets",
    ]
    assert format_count(2, "entry", "entries") == "2 entries"
    assert format_count(12_345) == "12,345"
