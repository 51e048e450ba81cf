"""The range server shows the faults that are ordered, to the requests that they are for."""

import contextlib
import gzip
import http.client

import httpx
import pytest

from shadowzarr.testing import Fault, RangeServer
from tests.support.served_range import CONTENT, ETAG, SIZE, code, get_range


@pytest.mark.parametrize(
    ("status", "name"), [(503, "SlowDown"), (500, "InternalError"), (403, "AccessDenied")]
)
def test_status_fault_is_counted(client, server, url, status, name):
    fault = server.faults.add(Fault(path="sub/*", status=status, after=1, times=2))
    answers = [client.get(url) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, status, status, 200]
    assert code(answers[1]) == name
    assert fault.hits == 2


def test_fault_of_another_path_or_method(client, server, url):
    server.faults.add(Fault(path="other/*", status=503))
    server.faults.add(Fault(method="HEAD", status=403))
    server.faults.add(Fault(authorized=True, status=400))
    assert client.get(url).status_code == 200
    assert client.head(url).status_code == 403
    assert client.get(url, headers={"Authorization": "token x"}).status_code == 400


def test_faults_can_be_switched_off(client, server, url):
    fault = server.faults.add(Fault(status=503))
    assert client.get(url).status_code == 503
    server.faults.remove(fault)
    assert client.get(url).status_code == 200
    server.faults.add(fault)
    server.faults.clear()
    assert client.get(url).status_code == 200


def test_retry_after(client, server, url):
    server.faults.add(Fault(status=429, retry_after=7))
    response = client.get(url)
    assert (response.status_code, response.headers["Retry-After"]) == (429, "7")


def test_retry_after_may_be_anything(client, server, url):
    server.faults.add(Fault(status=503, retry_after="soon"))
    assert client.get(url).headers["Retry-After"] == "soon"


def test_redirects(client, server, url):
    server.faults.add(Fault(status=302, location="{path}"))
    assert client.get(f"{url}?a=1").headers["Location"] == "/sub/a%20b.nwb?a=1"


def test_a_content_range_that_lies(client, server, url):
    fault = server.faults.add(Fault(shift_start=3, shift_total=-1))
    response = get_range(client, url, "5-9")
    assert response.content == CONTENT[5:10]
    assert response.headers["Content-Range"] == f"bytes 8-12/{SIZE - 1}"
    server.faults.remove(fault)
    server.faults.add(Fault(hide_range=True))
    response = get_range(client, url, "5-9")
    assert (response.status_code, "Content-Range" in response.headers) == (206, False)


def test_other_bytes(client, server, url):
    server.faults.add(Fault(other_bytes=True))
    response = get_range(client, url, "5-9")
    assert response.content == bytes(byte ^ 0xFF for byte in CONTENT[5:10])
    assert response.headers["Content-Range"] == f"bytes 5-9/{SIZE}"


def test_a_compressed_body(client, server, url):
    server.faults.add(Fault(gzip=True))
    with client.stream("GET", url, headers={"Range": "bytes=5-9"}) as response:
        assert gzip.decompress(b"".join(response.iter_raw())) == CONTENT[5:10]
        assert response.headers["Content-Encoding"] == "gzip"


def test_conditions_that_are_not_looked_at(client, server, url):
    server.faults.add(Fault(etag='"new"', ignore_conditions=True))
    response = get_range(client, url, "5-9", **{"If-Match": ETAG})
    assert (response.status_code, response.headers["ETag"]) == (206, '"new"')


@pytest.mark.parametrize(
    ("effects", "version", "framing"),
    [
        ({"http10": True}, 10, "Content-Length"),
        ({"framing": "chunked"}, 11, "Transfer-Encoding"),
        ({"framing": "close", "http10": True}, 10, None),
    ],
)
def test_how_a_body_is_framed(server, effects, version, framing):
    server.faults.add(Fault(**effects))
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", "/sub/a%20b.nwb")
    response = connection.getresponse()
    assert (response.version, response.read()) == (version, CONTENT)
    headers = [name for name in ("Content-Length", "Transfer-Encoding") if response.getheader(name)]
    assert headers == ([framing] if framing else [])
    connection.close()


def test_a_chunked_body_that_is_cut(client, server, url):
    server.faults.add(Fault(framing="chunked", short_by=5))
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(url)


