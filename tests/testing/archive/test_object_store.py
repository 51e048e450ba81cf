"""The object store answers as S3 does, to unsigned and to presigned requests."""

import hashlib

import httpx
import pytest

from shadowzarr.testing import ArchiveServer, CrossOrigin, Fault

SIZE = 10241


def code(response):
    return response.text.partition("<Code>")[2].partition("</Code>")[0]


@pytest.fixture
def url(server, nwb):
    return server.object_url(nwb)


@pytest.fixture
def presign(client, server):
    def presign(asset, **options):
        return client.get(server.download_url(asset), **options).headers["Location"]

    return presign


@pytest.fixture
def signed(presign, nwb):
    return presign(nwb)


@pytest.fixture
def bytes_of_a(files):
    return files["a"].read_bytes()


# Objects


def test_two_origins(server):
    assert server.api.port != server.store.port


def test_whole_object(client, url, bytes_of_a, archive, nwb):
    response = client.get(url)
    assert (response.status_code, response.content) == (200, bytes_of_a)
    assert response.headers["ETag"] == f'"{archive.blob(nwb.blob_id).etag}"'
    part = hashlib.md5(bytes_of_a).digest()
    assert archive.blob(nwb.blob_id).etag == f"{hashlib.md5(part).hexdigest()}-1"
    assert response.headers["Accept-Ranges"] == "bytes"
    assert response.headers["Content-Length"] == str(SIZE)
    assert "Last-Modified" in response.headers


def test_key_of_a_blob(server, nwb):
    blob = nwb.blob_id
    assert server.object_url(nwb) == f"{server.store_url}/blobs/{blob[:3]}/{blob[3:6]}/{blob}"


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize(
    ("asked", "start", "stop"), [("0-0", 0, 1), ("10000-", 10000, SIZE), ("-5", SIZE - 5, SIZE)]
)
def test_ranges(client, url, signed, bytes_of_a, is_signed, asked, start, stop):
    response = client.get(signed if is_signed else url, headers={"Range": f"bytes={asked}"})
    assert (response.status_code, response.content) == (206, bytes_of_a[start:stop])
    assert response.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{SIZE}"


@pytest.mark.parametrize(
    ("headers", "status", "name"),
    [
        ({"Range": f"bytes={SIZE}-"}, 416, "InvalidRange"),
        ({"Range": "bytes=0-1,3-4"}, 200, ""),
        ({"If-Match": '"other"'}, 412, "PreconditionFailed"),
        ({"If-Match": '"other"', "Range": "bytes=0-0"}, 412, "PreconditionFailed"),
    ],
)
@pytest.mark.parametrize("is_signed", [False, True])
def test_conditions(client, url, signed, is_signed, headers, status, name):
    response = client.get(signed if is_signed else url, headers=headers)
    assert response.status_code == status
    assert not name or code(response) == name


def test_if_none_match(client, url):
    etag = client.head(url).headers["ETag"]
    assert client.get(url, headers={"If-None-Match": etag}).status_code == 304
    assert client.get(url, headers={"If-Match": etag}).status_code == 200


def test_head_of_an_open_object(client, url):
    response = client.head(url)
    assert (response.status_code, response.headers["Content-Length"]) == (200, str(SIZE))


def test_missing_keys(client, server, archive):
    for key in ("blobs/000/000/000000-none", "zarr/x/y", "dandisets/000001/0.1/dandiset.yaml", "other", ""):
        response = client.get(f"{server.store_url}/{key}")
        assert (response.status_code, code(response)) == (404, "NoSuchKey")
    assert code(client.get(f"{server.store.base_url}/elsewhere/x")) == "NoSuchBucket"
    with ArchiveServer(archive, is_listable=False) as closed:
        response = client.get(f"{closed.store_url}/blobs/000/000/000000-none")
        assert (response.status_code, code(response)) == (403, "AccessDenied")


