"""``s3://`` locations, against moto's server: open and signed objects."""

import asyncio

import pytest

from shadowzarr.access import obstore_transport
from shadowzarr.access.s3_locations import http_url, is_signed, split
from shadowzarr.access.sources import describe
from shadowzarr.errors import (
    AccessDeniedError,
    ReadError,
    SourceChangedError,
    SourceNotFoundError,
    UsageError,
)
from shadowzarr.refs.byte_range import FileRange

ONE = [FileRange(1000, 500)]


def test_bucket_and_key():
    assert split("s3://bucket/a/b c.nwb") == ("bucket", "a/b c.nwb")
    for url in ("s3://bucket", "s3://bucket/", "s3:///key", "s3://"):
        with pytest.raises(UsageError, match="s3://<bucket>/<key>"):
            split(url)


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("s3://dandiarchive/blobs/2db/af0/x", "https://dandiarchive.s3.amazonaws.com/blobs/2db/af0/x"),
        ("s3://my.bucket/a", "https://s3.amazonaws.com/my.bucket/a"),
        ("s3://b/a b#?%+é", "https://b.s3.amazonaws.com/a%20b%23%3F%25%2B%C3%A9"),
    ],
)
def test_open_objects_have_a_plain_url(url, plain):
    assert http_url(url) == plain


def test_another_service(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/")
    assert http_url("s3://b/k") == "http://127.0.0.1:9000/b/k"
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9001")
    assert http_url("s3://b/k") == "http://127.0.0.1:9001/b/k"


def test_signing_needs_credentials_and_a_bucket_that_wants_it(monkeypatch):
    assert not is_signed("s3://b/k")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    assert is_signed("s3://b/k")
    assert not is_signed("s3://dandiarchive/blobs/x")
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    assert not is_signed("s3://b/k")


@pytest.fixture(scope="module")
def moto_url():
    server = pytest.importorskip("moto.server")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(moto_url, content, monkeypatch):
    boto3 = pytest.importorskip("boto3")
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto_url)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    client = boto3.client(
        "s3", endpoint_url=moto_url, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="s"
    )
    client.create_bucket(Bucket="bucket")
    client.put_object(Bucket="bucket", Key="a/b c+d#1.bin", Body=content, ACL="public-read")
    return client


@pytest.fixture(params=["open", "signed"])
def way(request, monkeypatch):
    if request.param == "signed":
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    return request.param


URL = "s3://bucket/a/b c+d#1.bin"


@pytest.mark.usefixtures("bucket", "way")
def test_reading(reader, content):
    source = describe(URL, reader=reader)
    assert (source.url, source.size) == (URL, len(content))
    assert source.etag.startswith('"')
    wanted = [FileRange(i * 900, 500) for i in range(30)]
    parts = reader.read(URL, wanted, source=source)
    assert [bytes(part) for part in parts] == [content[r.offset : r.stop] for r in wanted]
    assert bytes(asyncio.run(reader.read_async(URL, ONE, source=source))[0]) == content[1000:1500]
    assert bytes(reader.read_whole(URL)) == content


@pytest.mark.usefixtures("way")
def test_a_replaced_object(bucket, reader, content):
    source = describe(URL, reader=reader)
    bucket.put_object(Bucket="bucket", Key="a/b c+d#1.bin", Body=content[::-1], ACL="public-read")
    with pytest.raises(SourceChangedError):
        reader.read(URL, ONE, source=source)


@pytest.mark.usefixtures("bucket", "way")
def test_no_such_object(reader):
    with pytest.raises((SourceNotFoundError, AccessDeniedError)):
        reader.read("s3://bucket/missing", ONE)


@pytest.mark.usefixtures("bucket", "way")
def test_past_the_end_repeats_with_a_signature_to_learn_the_status(reader, content):
    with pytest.raises(ReadError, match="416"):
        reader.read(URL, [FileRange(len(content) + 5, 5)])


@pytest.mark.usefixtures("bucket")
def test_open_objects_in_a_forked_child(reader, content, monkeypatch):
    monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    assert bytes(reader.read(URL, ONE)[0]) == content[1000:1500]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    with pytest.raises(ReadError, match="spawn"):
        reader.read(URL, ONE)


@pytest.mark.usefixtures("way")
def test_an_empty_object(bucket, reader):
    bucket.put_object(Bucket="bucket", Key="empty", Body=b"", ACL="public-read")
    assert describe("s3://bucket/empty", reader=reader).size == 0
