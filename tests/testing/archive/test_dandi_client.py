"""The real DANDI client works against the stand-in, unchanged."""

import logging
import threading
from pathlib import Path

import pytest

from shadowzarr.testing import Archive, ArchiveServer, Fault

CONTENT = bytes(range(256)) * 40


@pytest.fixture(scope="module")
def dandiapi():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DANDI_NO_ET", "1")  # its version check would call out
        yield pytest.importorskip("dandi.dandiapi", reason="the extra dandi is not installed")


@pytest.fixture(autouse=True)
def quiet():
    """The client logs failures that these tests bring about."""
    logger = logging.getLogger("dandi")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


@pytest.fixture
def connect(dandiapi, server):
    clients = []

    def connect(token=None):
        clients.append(dandiapi.DandiAPIClient(server.api_url, token=token))
        return clients[-1]

    yield connect
    for client in clients:
        client.session.close()


@pytest.fixture
def client(connect):
    return connect()


@pytest.fixture
def not_found():
    return pytest.importorskip("dandi.exceptions").NotFoundError


@pytest.fixture
def http_error():
    return pytest.importorskip("requests").HTTPError


def test_construction_asks_who_the_server_is(client, server):
    assert client.api_url == server.api_url
    client.check_schema_version()
    asked = [(entry.path, entry.status) for entry in server.api.log]
    assert ("/server-info", 404) in asked
    assert ("/api/info/", 200) in asked


def test_dandisets(client, connect):
    assert [one.identifier for one in client.get_dandisets()] == ["000001", "000003"]
    assert [one.identifier for one in client.get_dandisets(empty=False)] == ["000001"]
    assert [one.identifier for one in client.get_dandisets(draft=False)] == []
    assert [one.identifier for one in client.get_dandisets(search="OPEN")] == ["000001"]
    assert [one.identifier for one in client.get_dandisets(order="-id")] == ["000003", "000001"]
    mine = connect("alice-key").get_dandisets(mine=True, embargoed=True)
    assert [one.identifier for one in mine] == ["000001", "000002"]


def test_dandiset_record(client):
    dandiset = client.get_dandiset("000001", lazy=False)
    assert (dandiset.version_id, dandiset.embargo_status.value) == ("draft", "OPEN")
    assert dandiset.version.asset_count == 4
    assert dandiset.most_recent_published_version is None
    assert dandiset.get_metadata().name == "Open recordings"


def test_versions(client, archive):
    first = archive.publish("000001")
    archive.remove_asset("000001", "README.txt")
    second = archive.publish("000001")
    dandiset = client.get_dandiset("000001", lazy=False)
    assert dandiset.version_id == second
    assert [one.identifier for one in dandiset.get_versions()] == ["draft", first, second]
    assert [one.identifier for one in dandiset.get_versions(order="-created")] == [second, first, "draft"]
    assert dandiset.get_version(first).asset_count == 4
    assert len(list(dandiset.for_version(first).get_assets())) == 4
    assert len(list(dandiset.get_assets())) == 3
    assert dandiset.for_version(first).get_metadata().version == first


def test_assets_and_their_digests(client, archive, nwb):
    dandiset = client.get_dandiset("000001", "draft")
    assets = {asset.path: asset for asset in dandiset.get_assets()}
    found = assets[nwb.path]
    assert (found.identifier, found.blob, found.size) == (nwb.asset_id, nwb.blob_id, 10241)
    assert found.get_raw_digest() == archive.blob(nwb.blob_id).etag
    assert len(found.get_raw_digest("dandi:sha2-256")) == 64
    zarr = assets["sub-02/image.zarr"]
    assert zarr.get_digest().value == archive.zarr(zarr.zarr).checksum
    assert found.get_metadata().encodingFormat == "application/x-nwb"
    assert zarr.get_metadata().encodingFormat == "application/x-zarr"


