"""An output in a bucket: the same outcome as in a folder, whatever is interrupted, denied or done twice."""

import contextlib
import itertools
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import obstore
import orjson
import pytest
from obstore.exceptions import BaseError
from records_by_hand import record_of

from shadowzarr.builder import RfsBuilder
from shadowzarr.catalog import bucket_lock, bucket_output, publish
from shadowzarr.catalog.bucket_errors import bucket_error
from shadowzarr.catalog.bucket_output import BucketOutput
from shadowzarr.catalog.gone_assets import gone_assets
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.layout import OutputLayout, layout_at
from shadowzarr.catalog.options import ReferenceOptions
from shadowzarr.catalog.plan import record_key
from shadowzarr.catalog.prune import prune_gone
from shadowzarr.errors import OutputBusyError, OutputError, OutputUnavailableError, UsageError
from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.write import write_rfs

URL = "https://x/assets/1/download/"


@pytest.fixture
def place(object_store, tmp_path) -> BucketOutput:
    return bucket_output.bucket_output("s3://sources/some/prefix/", workings=tmp_path / "work")


@pytest.fixture
def in_bucket(place) -> OutputLayout:
    return layout_at(place)


def references(seed: int):
    builder = RfsBuilder()
    builder.add_source(URL, 10**6)
    for name in ("a", "b") if seed else ("a",):
        builder.add_array(name, shape=(4,), data_type="int8", chunk_shape=(1,))
        builder.add_index(name, URL, np.arange(8, dtype="uint64").reshape(4, 2) + seed)
    return builder.build()


def put(layout, asset, seed: int) -> None:
    key = record_key(asset, layout.options)
    record = record_of(asset, options_digest=key.options_digest, format_version=key.format_version)
    write_rfs(references(seed), layout.staged_references(asset))
    publish.publish_references(layout, asset)
    publish.finish_asset(layout, asset, record)


def tree(place) -> dict[str, bytes]:
    return {file.name: place.read(file.name) for file in place.files("dandisets/")}


def test_the_same_files_as_in_a_folder(layout, in_bucket, place, asset):
    odd = replace(asset, path="sub-1/a b%20#?é.nwb")
    for each in (layout, in_bucket):
        put(each, asset, 0)
        put(each, replace(asset, etag="0" * 32 + "-1"), 1)
        put(each, odd, 0)
    folder = {file.name: layout.store.read(file.name) for file in layout.store.files("dandisets/")}
    assert tree(place) == folder
    assert load_rfs(in_bucket.location(in_bucket.references_path(asset)))["indexes"].keys() == {"a", "b"}
    listing, expected = in_bucket.list_all(), layout.list_all()
    assert sorted(map(in_bucket.relative, listing.references)) == sorted(
        map(layout.relative, expected.references)
    )
    assert [record.key for records in listing.records.values() for record in records] == [
        record.key for records in expected.records.values() for record in records
    ]
    put(OutputLayout(in_bucket.folder, ReferenceOptions(form="json"), place), asset, 0)
    names = {name.rpartition("sub-1/")[2].partition("/")[0] for name in tree(place)}
    assert "a.nwb.shadowzarr.json" in names
    assert "a.nwb.shadowzarr" not in names


class Killed(BaseException):
    pass


def test_interrupted_at_any_request_and_done_again_gives_the_same(
    in_bucket, place, asset, monkeypatch, tmp_path
):
    changed = replace(asset, etag="0" * 32 + "-1")
    fresh = layout_at(bucket_output.bucket_output("s3://sources/fresh", workings=tmp_path / "other"))
    put(fresh, changed, 1)
    undisturbed = tree(fresh.store)
    for moment in itertools.count(1):
        publish.remove(in_bucket.staging)
        place.remove(["dandisets"])
        put(in_bucket, asset, 0)
        count = itertools.count(1)
        with monkeypatch.context() as patch:
            for name in ("put", "delete"):
                patch.setattr(obstore, name, interrupting(getattr(obstore, name), count, moment))
            try:
                put(in_bucket, changed, 1)
            except Killed:
                check_interrupted(in_bucket, asset, changed)
            else:
                break
        publish.clear_staging(in_bucket)
        put(in_bucket, changed, 1)
        assert tree(place) == undisturbed, moment
    assert moment > 6


def check_interrupted(layout, asset, changed) -> None:
    """A reader sees the old or the new whole, and no record tells of what is not there."""
    seen = set(load_rfs(layout.location(layout.references_path(asset)), read_indexes=True)["indexes"])
    assert seen in ({"a"}, {"a", "b"})
    listing = layout.list_version("000001", "draft")
    keys = {record.key for record in listing.done(layout.place(asset), layout.references_path(asset))}
    assert record_key(asset, layout.options) not in keys or seen == {"a"}
    assert record_key(changed, layout.options) not in keys or seen == {"a", "b"}


def interrupting(function, count, moment):
    def step(*arguments, **options):
        if next(count) == moment:
            raise Killed
        return function(*arguments, **options)

    return step


def test_what_another_wrote_meanwhile_is_not_replaced(place, monkeypatch):
    place.write("a.json", b"1", scratch=place.workings)
    seen = place._etag("a.json")
    place.write("a.json", b"2", scratch=place.workings)
    for stale in (seen, None):
        monkeypatch.setattr(BucketOutput, "_etag", lambda self, name, stale=stale: stale)
        place.write("a.json", b"2", scratch=place.workings)  # an answer of ours that got lost
        with pytest.raises(
            OutputBusyError, match=r"another run has written s3://sources/some/prefix/a\.json"
        ):
            place.write("a.json", b"3", scratch=place.workings)
    assert place.read("a.json") == b"2"


