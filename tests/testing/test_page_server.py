"""The server of pages: ranges, types, no hidden files, nobody else's names for this machine."""

import http.client

import pytest

from shadowzarr.testing.page_server import PageServer


@pytest.fixture
def server(tmp_path):
    for name in ("index.html", "a/index.html", "page.js", "d.json", "b.bin", ".hidden/x", "a b#?.json"):
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "outside.txt").write_text("outside")
    with PageServer(tmp_path / "site") as server:
        yield server


def ask(server, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    try:
        connection.request(
            method, path, headers={name.replace("_", "-"): text for name, text in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("/", "text/html; charset=utf-8", "index.html"),
        ("/a/", "text/html; charset=utf-8", "a/index.html"),
        ("/page.js", "text/javascript; charset=utf-8", "page.js"),
        ("/d.json", "application/json", "d.json"),
        ("/b.bin", "binary/octet-stream", "b.bin"),
        ("/a%20b%23%3F.json", "application/json", "a b#?.json"),
    ],
)
def test_files_are_handed_out_with_their_types(server, path, kind, text):
    status, headers, body = ask(server, path)
    assert (status, headers["Content-Type"], body) == (200, kind, text)


def test_ranges_and_conditions_are_answered(server):
    status, headers, body = ask(server, "/page.js", Range="bytes=1-2")
    assert (status, body, headers["Content-Range"]) == (206, "ag", "bytes 1-2/7")
    assert ask(server, "/page.js", If_None_Match=headers["ETag"])[0] == 304


@pytest.mark.parametrize(
    "path",
    [
        "/.hidden/x",
        "/../outside.txt",
        "/%2e%2e/outside.txt",
        "/a",
        "/no",
        "/%00",
        f"/{'a' * 5000}",
        "/" + "a/" * 4000,
    ],
    ids=lambda path: path[:20],
)
def test_nothing_else_is(server, path):
    assert ask(server, path)[0] == 404


def test_pages_of_others_read_nothing_unless_they_are_named(tmp_path):
    (tmp_path / "d.json").write_text("{}")
    mine, other = "http://localhost:3000", "http://evil.test"
    for origins, told in (((), {mine: None}), ((mine,), {mine: mine, other: None}), (("*",), {other: "*"})):
        with PageServer(tmp_path, origins=origins) as server:
            for origin, allowed in told.items():
                status, headers, _ = ask(server, "/d.json", Origin=origin, Range="bytes=0-0")
                assert (status, headers["Access-Control-Allow-Origin"]) == (206, allowed)
                exposed = {"Content-Range", "Content-Length", "ETag"} if allowed else set()
                assert (
                    set(filter(None, (headers["Access-Control-Expose-Headers"] or "").split(", "))) == exposed
                )
                asked = {
                    "Access-Control-Request-Method": "GET",
                    "Access-Control-Request-Headers": "if-match,range",
                }
                status, headers, _ = ask(server, "/d.json", method="OPTIONS", Origin=origin, **asked)
                assert status == (200 if allowed else 403)
                assert headers["Access-Control-Allow-Headers"] == ("if-match, range" if allowed else None)


def test_a_name_that_is_not_of_this_machine_is_refused(server):
    assert ask(server, "/", Host=f"evil.test:{server.port}")[0] == 404
    assert ask(server, "/", Host=f"localhost:{server.port}")[0] == 200