def test_only_reading(client, url):
    assert client.put(url, content=b"x").status_code == 405


def test_bytes_are_never_under_a_wrong_etag(client, url, files):
    """A file that was changed behind the archive's back shows as a changed object."""
    etag = client.head(url).headers["ETag"]
    files["a"].write_bytes(b"changed")
    assert client.get(url, headers={"If-Match": etag}).status_code == 412
    assert client.get(url).headers["ETag"] != etag
    files["a"].unlink()
    assert client.get(url).status_code == 404


def test_files_of_a_zarr(client, server, archive):
    zarr_id = archive.asset_at("000001", "sub-02/image.zarr").zarr_id
    response = client.get(f"{server.store_url}/zarr/{zarr_id}/x/c/0%201")
    assert response.content == b"chunk"
    assert response.headers["ETag"] == f'"{hashlib.md5(b"chunk").hexdigest()}"'
    assert client.get(f"{server.store_url}/zarr/{zarr_id}/none").status_code == 404


def test_manifests_of_a_version(client, server, archive, nwb):
    name = archive.publish("000001")
    base = f"{server.store_url}/dandisets/000001/{name}"
    assert client.get(f"{base}/dandiset.jsonld").json()["version"] == name
    assert nwb.path in [asset["path"] for asset in client.get(f"{base}/assets.jsonld").json()]
    assert client.get(f"{base}/assets.yaml").content == client.get(f"{base}/assets.jsonld").content
    assert len(client.get(f"{base}/collection.jsonld").json()["hasMember"]) == 4
    assert client.get(f"{base}/dandiset.yaml").status_code == 200
    assert client.get(f"{base}/other.yaml").status_code == 404
    assert client.get(f"{base}/assets.txt").status_code == 404
    assert client.get(f"{server.store_url}/dandisets/000001/draft/assets.yaml").status_code == 404


# Signatures


def test_presigned_download(client, signed, bytes_of_a):
    response = client.get(signed)
    assert (response.status_code, response.content) == (200, bytes_of_a)
    assert response.headers["Content-Disposition"] == 'attachment; filename="sub-01_ecephys.nwb"'


def test_file_name_beyond_ascii(client, archive, files, presign):
    asset = archive.add_asset("000003", "größe 1.nwb", files["a"])
    response = client.get(presign(asset))
    assert response.status_code == 200
    expected = 'attachment; filename="größe 1.nwb"'.encode()
    assert dict(response.headers.raw)[b"Content-Disposition"] == expected


def test_url_signed_for_get_is_no_good_for_head(client, signed):
    response = client.head(signed)
    assert (response.status_code, response.content) == (403, b"")
    assert response.headers["Content-Type"] == "application/xml"
    assert client.get(signed, headers={"Range": "bytes=0-0"}).status_code == 206


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("X-Amz-Expires=21600", "X-Amz-Expires=99999"),
        ("attachment", "inline"),
        ("X-Amz-Signature=", "X-Amz-Signature=0"),
        ("/blobs/", "/blobs//"),
        ("X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders=host&extra=1"),
    ],
)
def test_signature_covers_the_request(client, signed, old, new):
    assert old in signed
    response = client.get(signed.replace(old, new))
    assert (response.status_code, code(response)) == (403, "SignatureDoesNotMatch")


def test_signature_of_another_object(client, presign, archive, server, nwb, signed):
    other = server.object_url(archive.asset_at("000001", "README.txt"))
    response = client.get(signed.replace(server.object_url(nwb), other))
    assert (response.status_code, code(response)) == (403, "SignatureDoesNotMatch")


def test_expiry(client, server, signed, presign, nwb):
    assert client.get(signed).status_code == 200
    server.signer.expire_all()
    response = client.get(signed)
    assert (response.status_code, code(response)) == (403, "AccessDenied")
    assert "Request has expired" in response.text
    assert client.get(presign(nwb)).status_code == 200