def test_one_run_at_a_time_and_a_dead_one_is_taken_over(place, monkeypatch, tmp_path):
    other = replace(place, workings=tmp_path / "other machine")
    with place.held():
        for second in (place, other):
            with pytest.raises(OutputBusyError, match=r"another run \(process \d+"), second.held():
                pass
    with other.held():  # given back
        pass
    bucket_lock.BucketLock(place).take()  # and is never heard of again
    with pytest.raises(OutputBusyError, match="10 minutes"), other.held():
        pass
    with place.held():  # the same workings: the holder has ended
        pass
    bucket_lock.BucketLock(place).take()
    monkeypatch.setattr(bucket_lock, "EXPIRY_SECONDS", 0.0)
    with other.held():
        pass
    assert not place.exists(bucket_lock.CLOCK)


def test_a_run_whose_lock_was_taken_writes_nothing_more(place, monkeypatch):
    monkeypatch.setattr(bucket_lock, "RENEW_SECONDS", 0.02)
    with place.held():
        lock = bucket_output._LOCKS[place]
        before = lock._renewed
        while lock._renewed == before:  # it is renewed
            lock._end.wait(0.01)
        stranger = bucket_lock.BucketLock(place)
        stranger._etag = stranger._put("overwrite")
        lock._thread.join(20)
        for attempt in (
            lambda: place.write("a", b"", scratch=place.workings),
            lambda: place.remove(["a"]),
            lambda: place.adopt(place.workings / "machine", "a"),
        ):
            with pytest.raises(OutputBusyError, match="holds the lock"):
                attempt()
    assert orjson.loads(place.read(bucket_lock.LOCK))["token"] == stranger._token


class Refusing(BaseHTTPRequestHandler):
    """A service that refuses, or takes every put whatever its condition."""

    status = 403

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b"<Error><Code>AccessDenied</Code></Error>" if self.status == 403 else b""
        self.send_response(self.status)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def service(status: int):
    handler = type("Handler", (Refusing,), {"status": status})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def refused(place: BucketOutput) -> OutputError:
    with pytest.raises(OutputError) as caught, place.held():
        pass
    assert "http error" not in str(caught.value).lower()
    return caught.value


def test_what_a_service_refuses_is_told_with_its_remedy(object_store, tmp_path, monkeypatch):
    def at(url: str, endpoint: str | None = None) -> BucketOutput:
        return bucket_output.bucket_output(url, workings=tmp_path / "work", endpoint=endpoint)

    assert "no bucket nowhere at http://127.0.0.1" in str(refused(at("s3://nowhere/a")))
    with service(403) as endpoint:
        text = str(refused(at("s3://sources/a", endpoint)))
        assert "access is denied (AccessDenied); the AWS_ variables must be" in text
        with pytest.raises(OutputError, match="cannot list"):
            at("s3://sources/a", endpoint).check()
    with service(200) as endpoint:
        assert "ignores the conditions" in str(refused(at("s3://sources/a", endpoint)))
    with service(501) as endpoint:
        assert "does not know conditional writes" in str(refused(at("s3://sources/a", endpoint)))
    monkeypatch.setattr(bucket_output, "_MOST_RETRIES", 0)
    with service(503) as endpoint:
        error = refused(at("s3://sources/a", endpoint))
    assert isinstance(error, OutputUnavailableError)
    assert error.transient
    assert "answers 503" in str(error)
    gone = str(refused(at("s3://sources/a", endpoint)))
    assert gone.endswith(f"{endpoint} does not answer; try again later")


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        ("Amazon S3", "does not answer; try again later, or set AWS_ENDPOINT_URL if the bucket is elsewhere"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9 does not answer; try again later"),
    ],
)
def test_who_does_not_answer_may_be_the_wrong_service(service, expected):
    error = bucket_error("cannot list s3://b/a", BaseError("connection refused"), bucket="b", service=service)
    assert str(error).endswith(expected)


@pytest.mark.parametrize(
    "url", ["s3://", "s3:///a", "s3://b/a//c", "s3://b/../c", "s3://b/a?x", "http://b/a"]
)
def test_what_is_no_place_in_a_bucket(url):
    with pytest.raises(UsageError, match="s3://|URL of an output"):
        bucket_output.bucket_output(url)


def test_results_of_assets_that_left_are_moved_aside_or_deleted(in_bucket, place, asset):
    stays, gone = replace(asset, path="stays.nwb"), replace(asset, path="gone/gone.nwb")
    for fate in ("moved aside", "deleted"):
        for each in (stays, gone):
            put(in_bucket, each, 1)
        listing = in_bucket.list_version("000001", "draft")
        results = gone_assets(listing, in_bucket, [stays], of=("000001", "draft"), fate=fate)
        prune_gone(results, public=in_bucket, private=None)
        assert {name.split("/")[3].partition(".")[0] for name in tree(place)} == {"stays"}
    aside = [file.name for file in place.files("gone/")]
    assert any(name.endswith("gone/gone.nwb.shadowzarr/refs.json") for name in aside)
    assert any(name.endswith(".record.json") for name in aside)


def test_an_asset_whose_key_would_be_too_long_is_passed_over(in_bucket, request_of, place, pool, archive):
    deep = replace(place, prefix="/".join(["p" * 100] * 8))
    summary = index_dandisets(request_of(output=deep), pool=pool)
    assert [(skipped.reason, skipped.detail[:15]) for skipped in summary.skipped] == [
        ("unusable path", "with the prefix")
    ] * 2
    assert summary.exit_code == 0
