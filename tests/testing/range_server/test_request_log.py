"""The range server keeps account of requests."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx

from shadowzarr.testing import Fault
from tests.support.served_range import ETAG, SIZE


def test_log_entries(client, server, url):
    client.get(
        f"{url}?page=2&X-Amz-Signature=secret&X-Amz-Date=now",
        headers={
            "Range": "bytes=2-5",
            "Authorization": "token hidden",
            "User-Agent": "me/1",
            "If-Match": ETAG,
        },
    )
    (entry,) = server.log
    assert (entry.method, entry.path, entry.query) == ("GET", "/sub/a b.nwb", {"page": "2"})
    assert (entry.range, entry.start, entry.stop, entry.sent, entry.status) == ("bytes=2-5", 2, 6, 4, 206)
    assert (entry.has_authorization, entry.is_signed, entry.user_agent) == (True, True, "me/1")
    assert entry.if_match == ETAG
    assert 0 < entry.started <= entry.ended
    assert "hidden" not in repr(entry)
    assert "secret" not in repr(entry)


def test_log_counts(client, server, url):
    client.get(url)
    client.head(url)
    client.get(server.url("none"))
    log = server.log
    assert (len(log), log.count("sub/*"), log.count(method="HEAD"), log.count(status=404)) == (3, 2, 1, 1)
    assert [entry.method for entry in log.select("sub/*")] == ["GET", "HEAD"]
    assert log.bytes_sent > SIZE
    log.clear()
    assert (len(log), log.bytes_sent, log.max_in_flight) == (0, 0, 0)


def test_most_requests_in_flight(server, url):
    gate = threading.Barrier(4, timeout=10)
    server.faults.add(Fault(action=gate.wait))
    with httpx.Client(verify=False) as client, ThreadPoolExecutor(4) as pool:
        assert {r.status_code for r in pool.map(client.get, [url] * 4)} == {200}
    assert server.log.max_in_flight == 4
    server.faults.clear()
    server.log.clear()
    with httpx.Client(verify=False) as client:
        for _ in range(3):
            client.get(url)
    assert server.log.max_in_flight == 1
