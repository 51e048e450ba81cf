"""The range server answers as S3 does, shows the faults that are ordered, and leaves nothing behind."""

import gzip
import hashlib
import http.client
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from shadowzarr.testing import CrossOrigin, Fault, RangeServer

CONTENT = bytes(range(256)) * 40
SIZE = len(CONTENT)
ETAG = f'"{hashlib.md5(hashlib.md5(CONTENT).digest()).hexdigest()}-1"'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a b.nwb").write_bytes(CONTENT)
    (tmp_path / "empty").write_bytes(b"")
    return tmp_path


@pytest.fixture
def server(folder):
    with RangeServer(folder) as server:
        yield server


@pytest.fixture
def url(server):
    return server.url("sub/a b.nwb")


def code(response):
    return response.text.partition("<Code>")[2].partition("</Code>")[0]


def get_range(client, url, text, **headers):
    return client.get(url, headers={"Range": f"bytes={text}", **headers})


def test_whole_object(client, url):
    response = client.get(url)
    assert (response.status_code, response.content) == (200, CONTENT)
    assert response.headers["ETag"] == ETAG
    assert response.headers["Accept-Ranges"] == "bytes"
    assert response.headers["Last-Modified"].endswith("GMT")
    assert response.headers["Content-Length"] == str(SIZE)


def test_head_has_the_headers_and_no_body(client, url):
    response = client.head(url)
    assert (response.status_code, response.content) == (200, b"")
    assert (response.headers["Content-Length"], response.headers["ETag"]) == (str(SIZE), ETAG)


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("0-0", 0, 1),
        ("5-9", 5, 10),
        ("10000-", 10000, SIZE),
        ("-7", SIZE - 7, SIZE),
        (f"-{SIZE * 2}", 0, SIZE),
        (f"{SIZE - 1}-{SIZE + 99}", SIZE - 1, SIZE),
    ],
)
def test_one_range(client, url, asked, start, stop):
    response = get_range(client, url, asked)
    assert (response.status_code, response.content) == (206, CONTENT[start:stop])
    assert response.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{SIZE}"


@pytest.mark.parametrize("asked", [f"{SIZE}-", f"{SIZE + 5}-{SIZE + 9}", "-0"])
def test_range_without_a_byte(client, url, asked):
    response = get_range(client, url, asked)
    assert (response.status_code, code(response)) == (416, "InvalidRange")
    assert response.headers["Content-Range"] == f"bytes */{SIZE}"


@pytest.mark.parametrize("asked", ["0-1,5-6", "9-5", "a-b", "-"])
def test_ranges_that_are_not_served_give_the_whole(client, url, asked):
    response = get_range(client, url, asked)
    assert (response.status_code, response.content) == (200, CONTENT)


def test_empty_file(client, server):
    response = client.get(server.url("empty"))
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["ETag"] == f'"{hashlib.md5(b"").hexdigest()}"'
    assert get_range(client, server.url("empty"), "0-").status_code == 416


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        (ETAG, 206),
        ("*", 206),
        (f'"x", {ETAG}', 206),
        ('"x"', 412),
        (ETAG.strip('"'), 412),
        (f"W/{ETAG}", 412),
    ],
)
def test_if_match(client, url, wanted, status):
    response = get_range(client, url, "1-2", **{"If-Match": wanted})
    assert response.status_code == status
    assert response.content == CONTENT[1:3] if status == 206 else code(response) == "PreconditionFailed"


def test_if_none_match(client, url):
    response = client.get(url, headers={"If-None-Match": ETAG})
    assert (response.status_code, response.content, response.headers["ETag"]) == (304, b"", ETAG)
    assert client.get(url, headers={"If-None-Match": '"x"'}).status_code == 200


@pytest.mark.parametrize("name", ["none.nwb", "sub", "../outside", "%2e%2e/outside", "a%00b"])
def test_no_such_key(client, server, folder, name):
    (folder.parent / "outside").write_bytes(b"secret")
    response = client.get(f"{server.base_url}/{name}")
    assert (response.status_code, code(response)) == (404, "NoSuchKey")


def test_other_methods_are_refused(client, url):
    response = client.put(url, content=b"x")
    assert (response.status_code, code(response)) == (405, "MethodNotAllowed")


def test_changed_file_is_noticed(client, server, folder, url):
    assert client.get(url).headers["ETag"] == ETAG
    (folder / "sub" / "a b.nwb").write_bytes(CONTENT[:-1])
    assert get_range(client, url, "0-0", **{"If-Match": ETAG}).status_code == 412
    assert client.get(url).content == CONTENT[:-1]


def test_server_without_etags(client, folder):
    with RangeServer(folder, etag=None) as server:
        response = get_range(client, server.url("sub/a b.nwb"), "0-1", **{"If-Match": '"x"'})
        assert response.status_code == 206
        assert "ETag" not in response.headers
        assert get_range(client, server.url("sub/a b.nwb"), "99999-").status_code == 416


