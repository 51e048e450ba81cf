"""Reading over HTTP: what is right, what is tried again, what is refused, and how many requests it costs."""

import asyncio
import logging
import socket

import pytest
from range_reading import ONE, WANTED, awaited, cut, read

from shadowzarr.access import http_client, obstore_transport
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.http_reader import HttpReader
from shadowzarr.access.range_reader import DefaultReader
from shadowzarr.access.source_identity import Source
from shadowzarr.access.sources import describe
from shadowzarr.access.traffic import counted
from shadowzarr.errors import (
    AccessDeniedError,
    ReadError,
    ShortReadError,
    SourceChangedError,
    SourceNotFoundError,
    TransientReadError,
)
from shadowzarr.refs.byte_range import FileRange
from shadowzarr.testing import Fault, RangeServer
from shadowzarr.testing.http_messages import Response

# what is right


def test_ranges_come_in_the_order_asked(either, server, url, content):
    source = describe(url, reader=either)
    ranges = [*reversed(WANTED), FileRange(0, 0), WANTED[3], FileRange(99_999, 1)]
    server.log.clear()
    assert read(either, url, ranges, source=source) == cut(content, ranges)
    assert len(server.log) == 102  # one each, none for the empty range
    assert {entry.status for entry in server.log} == {206}
    assert {entry.if_match for entry in server.log} == {source.etag}
    assert all(entry.user_agent.startswith("shadowzarr/") for entry in server.log)


def test_awaited_in_any_loop(either, server, url, content):
    for _ in range(2):
        assert asyncio.run(awaited(either, url, WANTED, source=describe(url))) == cut(content, WANTED)


def test_awaited_while_a_loop_runs_and_blocking_inside_one(either, url, content):
    async def both():
        return await awaited(either, url, ONE), read(either, url, WANTED)

    assert asyncio.run(both()) == (cut(content, ONE), cut(content, WANTED))


def test_no_ranges_is_no_request(either, server, url):
    assert either.read(url, []) == []
    assert asyncio.run(either.read_async(url, [])) == []
    assert len(server.log) == 0


def test_whole_files(either, server, url, content):
    assert bytes(either.read_whole(url)) == content
    assert bytes(asyncio.run(either.read_whole_async(url))) == content
    assert [entry.range for entry in server.log] == [None, None]


def test_whole_file_of_a_source(either, url):
    with pytest.raises(SourceChangedError):
        either.read_whole(url, source=Source(url, 7))


def test_one_range_on_the_calling_thread(either, url, content, monkeypatch):
    def no_threads(*_):
        raise AssertionError("a single range needs no threads")

    monkeypatch.setattr("shadowzarr.access.process_connections.ThreadPoolExecutor", no_threads)
    assert read(either, url, ONE) == cut(content, ONE)
    monkeypatch.setattr("shadowzarr.access.url_resolver.UrlResolver.resolve", no_threads)
    assert bytes(either.read_one(url, ONE[0])) == cut(content, ONE)[0]


def test_files_of_one_host_share_connections(either, server, content):
    for name in ("one.bin", "two.bin", "a-folder/three_3.bin"):
        (server.folder / name).parent.mkdir(exist_ok=True)
        (server.folder / name).write_bytes(content)
        assert read(either, server.url(name), ONE) == cut(content, ONE)
    assert len(server.log.entries) == 3
    assert server.log.connections == 1


@pytest.mark.parametrize(
    "path", ["/a//b", "/folder/", "/", "/a%2Fb", "/a%20b", "/a+b", "/a:b", "/a@b", "/x/y.z"]
)
def test_paths_are_sent_as_they_are(reader, canned, path, monkeypatch):
    seen = []

    def answer(request, effects):
        seen.append(request.target)
        return Response(206, {"Content-Range": "bytes 0-2/3"}, b"abc")

    monkeypatch.setattr(canned.application, "respond", answer)
    assert read(reader, canned.base_url + path, [FileRange(0, 3)]) == [b"abc"]
    assert seen == [path]


