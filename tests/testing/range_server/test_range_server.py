"""The range server answers as S3 does, and leaves nothing behind."""

import hashlib
import http.client
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

from shadowzarr.testing import Fault, RangeServer
from tests.support.served_range import CONTENT, ETAG, SIZE, code, get_range

DESCRIPTORS = Path("/proc/self/fd")


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
