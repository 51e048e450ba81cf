"""Virtual chunks behind a web server that compares ETags as RFC 9110 says, and an object store."""

import icechunk
import numpy as np
import pytest
import zarr

from shadowzarr import generate_rfs, open_rfs
from shadowzarr.icechunk import icechunk_to_rfs, open_repository, rfs_to_icechunk
from shadowzarr.testing import RangeServer


@pytest.fixture
def served(tmp_path):
    """A server, the URL of an HDF5 file on it, and the file."""
    import h5py

    folder = tmp_path / "served"
    folder.mkdir()
    path = folder / "a b#1.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.arange(60_000, dtype="i4"), chunks=(500,), compression="gzip")
    with RangeServer(folder) as server:
        yield server, server.url("a b#1.h5"), path


def committed(folder, url, rfs, **options):
    repo = open_repository(folder, [url])
    session = repo.writable_session("main")
    rfs_to_icechunk(rfs, session, **options)
    session.commit("x")
    return repo.readonly_session("main")


def test_values_and_the_etag_that_is_sent(served, tmp_path):
    server, url, _ = served
    rfs = generate_rfs(url)
    session = committed(tmp_path / "repo", url, rfs)
    server.log.clear()
    assert np.array_equal(zarr.open_array(session.store, path="x", mode="r")[:], np.arange(60_000))
    etag = rfs["sources"][url]["etag"]
    assert {request.if_match for request in server.log} == {etag}
    assert server.log.count(status=206) == 120


def test_a_changed_source_is_refused(served, tmp_path):
    _, url, path = served
    session = committed(tmp_path / "repo", url, generate_rfs(url))
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(
        icechunk.StorageError, match="checksum of the object owning the virtual chunk has changed"
    ):
        zarr.open_array(session.store, path="x", mode="r")[:500]


def test_a_server_without_etags_is_read_unchecked(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "x.bin").write_bytes(bytes(range(100)))
    with RangeServer(tmp_path / "s", etag=None) as server:
        url = server.url("x.bin")
        session = committed(tmp_path / "repo", url, plain(url))
        assert zarr.open_array(session.store, path="a", mode="r")[:].tolist() == list(range(100))


def plain(url):
    from shadowzarr import RfsBuilder
    from shadowzarr.refs.zarr_metadata import BYTES_CODEC

    builder = RfsBuilder()
    builder.add_array(
        "a", shape=(100,), data_type="uint8", chunk_shape=(50,), codecs=[BYTES_CODEC], fill_value=0
    )
    for number in range(2):
        builder.add_chunk("a", (number,), url, number * 50, 50)
    return builder.build()


def test_a_source_that_cannot_be_read_now_is_no_reason_to_refuse(tmp_path):
    (tmp_path / "s").mkdir()
    with RangeServer(tmp_path / "s") as server:
        url = server.url("gone.bin")
        session = committed(tmp_path / "repo", url, plain(url))
        with pytest.raises(icechunk.IcechunkError):
            zarr.open_array(session.store, path="a", mode="r")[:]


def test_there_and_back(served, tmp_path):
    server, url, _ = served
    rfs = generate_rfs(url)
    again = icechunk_to_rfs(committed(tmp_path / "repo", url, rfs))
    assert again["sources"] == rfs["sources"]
    server.log.clear()
    assert np.array_equal(open_rfs(again)["x"][:], np.arange(60_000))
    assert {request.if_match for request in server.log} == {rfs["sources"][url]["etag"]}


@pytest.fixture
def bucket(object_store):
    object_store.create_bucket(Bucket="repositories")
    return object_store


class TestObjectStore:
    """Against moto's server, which is told apart from Amazon by the usual variables."""

    def test_chunks_and_repository_in_buckets(self, bucket, served, monkeypatch):
        _, _, path = served
        key = "a/b c+d#1%41é.h5"
        bucket.put_object(Bucket="sources", Key=key, Body=path.read_bytes(), ACL="public-read")
        location = f"s3://sources/{key}"
        rfs = generate_rfs(location)
        assert rfs["sources"][location]["etag"]
        from shadowzarr.icechunk.locations import chunk_url

        session = committed("s3://repositories/one", chunk_url(location), rfs)
        array = zarr.open_array(session.store, path="x", mode="r")
        assert np.array_equal(array[:], np.arange(60_000))
        again = icechunk_to_rfs(session)
        assert again["sources"] == rfs["sources"]
        assert np.array_equal(open_rfs(again)["x"][:], np.arange(60_000))
        native = icechunk_to_rfs(session, native_chunks_prefix="s3://repositories/one/chunks")
        assert native["refs"].keys() == again["refs"].keys()
        bucket.put_object(Bucket="sources", Key=key, Body=path.read_bytes() + b"1", ACL="public-read")
        with pytest.raises(icechunk.StorageError, match="checksum of the object"):
            array[:]

    def test_an_open_bucket_needs_no_keys(self, bucket, served, tmp_path, monkeypatch):
        _, _, path = served
        bucket.put_object(Bucket="sources", Key="open.h5", Body=path.read_bytes(), ACL="public-read")
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        rfs = generate_rfs("s3://sources/open.h5")
        session = committed(tmp_path / "repo", "s3://sources/open.h5", rfs)
        assert zarr.open_array(session.store, path="x", mode="r")[7] == 7

    def test_references_to_a_server_lead_to_the_bucket(self, bucket, served, tmp_path):
        """As those of the archive's download URLs lead to its blobs; the ETag is the same."""
        _, url, path = served
        bucket.put_object(Bucket="sources", Key="blobs/x", Body=path.read_bytes(), ACL="public-read")
        etag = bucket.head_object(Bucket="sources", Key="blobs/x")["ETag"]
        rfs = generate_rfs(url)
        rfs["sources"][url]["etag"] = etag
        session = committed(
            tmp_path / "repo", "s3://sources/blobs/x", rfs, url_for=lambda _: "s3://sources/blobs/x"
        )
        assert session.all_virtual_chunk_locations() == ["s3://sources/blobs/x"] * 120
        assert zarr.open_array(session.store, path="x", mode="r")[7] == 7
        again = icechunk_to_rfs(session, url_for=lambda _: url)
        assert again["sources"] == rfs["sources"]