def test_urls_with_odd_characters_and_a_query(reader, server, canned, content):
    (server.folder / "a b#c%é").mkdir()
    (server.folder / "a b#c%é" / "d+e.bin").write_bytes(content)
    assert read(reader, server.url("a b#c%é/d+e.bin"), ONE) == cut(content, ONE)
    seen = []

    def answer(request):
        seen.append(request.target)
        return Response(206, {"Content-Range": "bytes 0-2/3"}, b"abc")

    canned.application.answers["/x"] = answer
    target = "/x?a=b%20c%2Fd&e=f;x&g=+&g="
    assert read(reader, canned.base_url + target, [FileRange(0, 3)]) == [b"abc"]
    assert seen == [target]


@pytest.mark.parametrize("in_flight", [4, 64])
def test_so_many_requests_at_once(server, url, in_flight):
    reader = DefaultReader(in_flight=in_flight)
    server.effects.latency = 0.1
    reader.read(url, WANTED)
    assert in_flight / 2 < server.log.max_in_flight <= in_flight
    server.log.clear()
    asyncio.run(reader.read_async(url, WANTED))
    assert in_flight / 2 < server.log.max_in_flight <= in_flight


# what the file is


def test_size_and_etag_come_from_one_byte(either, server, url, content):
    server.faults.add(Fault(method="HEAD", status=403))
    answer = either.probe(url)
    assert (answer.total, answer.etag) == (len(content), server_etag(server))
    assert [(entry.method, entry.range) for entry in server.log] == [("GET", "bytes=0-0")]


def test_an_empty_file(either, server):
    (server.folder / "empty").touch()
    assert either.probe(server.url("empty")).total == 0
    assert bytes(either.read_whole(server.url("empty"))) == b""


def test_a_replaced_file_of_the_same_size_is_refused(either, server, url, content):
    source = describe(url)
    (server.folder / "data.bin").write_bytes(content[::-1])
    server.log.clear()
    with pytest.raises(SourceChangedError, match="validate_sources"):
        either.read(url, ONE, source=source)
    with pytest.raises(SourceChangedError):
        asyncio.run(either.read_async(url, ONE, source=source))
    assert [entry.status for entry in server.log] == [412, 412]  # not tried again
    assert read(either, url, ONE) == cut(content[::-1], ONE)


def test_a_replaced_file_is_noticed_where_the_server_ignores_if_match(either, server, url, content):
    with RangeServer(server.folder, etag=None) as without:
        url = without.url("data.bin")
        source = Source(url, len(content), '"recorded"')
        assert read(either, url, ONE, source=source) == cut(content, ONE)
        (server.folder / "data.bin").write_bytes(content + b"more")
        with pytest.raises(SourceChangedError, match="100004 bytes, expected 100000"):
            either.read(url, ONE, source=source)


def test_another_etag_with_status_206_is_noticed(either, canned):
    headers = {"Content-Range": "bytes 0-2/3", "ETag": '"new"'}
    canned.application.answers["/x"] = Response(206, headers, b"abc")
    url = canned.base_url + "/x"
    with pytest.raises(SourceChangedError, match='"new"'):
        either.read(url, [FileRange(0, 3)], source=Source(url, 3, '"old"'))


def test_weak_etags_are_not_sent(either, server, url, content):
    assert read(either, url, ONE, source=Source(url, len(content), 'W/"weak"')) == cut(content, ONE)
    assert [entry.if_match for entry in server.log] == [None]


def test_a_range_past_the_end(either, server, url, content):
    for wanted in (FileRange(len(content) - 1, 2), FileRange(len(content) + 10, 5)):
        with pytest.raises(ShortReadError, match="100000"):
            either.read(url, [wanted])
    shorter = Source(url, len(content) + 100)
    with pytest.raises(SourceChangedError):
        either.read(url, [FileRange(len(content) + 10, 5)], source=shorter)