def test_lifetime(client, archive, nwb):
    with ArchiveServer(archive, lifetime=0) as server:
        location = client.get(server.download_url(nwb)).headers["Location"]
        assert "Request has expired" in client.get(location).text
        server.signer.lifetime = 60
        assert client.get(server.download_url(nwb), follow_redirects=True).status_code == 200


@pytest.mark.parametrize("is_signed", [False, True])
def test_key_of_the_archive_is_refused(client, url, signed, is_signed, server):
    response = client.get(signed if is_signed else url, headers={"Authorization": "token alice-key"})
    assert (response.status_code, code(response)) == (400, "InvalidArgument")
    assert ("Only one auth mechanism allowed" in response.text) == is_signed
    assert server.store.log.entries[-1].has_authorization


def test_override_needs_a_signature(client, url):
    response = client.get(f"{url}?response-content-type=text/plain")
    assert (response.status_code, code(response)) == (400, "InvalidRequest")


# Embargo


def test_embargoed_object(client, server, secret, presign):
    response = client.get(server.object_url(secret))
    assert (response.status_code, code(response)) == (403, "AccessDenied")
    location = presign(secret, headers={"Authorization": "token alice-key"})
    assert len(client.get(location).content) == SIZE


def test_embargo_tag_that_stayed_on_an_open_blob(client, server, archive, nwb, url):
    archive.tagged_blobs.add(nwb.blob_id)
    assert client.get(url).status_code == 403
    assert client.get(server.download_url(nwb), follow_redirects=True).status_code == 200


def test_embargoed_zarr_and_manifest(client, server, archive, zarr_folder):
    asset = archive.add_asset("000002", "x.zarr", zarr_folder)
    name = archive.publish("000002")
    assert client.get(f"{server.store_url}/zarr/{asset.zarr_id}/zarr.json").status_code == 403
    assert client.get(f"{server.store_url}/dandisets/000002/{name}/assets.yaml").status_code == 404


# Faults and other origins


def test_faults_by_object(client, server, archive, nwb, url):
    fault = server.store.faults.add(Fault(path=server.object_path(nwb), status=503, times=1))
    other = server.object_url(archive.asset_at("000001", "README.txt"))
    assert client.get(other).status_code == 200
    assert code(client.get(url)) == "SlowDown"
    assert client.get(url).status_code == 200
    assert fault.hits == 1


def test_refusal_of_unsigned_requests_alone(client, server, nwb, url):
    server.store.faults.add(Fault(signed=False, status=403))
    assert client.get(url).status_code == 403
    assert client.get(server.download_url(nwb), follow_redirects=True).status_code == 200


def test_etag_that_changes_between_two_ranges(client, server, signed):
    etag = client.get(signed, headers={"Range": "bytes=0-0"}).headers["ETag"]
    server.store.faults.add(Fault(etag='"new"', after=1))
    asked = {"Range": "bytes=1-1", "If-Match": etag}
    assert [client.get(signed, headers=asked).status_code for _ in range(2)] == [206, 412]


def test_broken_bodies(client, server, url):
    server.store.faults.add(Fault(reset_after=10, times=1))
    with pytest.raises(httpx.ReadError):
        client.get(url)
    server.store.faults.add(Fault(short_by=1, declare_short=True))
    assert len(client.get(url).content) == SIZE - 1


def test_other_origins(client, server, archive, url):
    response = client.get(url, headers={"Origin": "null", "Range": "bytes=0-0"})
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Expose-Headers"] == "Content-Range, Content-Length"
    asked = {"Origin": "null", "Access-Control-Request-Method": "GET"}
    wanted = {**asked, "Access-Control-Request-Headers": "if-match,range"}
    assert client.options(url, headers=wanted).status_code == 200
    with ArchiveServer(archive, cross_origin=CrossOrigin(request_headers=("range",))) as narrow:
        assert client.options(narrow.store_url, headers=wanted).status_code == 403