@pytest.mark.parametrize("order", ["path", "-path", "created", "-modified"])
def test_orders(client, order):
    paths = [asset.path for asset in client.get_dandiset("000001", "draft").get_assets(order=order)]
    by_time = ["sub-01/sub-01_ecephys.nwb", "sub-01/video.mp4", "sub-02/image.zarr", "README.txt"]
    expected = sorted(by_time) if "path" in order else by_time
    assert paths == (expected[::-1] if order.startswith("-") else expected)


def test_finding_by_path_glob_and_prefix(client, not_found):
    dandiset = client.get_dandiset("000001", "draft")
    assert dandiset.get_asset_by_path("sub-01/video.mp4").path == "sub-01/video.mp4"
    with pytest.raises(not_found):
        dandiset.get_asset_by_path("sub-01/vide")
    assert {asset.path for asset in dandiset.get_assets_by_glob("SUB-*.nwb")} == {"sub-01/sub-01_ecephys.nwb"}
    assert len(list(dandiset.get_assets_with_path_prefix("sub-01/"))) == 2


def test_one_asset_by_id(client, nwb):
    alone = client.get_asset(nwb.asset_id)
    inside = client.get_dandiset("000001", "draft").get_asset(nwb.asset_id)
    assert alone.path == inside.path == nwb.path
    assert alone.get_raw_metadata() == inside.get_raw_metadata()


def test_content_urls(client, server, nwb):
    asset = client.get_asset(nwb.asset_id)
    assert asset.get_content_url() == asset.base_download_url == server.download_url(nwb)
    assert asset.get_content_url(regex="dandiarchive") == server.object_url(nwb)
    assert asset.get_content_url(follow_redirects=1, strip_query=True) == server.object_url(nwb)
    assert "X-Amz-Signature=" in asset.get_content_url(follow_redirects=1)
    assert asset.get_content_url(follow_redirects=True, strip_query=True) == server.object_url(nwb)
    assert server.store.log.count(method="HEAD", status=403) == 1  # the client goes on after it