# what is tried again


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 503},
        {"status": 500},
        {"status": 502, "html": True},
        {"status": 429, "retry_after": 0},
        {"drop": True},
        {"reset_after": 100},
        {"short_by": 5},
        {"short_by": 5, "declare_short": True},
    ],
)
@pytest.mark.parametrize("way", ["blocking", "awaited"])
def test_passing_trouble(either, server, url, content, fault, way):
    either.read(url, ONE)
    server.faults.add(Fault(times=2, **fault))
    server.log.clear()
    if way == "blocking":
        assert read(either, url, ONE) == cut(content, ONE)
    else:
        assert asyncio.run(awaited(either, url, ONE)) == cut(content, ONE)
    assert len(server.log) == 3


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ({"status": 503, "retry_after": 0}, TransientReadError, 503),
        ({"status": 429}, TransientReadError, 429),
        ({"drop": True}, TransientReadError, None),
        ({"reset_after": 100}, TransientReadError, None),
        ({"short_by": 5}, TransientReadError, None),
        ({"short_by": 5, "declare_short": True}, ShortReadError, None),
    ],
)
def test_lasting_trouble_ends_after_so_many_tries(either, server, url, fault, kind, status):
    server.faults.add(Fault(**fault))
    with pytest.raises(kind) as caught:
        either.read(url, ONE)
    assert caught.value.status == status
    assert 4 <= len(server.log) <= 5  # four tries, the first repeated to learn the reason
    server.log.clear()
    with pytest.raises(kind):
        asyncio.run(either.read_async(url, ONE))
    assert 4 <= len(server.log) <= 5


def test_some_of_many_ranges_are_tried_again(either, server, url, content):
    server.faults.add(Fault(status=503, times=7))
    with counted() as traffic:
        assert read(either, url, WANTED) == cut(content, WANTED)
    assert server.log.count(status=206) == 100
    # what obstore was refused is asked for again at once, and counts only when that is refused too
    assert traffic.retries <= 7
    assert traffic.requests == len(server.log) == 107


def test_the_server_says_how_long_to_wait(reader, server, url, monkeypatch):
    slept = []
    monkeypatch.setattr("shadowzarr.access.process_connections.time.sleep", slept.append)
    server.faults.add(Fault(status=429, retry_after=7, times=2))
    reader.read(url, ONE)
    assert slept == [7.0]  # the first refusal is repeated at once, to learn this


def test_a_wait_that_is_too_long_is_not_waited(server, url, monkeypatch):
    reader = DefaultReader(retries=RetryPolicy(total=5.0))
    server.faults.add(Fault(status=503, retry_after=3600))
    with pytest.raises(TransientReadError) as caught:
        reader.read(url, ONE)
    assert caught.value.retry_after == 3600
    assert len(server.log) <= 2


def test_nobody_listens(either):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/a?secret=1"
        with pytest.raises(
            TransientReadError, match=r"connection failed \(refused: nothing listens"
        ) as caught:
            either.read(url, ONE)
    assert "secret" not in str(caught.value)


def test_a_read_that_takes_too_long_is_given_up(server, url, monkeypatch):
    monkeypatch.setattr("shadowzarr.access.urllib3_transport.READ_TIMEOUT", 0.2)
    monkeypatch.setattr("shadowzarr.access.obstore_transport.READ_TIMEOUT", 0.2)
    server.faults.add(Fault(first_byte_delay=5.0))
    reader = DefaultReader(retries=RetryPolicy(attempts=1))
    with pytest.raises(TransientReadError):
        reader.read(url, ONE)


# what is refused


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, SourceNotFoundError),
        (403, AccessDeniedError),
        (401, AccessDeniedError),
        (412, ReadError),
    ],
)
def test_definite_answers_are_taken_at_once(either, server, url, status, kind):
    server.faults.add(Fault(status=status))
    for _ in range(2):
        with pytest.raises(kind):
            either.read(url, ONE)
        with pytest.raises(kind):
            asyncio.run(either.read_async(url, ONE))
    assert len(server.log) == 4


def test_a_missing_file_among_many_ranges_stops_the_rest(either, server):
    with pytest.raises(SourceNotFoundError):
        either.read(server.url("missing"), WANTED)
    with pytest.raises(SourceNotFoundError):
        asyncio.run(either.read_async(server.url("missing"), WANTED))


@pytest.mark.parametrize("status", [400, 405])
def test_other_refusals(either, server, url, status):
    server.faults.add(Fault(status=status))
    with pytest.raises(ReadError, match=str(status)) as caught:
        either.read(url, ONE)
    assert caught.value.status == status
    assert len(server.log) <= 2  # the second to learn the status


