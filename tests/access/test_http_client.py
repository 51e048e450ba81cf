from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from shadowzarr.access import http_client
from shadowzarr.access.http_client import (
    Retries,
    RetryPolicy,
    error_for_status,
    is_transient_status,
    range_ignored,
    retry_after,
    user_agent,
)
from shadowzarr.errors import (
    AccessDeniedError,
    ReadError,
    ShortReadError,
    SourceNotFoundError,
    TransientReadError,
)

URL = "https://host/a.nwb?X-Amz-Signature=secret"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ReadError),
        (401, AccessDeniedError),
        (403, AccessDeniedError),
        (404, SourceNotFoundError),
        (408, TransientReadError),
        (410, SourceNotFoundError),
        (412, ReadError),
        (416, ShortReadError),
        (429, TransientReadError),
        (500, TransientReadError),
        (501, ReadError),
        (502, TransientReadError),
        (503, TransientReadError),
        (504, TransientReadError),
        (520, TransientReadError),
        (302, ReadError),
        (204, ReadError),
    ],
)
def test_what_a_status_means(status, kind):
    error = error_for_status(status, URL)
    assert type(error) is kind
    assert error.transient == (kind is TransientReadError) == is_transient_status(status)
    assert "https://host/a.nwb" in str(error)
    assert "secret" not in str(error)
    if isinstance(error, ReadError):
        assert error.status == status


def test_never_a_builtin_that_zarr_takes_for_a_missing_node():
    for status in (400, 401, 403, 404, 412, 416, 429, 500):
        assert not isinstance(error_for_status(status, URL), KeyError | FileNotFoundError)


def test_a_server_without_ranges():
    assert range_ignored(URL).status == 200
    assert "secret" not in str(range_ignored(URL))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("7", 7.0), ("0", 0.0), (" 2 ", 2.0), ("-5", 0.0), ("0.5", 0.5), ("soon", None), ("", None)),
        *(("nan", None), ("inf", None), ("1e999", None), ("9" * 400, None), ("1_0", None), ("²", None)),
        ("Wed, 21 Oct 2015 07:28:00 +9999999", None),
        ("Wed, 99 Oct 99999 07:28:00 GMT", None),
    ],
)
def test_retry_after_in_seconds(text, seconds):
    assert retry_after({"Retry-After": text}) == seconds


def test_retry_after_as_a_date():
    later = datetime.now(UTC) + timedelta(seconds=100)
    assert 90 < retry_after({"Retry-After": format_datetime(later, usegmt=True)}) <= 100
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 -0000"}) == 0.0


def test_retry_after_is_not_there():
    assert retry_after({}) is None


def test_retry_after_goes_into_the_error():
    assert error_for_status(429, URL, headers={"Retry-After": "3"}).retry_after == 3.0


def test_pauses_grow_up_to_a_limit_with_jitter():
    policy = RetryPolicy(first_pause=1.0, factor=2.0, longest_pause=6.0)
    for failures, longest in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 6.0), (9, 6.0)]:
        pauses = {policy.pause(failures) for _ in range(50)}
        assert len(pauses) > 1
        assert all(longest / 2 <= pause <= longest for pause in pauses)


def test_a_lasting_error_is_not_tried_again():
    retries = Retries(RetryPolicy())
    with pytest.raises(SourceNotFoundError):
        retries.pause_after(SourceNotFoundError("no"))


def test_tries_are_counted():
    retries = Retries(RetryPolicy(attempts=3))
    error = TransientReadError("busy")
    retries.pause_after(error)
    retries.pause_after(error)
    with pytest.raises(TransientReadError) as caught:
        retries.pause_after(error)
    assert caught.value is error
    assert str(error) == "busy (3 tries)"
    assert retries.failures == 3


def test_retry_after_is_honoured_within_the_total():
    retries = Retries(RetryPolicy(first_pause=0.1, total=60.0))
    assert retries.pause_after(TransientReadError("busy", retry_after=5.0)) == 5.0
    assert retries.pause_after(TransientReadError("busy", retry_after=0.0)) > 0.0
    with pytest.raises(TransientReadError):
        retries.pause_after(TransientReadError("busy", retry_after=61.0))


def test_the_total_time_is_bounded(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(http_client.time, "monotonic", lambda: now[0])
    retries = Retries(
        RetryPolicy(attempts=1000, first_pause=1.0, longest_pause=1.0, total=10.0), _started=now[0]
    )

    def try_on():
        while True:
            now[0] += retries.pause_after(TransientReadError("busy")) + 1.0

    with pytest.raises(TransientReadError):
        try_on()
    assert now[0] - 100.0 <= 11.0
    assert 3 < retries.failures < 20


def test_the_program_says_its_name():
    assert user_agent().startswith("shadowzarr/")


def test_long_waits_are_told_once(caplog, monkeypatch):
    monkeypatch.setattr(http_client, "TOLD_AFTER", 1.0)
    retries = Retries(RetryPolicy(attempts=9, first_pause=0.8, factor=4.0, longest_pause=99.0, total=1e6))
    with caplog.at_level("INFO", logger="shadowzarr.waiting"):
        retries.pause_after(TransientReadError("host: busy"))
        assert caplog.messages == []
        for _ in range(3):
            retries.pause_after(TransientReadError("host: busy"))
    assert caplog.messages == ["host: busy; still trying (2 of 9 tries)"]