def test_download(client, server, nwb, tmp_path):
    asset = client.get_asset(nwb.asset_id)
    asset.download(tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"a" + CONTENT
    rest = b"".join(asset.get_download_file_iter()(10_000))
    assert rest == (b"a" + CONTENT)[10_000:]
    assert server.store.log.count(status=206) == 1


def test_download_of_a_folder(client, tmp_path):
    client.get_dandiset("000001", "draft").download_directory("sub-01/", tmp_path / "down")
    assert (tmp_path / "down" / "video.mp4").read_bytes() == b"b" + CONTENT


def test_reading_an_asset(client, nwb, server):
    pytest.importorskip("aiohttp")
    readable = client.get_asset(nwb.asset_id).as_readable()
    assert (readable.get_size(), readable.get_filename()) == (10241, "sub-01_ecephys.nwb")
    with readable.open() as file:
        file.seek(-3, 2)
        assert file.read() == CONTENT[-3:]
    assert server.store.log.bytes_sent <= 10241


def test_zarr_entries(client, archive, http_error, tmp_path):
    asset = client.get_dandiset("000001", "draft").get_asset_by_path("sub-02/image.zarr")
    assert [str(entry) for entry in asset.iterfiles()] == ["x/c/0 1", "x/zarr.json", "zarr.json"]
    entry = asset.get_entry_by_path("x/c/0 1")
    assert entry.size == 5
    assert b"".join(entry.get_download_file_iter()(0)) == b"chunk"
    with pytest.raises(http_error, match="Unable to provide download link"):
        client.get(f"/assets/{asset.identifier}/download/")


def test_embargo(connect, client, http_error, tmp_path):
    with pytest.raises(http_error, match="Authentication credentials were not provided"):
        client.get_dandiset("000002", "draft", lazy=False)
    with pytest.raises(http_error, match="You do not have permission"):
        list(connect("bob-key").get_dandiset("000002", "draft").get_assets())
    owner = connect("alice-key")
    (asset,) = owner.get_dandiset("000002", "draft").get_assets()
    assert asset.get_raw_metadata()["access"][0]["status"] == "dandi:EmbargoedAccess"
    asset.download(tmp_path / "secret")
    assert (tmp_path / "secret").read_bytes() == b"d" + CONTENT


def test_key_never_reaches_the_store(connect, server, nwb, tmp_path):
    connect("alice-key").get_asset(nwb.asset_id).download(tmp_path / "copy")
    assert all(entry.has_authorization for entry in server.api.log.select("api/assets/*"))
    assert not any(entry.has_authorization for entry in server.store.log)


def test_wrong_key(connect, http_error):
    with pytest.raises(http_error, match="Invalid token"):
        connect("nobody's-key")


def test_what_is_not_there(client, not_found, nwb):
    with pytest.raises(not_found, match="No such Dandiset"):
        client.get_dandiset("000009", lazy=False)
    with pytest.raises(not_found, match="No such version"):
        client.get_dandiset("000001").get_version("0.200101.0000")
    with pytest.raises(not_found, match="No such version"):
        list(client.get_dandiset("000001", "0.200101.0000").get_assets())
    with pytest.raises(not_found, match="No such asset"):
        client.get_asset("00000000-0000-4000-8000-000000000000")
    with pytest.raises(not_found, match="No such asset"):
        client.get_dandiset("000003", "draft").get_asset(nwb.asset_id)


def test_urls_that_the_client_parses(dandiapi, server, nwb):
    parse = pytest.importorskip("dandi.dandiarchive").parse_dandi_url
    for url in (
        f"{server.api_url}/dandisets/000001/versions/draft/assets/?path=sub-01",
        f"{server.api_url}/assets/{nwb.asset_id}/download/",
    ):
        with parse(url).navigate() as (_, _, assets):
            assert nwb.path in [asset.path for asset in assets]


def test_client_retries_what_passes(client, server):
    server.api.faults.add(Fault(path="api/dandisets/*", status=503, times=1))
    server.api.faults.add(Fault(path="api/dandisets/*", status=429, retry_after=0, after=1, times=1))
    assert client.get_dandiset("000001", lazy=False).identifier == "000001"
    assert server.api.log.count("api/dandisets/000001/") == 3


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """2,500 assets that share five blobs."""
    archive = Archive()
    archive.add_dandiset("000004")
    folder = tmp_path_factory.mktemp("many")
    for number in range(5):
        Path(folder, str(number)).write_bytes(bytes([number + 1]) * 100)
    blobs = [archive.add_blob(folder / str(number)) for number in range(5)]
    for number in range(2500):
        archive.add_asset("000004", f"sub-{number:04}/data.nwb", blobs[number % 5])
    with ArchiveServer(archive) as server:
        yield server


@pytest.mark.parametrize(("page_size", "requests"), [(None, 25), (1000, 3)])
def test_paging_over_2500_assets(dandiapi, many, page_size, requests):
    client = dandiapi.DandiAPIClient(many.api_url)
    client.page_size = page_size
    many.api.log.clear()
    assets = list(client.get_dandiset("000004", "draft").get_assets(order="path"))
    client.session.close()
    assert [asset.path for asset in assets] == [f"sub-{number:04}/data.nwb" for number in range(2500)]
    assert len({asset.identifier for asset in assets}) == 2500
    assert len({asset.blob for asset in assets}) == 5
    assert many.api.log.count("*/assets/") == requests


def test_pages_are_fetched_side_by_side(dandiapi, many):
    """The client takes its fast way only when ``next`` is the URL it expects."""
    client = dandiapi.DandiAPIClient(many.api_url)
    client.page_size = 1000
    gate = threading.Barrier(2, timeout=20)
    fault = many.api.faults.add(Fault(path="*/assets/", after=1, action=gate.wait))
    many.api.log.clear()
    try:
        assert len(list(client.get_dandiset("000004", "draft").get_assets())) == 2500
    finally:
        many.api.faults.remove(fault)
        client.session.close()
    assert many.api.log.max_in_flight == 2