def test_a_server_that_ignores_range_is_asked_once(either, server, url):
    server.faults.add(Fault(ignore_range=True))
    with pytest.raises(ReadError, match="ignores Range"):
        either.read(url, ONE)
    for wanted in WANTED:
        with pytest.raises(ReadError, match="ignores Range"):
            either.read(url, [wanted])
    assert len(server.log) == 1
    with pytest.raises(ReadError, match="ignores Range"):
        either.probe(server.url("data.bin") + "?other=1")


def test_a_server_that_ignores_range_gives_whole_files(either, server, url, content):
    server.faults.add(Fault(ignore_range=True))
    assert bytes(either.read_whole(url)) == content
    assert read(either, url, [FileRange(0, len(content))]) == [content]


def test_other_bytes_than_asked_for_are_refused(either, canned):
    canned.application.answers["/x"] = Response(206, {"Content-Range": "bytes 0-2/9"}, b"abc")
    with pytest.raises(ReadError, match="bytes 0-2/9"):
        either.read(canned.base_url + "/x", [FileRange(3, 3)])


def test_a_part_without_its_place_is_refused(either, canned):
    canned.application.answers["/x"] = Response(206, {}, b"abc")
    with pytest.raises(ReadError):
        either.read(canned.base_url + "/x", [FileRange(3, 3)])


def test_encoded_bytes_are_refused(canned, monkeypatch, reader):
    monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    headers = {"Content-Range": "bytes 0-2/3", "Content-Encoding": "gzip"}
    canned.application.answers["/x"] = Response(206, headers, b"abc")
    with pytest.raises(ReadError, match="gzip"):
        reader.read(canned.base_url + "/x", [FileRange(0, 3)])


def test_the_size_must_be_known_at_first(reader, canned, monkeypatch):
    monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    canned.application.answers["/x"] = Response(206, {"Content-Range": "bytes 0-0/*"}, b"a")
    with pytest.raises(ReadError, match="how large"):
        reader.probe(canned.base_url + "/x")


# redirects and secrets


def test_redirects_are_followed_without_a_key(either, canned, server, url, content, redirect, monkeypatch):
    canned.application.answers["/go"] = redirect(url + "?X-Amz-Signature=secret")
    monkeypatch.setenv("DANDI_API_KEY", "key")
    assert read(either, canned.base_url + "/go", ONE, source=describe(url)) == cut(content, ONE)
    assert not any(entry.has_authorization for entry in server.log)


def test_redirects_without_end(canned, redirect, reader, monkeypatch):
    monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    canned.application.answers["/go"] = redirect(canned.base_url + "/go")
    with pytest.raises(ReadError, match="redirects"):
        reader.read(canned.base_url + "/go", ONE)
    assert len(canned.application.requests) < 10


@pytest.mark.parametrize(
    "fault", [{"status": 404}, {"status": 503}, {"status": 412}, {"drop": True}, {"status": 400}]
)
def test_no_query_in_errors_their_causes_or_logs(either, server, url, fault, caplog):
    caplog.set_level(logging.DEBUG)
    server.faults.add(Fault(**fault))
    with pytest.raises((ReadError, SourceChangedError)) as caught:
        either.read(url + "?X-Amz-Signature=SECRET", ONE)
    error = caught.value
    chain = []
    while error is not None:
        chain.append(repr(error))
        error = error.__cause__ or error.__context__
    assert "SECRET" not in "".join(chain)
    assert "SECRET" not in caplog.text


def server_etag(server):
    from shadowzarr.testing.range_server import content_etag

    return f'"{content_etag(server.folder / "data.bin")}"'


def test_defaults():
    assert HttpReader()._in_flight == 128
    assert RetryPolicy().attempts >= 5
    assert http_client.WHOLE_TIMEOUT > http_client.READ_TIMEOUT


def test_a_limit_holds_from_then_on(tmp_path):
    (tmp_path / "a").write_bytes(bytes(range(200)))
    ranges = [FileRange(n, 1) for n in range(200)]
    reader = HttpReader()
    with RangeServer(tmp_path) as server:
        reader.limit(3)
        assert b"".join(map(bytes, reader.read(server.url("a"), ranges))) == bytes(range(200))
        assert asyncio.run(reader.read_async(server.url("a"), ranges))[199] == b"\xc7"
        assert server.log.max_in_flight <= 3
        reader.limit(5)
        reader.read(server.url("a"), ranges)
        assert server.log.max_in_flight <= 5