def test_a_connection_that_is_closed_without_a_word(server):
    server.faults.add(Fault(hang_up=True))
    for _ in range(3):
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", "/sub/a%20b.nwb")
        socket = connection.sock  # the answer lets it go where it announces the end
        response = connection.getresponse()
        assert response.getheader("Connection") is None
        assert response.read() == CONTENT
        with contextlib.suppress(ConnectionResetError):
            assert socket.recv(1) == b""
        connection.close()
    assert server.log.connections == 3


def test_html_error_page(client, server, url):
    server.faults.add(Fault(status=502, html=True))
    response = client.get(url)
    assert (response.status_code, response.headers["Content-Type"]) == (502, "text/html")
    assert response.text.startswith("<html>")


def test_ranges_from_a_byte_on(client, server, url):
    server.faults.add(Fault(status=500, ranges_from=100))
    statuses = [get_range(client, url, asked).status_code for asked in ("0-200", "99-", "100-101", "-5")]
    assert statuses == [206, 206, 500, 500]
    assert client.get(url).status_code == 200


def test_reset_in_the_middle_of_the_body(client, server, url):
    server.faults.add(Fault(reset_after=100, times=1))
    with pytest.raises(httpx.ReadError):
        client.get(url)
    assert client.get(url).content == CONTENT
    broken, whole = server.log.entries
    assert (broken.is_broken, broken.sent, broken.status) == (True, 100, 200)
    assert (whole.is_broken, whole.sent) == (False, SIZE)


def test_short_body_under_its_declared_length(client, server, url):
    server.faults.add(Fault(short_by=3, times=1))
    with pytest.raises(httpx.RemoteProtocolError, match="peer closed connection"):
        get_range(client, url, "0-9")
    assert get_range(client, url, "0-9").content == CONTENT[:10]


def test_short_body_that_declares_itself(client, server, url):
    server.faults.add(Fault(short_by=3, declare_short=True))
    response = get_range(client, url, "0-9")
    assert (response.status_code, response.content) == (206, CONTENT[:7])
    assert response.headers["Content-Length"] == "7"
    assert response.headers["Content-Range"] == f"bytes 0-9/{SIZE}"


def test_dropped_connection(client, server, url):
    server.faults.add(Fault(drop=True, times=1))
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        client.get(url)
    assert client.get(url).status_code == 200
    assert [entry.status for entry in server.log] == [0, 200]


def test_ignored_range(client, server, url):
    server.faults.add(Fault(ignore_range=True))
    response = get_range(client, url, "0-9")
    assert (response.status_code, response.content) == (200, CONTENT)


def test_etag_that_changes_between_two_requests(client, server, url):
    server.faults.add(Fault(etag='"other"', after=1))
    assert get_range(client, url, "0-9", **{"If-Match": ETAG}).status_code == 206
    assert get_range(client, url, "0-9", **{"If-Match": ETAG}).status_code == 412
    assert get_range(client, url, "0-9").headers["ETag"] == '"other"'


def test_action_between_two_requests(client, server, folder, url):
    server.faults.add(Fault(after=1, times=1, action=lambda: (folder / "sub" / "a b.nwb").unlink()))
    assert [client.get(url).status_code for _ in range(3)] == [200, 404, 404]


def test_slow_first_byte_lets_the_headers_through(server, url):
    server.faults.add(Fault(first_byte_delay=60))
    timeout = httpx.Timeout(5, read=0.2)
    with httpx.Client(timeout=timeout, verify=False) as client, client.stream("GET", url) as response:
        assert response.status_code == 200
        with pytest.raises(httpx.ReadTimeout):
            response.read()


def test_latency_comes_before_the_headers(server, url):
    server.faults.add(Fault(latency=60))
    with (
        httpx.Client(timeout=httpx.Timeout(5, read=0.2), verify=False) as client,
        pytest.raises(httpx.ReadTimeout),
    ):
        client.get(url)


def test_latency_and_bandwidth_take_their_time(client, folder):
    with RangeServer(folder, latency=0.05, bandwidth=SIZE * 20) as server:
        assert client.get(server.url("sub/a b.nwb")).content == CONTENT
        (entry,) = server.log
        assert entry.ended - entry.started >= 0.1  # 50 ms of latency, 50 ms of sending