def test_sparse_file_of_100_gigabytes(client, folder, server):
    size = 100 * 2**30
    with (folder / "large").open("wb") as file:
        file.truncate(size)
        file.seek(size - 4)
        file.write(b"tail")
    response = get_range(client, server.url("large"), f"{size - 6}-")
    assert response.content == b"\0\0tail"
    assert response.headers["ETag"].endswith('-1600"')
    assert server.log.bytes_sent == 6


def test_connection_is_kept(server, url):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    for _ in range(3):
        connection.request("GET", "/sub/a%20b.nwb", headers={"Range": "bytes=0-9"})
        assert connection.getresponse().read() == CONTENT[:10]
    connection.close()
    assert (len(server.log), server.log.connections) == (3, 1)


@pytest.mark.parametrize("text", [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n"])
def test_what_is_no_request_is_refused(server, text):
    with socket.create_connection(("127.0.0.1", server.port)) as plain:
        plain.sendall(text)
        assert plain.makefile("rb").readline().startswith(b"HTTP/1.1 400 ")


# Faults


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


def test_a_connection_that_is_closed_without_a_word(client, server, url):
    server.faults.add(Fault(hang_up=True))
    assert [client.get(url).content for _ in range(3)] == [CONTENT] * 3
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


# The log


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


# Other origins


def test_page_of_another_origin_may_read(client, url):
    response = get_range(client, url, "0-1", Origin="https://example.org")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Expose-Headers"] == "Content-Range, Content-Length"
    assert "Access-Control-Allow-Origin" not in client.get(url).headers
    assert "Access-Control-Allow-Origin" not in client.head(url, headers={"Origin": "null"}).headers


def test_errors_can_be_read_by_pages_too(client, server):
    server.faults.add(Fault(status=503, times=1))
    for _ in range(2):
        response = client.get(server.url("none"), headers={"Origin": "null"})
        assert response.headers["Access-Control-Allow-Origin"] == "*"


def preflight(client, url, method="GET", headers="range, if-match"):
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    return client.options(url, headers={"Origin": "https://example.org", **asked})


def test_preflight(client, url):
    response = preflight(client, url)
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Headers"] == "range, if-match"
    assert response.headers["Access-Control-Allow-Methods"] == "GET"
    assert preflight(client, url, method="HEAD").status_code == 403


def test_cors_can_be_narrowed_and_switched_off(client, folder):
    with RangeServer(folder, cross_origin=CrossOrigin(request_headers=("range",))) as server:
        assert preflight(client, server.url("empty"), headers="range").status_code == 200
        assert preflight(client, server.url("empty")).status_code == 403
    with RangeServer(folder, cross_origin=None) as server:
        assert preflight(client, server.url("empty")).status_code == 403
        answer = client.get(server.url("empty"), headers={"Origin": "null"})
        assert "Access-Control-Allow-Origin" not in answer.headers


# Start and stop


DESCRIPTORS = Path("/proc/self/fd")


def open_descriptors():
    return len(list(DESCRIPTORS.iterdir())) if DESCRIPTORS.is_dir() else 0


def test_nothing_is_left_behind(folder):
    threads, descriptors = set(threading.enumerate()), open_descriptors()
    with httpx.Client(verify=False) as client:
        with RangeServer(folder) as server:
            address = server.url("empty")
            server.faults.add(Fault(latency=3600, path="empty"))
            client.get(server.url("sub/a b.nwb"))
            waiting = socket.create_connection(("127.0.0.1", server.port))
            waiting.sendall(b"GET /empty HTTP/1.1\r\n\r\n")
            while not server.log.count("empty"):
                time.sleep(0.01)
        waiting.close()
        with pytest.raises(httpx.ConnectError):
            client.get(address)
    assert set(threading.enumerate()) == threads
    assert open_descriptors() == descriptors


def test_port_in_use(folder):
    with RangeServer(folder) as server, pytest.raises(OSError, match="ddress"):
        RangeServer(folder, port=server.port).start()


def test_port_is_unknown_before_the_start(folder):
    with pytest.raises(RuntimeError, match="not running"):
        RangeServer(folder).url("a")


def test_failure_of_the_application_comes_out(client, folder):
    def fail(path):
        raise KeyError("broken on purpose")

    server = RangeServer(folder, etag=fail).start()
    assert client.get(server.url("empty")).status_code == 500
    with pytest.raises(RuntimeError, match="broken on purpose"):
        server.close()


def test_failure_of_an_action_comes_out(client, folder):
    server = RangeServer(folder).start()
    server.faults.add(Fault(action=lambda: 1 / 0))
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(server.url("empty"))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        server.close()
    assert server.log.entries[0].is_broken


def test_symbolic_links_are_followed(client, folder, server, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "x"
    elsewhere.write_bytes(b"there")
    (folder / "link").symlink_to(elsewhere)
    assert client.get(server.url("link")).content == b"there"
