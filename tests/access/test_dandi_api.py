"""The archive's API: against the stand-in, and against servers that answer oddly."""

import pytest

from shadowzarr.access import dandi_api
from shadowzarr.access.dandi_api import ARCHIVES, DandiArchive
from shadowzarr.errors import (
    AccessDeniedError,
    ArchiveError,
    ArchiveUnavailableError,
    MissingCredentialsError,
    NotInArchiveError,
)
from shadowzarr.testing import Fault
from shadowzarr.testing.http_messages import Response

LISTING = "/api/dandisets/000001/versions/draft/assets/"


@pytest.fixture
def api(standin):
    with DandiArchive(standin.server.api_url) as client:
        yield client


@pytest.fixture
def odd(canned):
    with DandiArchive(canned.base_url + "/api/") as client:
        yield client


def record(number, **changes):
    return {
        "asset_id": f"5a9cc6f1-aeaf-46cc-aae7-{number:012d}",
        "path": f"sub-{number}.nwb",
        "size": number,
        "blob": "2dbaf0fd-5003-4a0a-b4c0-bc8cdbdb3826",
        "zarr": None,
        "created": "2024-05-01T12:00:00Z",
        "modified": "2024-05-01T12:00:00Z",
        "metadata": {},
    } | changes


def page(records, *, count=None, more=False):
    return {
        "count": count,
        "next": "http://x/?page=2" if more else None,
        "previous": None,
        "results": records,
    }


def test_the_public_archives():
    assert ARCHIVES == {
        "dandi": "https://api.dandiarchive.org/api",
        "dandi-sandbox": "https://api.sandbox.dandiarchive.org/api",
    }
    assert DandiArchive("dandi").api_url == ARCHIVES["dandi"]


def test_a_name_that_was_registered(standin):
    assert DandiArchive("standin").api_url == standin.server.api_url


def test_a_dandiset(api, standin):
    version = standin.server.archive.publish("000001")
    found = api.dandiset("000001")
    assert found.identifier == "000001"
    assert found.is_open
    assert found.draft_version.version == "draft"
    assert found.draft_version.asset_count == 1
    assert found.draft_version.size == len(standin.content)
    assert found.most_recent_published_version.version == version


def test_a_dandiset_that_was_never_published(api):
    assert api.dandiset("000001").most_recent_published_version is None


def test_versions(api, standin):
    name = standin.server.archive.publish("000001")
    assert [version.version for version in api.versions("000001")] == ["draft", name]


def test_an_asset(api, standin):
    asset = api.asset(standin.open.asset_id)
    blob = standin.server.archive.blob(standin.open.blob_id)
    assert asset.path == "sub-01/a.nwb"
    assert asset.size == len(standin.content)
    assert (asset.blob, asset.zarr) == (blob.blob_id, None)
    assert asset.etag == f'"{blob.etag}"'
    assert asset.download_url == standin.url(standin.open)
    assert asset.blob_url == standin.server.object_url(standin.open)
    assert not asset.embargoed
    assert asset.metadata["contentSize"] == asset.size
    assert "@context" not in asset.metadata


def test_an_asset_in_a_listing_is_the_same_as_alone(api, standin):
    assert list(api.list_assets("000001", "draft")) == [api.asset(standin.open.asset_id)]
    assert api.asset_by_path("000001", "draft", "sub-01/a.nwb") == api.asset(standin.open.asset_id)


def test_a_zarr_asset(api, standin, tmp_path):
    (tmp_path / "x.zarr").mkdir()
    (tmp_path / "x.zarr" / "zarr.json").write_text("{}")
    standin.server.archive.add_asset("000001", "x.zarr", tmp_path / "x.zarr")
    asset = api.asset_by_path("000001", "draft", "x.zarr")
    assert asset.blob is None
    assert asset.zarr is not None
    assert (asset.etag, asset.blob_url) == (None, None)


def test_an_embargoed_asset(standin, monkeypatch):
    monkeypatch.setenv("STANDIN_API_KEY", "owner-key")
    with DandiArchive(standin.server.api_url) as api:
        (asset,) = api.list_assets("000002", "draft")
        assert asset.embargoed
        assert not api.dandiset("000002").is_open
    assert all(entry.has_authorization for entry in standin.server.api.log)


def test_pages_of_a_thousand(api, standin, tmp_path):
    (tmp_path / "one").write_bytes(b"1")
    blob = standin.server.archive.add_blob(tmp_path / "one")
    standin.server.archive.add_dandiset("000003")
    for i in range(2500):
        standin.server.archive.add_asset("000003", f"{i:05d}.nwb", blob)
    paths = [asset.path for asset in api.list_assets("000003", "draft")]
    assert paths == [f"{i:05d}.nwb" for i in range(2500)]
    assert standin.server.api.log.count() == 3


def test_filters(api, standin, tmp_path):
    (tmp_path / "one").write_bytes(b"1")
    blob = standin.server.archive.add_blob(tmp_path / "one")
    for path in ("sub-01/a.nwb.txt", "sub-02/c.nwb", "SUB-02/d.nwb"):
        standin.server.archive.add_asset("000001", path, blob)

    def listed(**options):
        return {asset.path for asset in api.list_assets("000001", "draft", **options)}

    assert listed(path="sub-01/a.nwb") == {"sub-01/a.nwb"}
    assert listed(path="sub-02/") == {"sub-02/c.nwb", "SUB-02/d.nwb"}
    assert listed(glob="*.nwb") == {"sub-01/a.nwb", "sub-02/c.nwb", "SUB-02/d.nwb"}


def test_a_path_is_exact(api):
    for path in ("sub-01/a", "SUB-01/A.NWB", "other"):
        with pytest.raises(NotInArchiveError, match="has no asset"):
            api.asset_by_path("000001", "draft", path)


def test_what_is_not_there(api):
    for call in (
        lambda: api.dandiset("000099"),
        lambda: list(api.list_assets("000099", "draft")),
        lambda: list(api.list_assets("000001", "0.240101.1200")),
        lambda: api.versions("000099"),
        lambda: api.asset("5a9cc6f1-aeaf-46cc-aae7-ea27960236ea"),
        lambda: api.asset("nonsense"),
    ):
        with pytest.raises(NotInArchiveError):
            call()


def test_a_root_that_is_not_that_of_an_api_is_suspected(api, standin, canned):
    root = standin.server.api_url.removesuffix("/api")
    with (
        DandiArchive(root) as client,
        pytest.raises(NotInArchiveError, match=f"has no dandiset 000001; .* may be wrong: try {root}/api$"),
    ):
        client.dandiset("000001")
    with pytest.raises(NotInArchiveError, match="check the identifier, version and archive$"):
        api.dandiset("000099")
    canned.application.answers["/dandisets/000001/"] = Response(200, {"Content-Type": "text/html"}, b"<html>")
    with DandiArchive(canned.base_url) as client, pytest.raises(ArchiveError, match=r"a DANDI API\?.* try "):
        client.dandiset("000001")


def test_a_missing_key(api, standin):
    with pytest.raises(MissingCredentialsError, match="STANDIN_API_KEY"):
        api.dandiset("000002")
    assert standin.server.api.log.count() == 1


def test_a_wrong_key(standin, monkeypatch):
    monkeypatch.setenv("STANDIN_API_KEY", "nonsense-key")
    with (
        DandiArchive(standin.server.api_url) as api,
        pytest.raises(MissingCredentialsError, match="refuses") as caught,
    ):
        api.dandiset("000001")
    assert "nonsense-key" not in str(caught.value)


def test_the_key_of_somebody_else(standin):
    with DandiArchive(standin.server.api_url, token="other-key") as api, pytest.raises(AccessDeniedError):
        api.dandiset("000002")


def test_a_given_token(standin):
    with DandiArchive(standin.server.api_url, token="owner-key") as api:
        assert api.dandiset("000002").embargo_status == "EMBARGOED"


@pytest.mark.parametrize(
    "fault",
    [{"status": 503, "html": True}, {"status": 429, "retry_after": 0}, {"drop": True}, {"status": 500}],
)
def test_passing_trouble(api, standin, fault):
    standin.server.api.faults.add(Fault(times=2, **fault))
    assert api.dandiset("000001").identifier == "000001"
    assert standin.server.api.log.count() == 3


@pytest.mark.parametrize("fault", [{"status": 503, "html": True}, {"status": 429}, {"drop": True}])
def test_lasting_trouble(api, standin, fault):
    standin.server.api.faults.add(Fault(**fault))
    with pytest.raises(ArchiveUnavailableError, match="4 tries"):
        api.dandiset("000001")
    assert standin.server.api.log.count() == 4


def test_nobody_listens():
    with (
        DandiArchive("http://127.0.0.1:1/api") as api,
        pytest.raises(
            ArchiveUnavailableError, match="reached .refused: nothing listens there.; check the network"
        ),
    ):
        api.dandiset("000001")


def test_a_draft_that_changes_between_pages_is_listed_again(api, standin, tmp_path):
    archive = standin.server.archive
    (tmp_path / "one").write_bytes(b"1")
    blob = archive.add_blob(tmp_path / "one")
    archive.add_dandiset("000003")
    for i in range(1500):
        archive.add_asset("000003", f"{i:05d}.nwb", blob)

    def remove_the_first():
        archive.remove_asset("000003", "00000.nwb")

    standin.server.api.faults.add(Fault(path="*/assets/", after=1, times=1, action=remove_the_first))
    paths = [asset.path for asset in api.list_assets("000003", "draft")]
    assert paths == [f"{i:05d}.nwb" for i in range(1, 1500)]
    assert standin.server.api.log.count() == 4


@pytest.mark.parametrize(
    ("records", "count"),
    [([1, 2], 3), ([1, 2, 3], 2), ([1, 1], 2), ([], 1)],
)
def test_a_listing_that_is_wrong_twice_is_an_error(odd, canned, json_answer, records, count):
    canned.application.answers[LISTING] = json_answer(page([record(i) for i in records], count=count))
    with pytest.raises(ArchiveError, match="list of assets"):
        odd.list_assets("000001", "draft")
    assert len(canned.application.requests) == 2


def test_two_assets_at_one_path_are_an_error(odd, canned, json_answer):
    records = [record(1), record(2, path="sub-1.nwb")]
    canned.application.answers[LISTING] = json_answer(page(records, count=2))
    with pytest.raises(ArchiveError, match="twice"):
        odd.list_assets("000001", "draft")


def test_a_listing_never_goes_on_for_ever(odd, canned, json_answer):
    canned.application.answers[LISTING] = json_answer(page([], count=0, more=True))
    assert list(odd.list_assets("000001", "draft")) == []


def test_redirects_are_not_followed(odd, canned, redirect):
    canned.application.answers["/api/dandisets/000001/"] = redirect(canned.base_url + "/elsewhere")
    with pytest.raises(ArchiveError, match="302"):
        odd.dandiset("000001")
    assert len(canned.application.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Response(200, {"Content-Type": "text/html"}, b"<html>maintenance</html>"),
        Response(200, {"Content-Type": "application/json"}, b"{"),
        Response(200, {"Content-Type": "application/json"}, b"[1]"),
        Response(200, {}, b""),
        Response(200, {"Content-Type": "application/json"}, b'{"identifier": "000001"}'),
        Response(400, {"Content-Type": "application/json"}, b'{"order": ["no"]}'),
        Response(400, {"Content-Type": "text/html"}, b"<html>"),
    ],
)
def test_answers_that_cannot_be_used(odd, canned, answer):
    canned.application.answers["/api/dandisets/000001/"] = answer
    with pytest.raises(ArchiveError, match="dandiset 000001") as caught:
        odd.dandiset("000001")
    assert not caught.value.transient
    assert "<html>" not in str(caught.value)


def test_a_page_without_results(odd, canned, json_answer):
    canned.application.answers[LISTING] = json_answer({"detail": "odd"})
    with pytest.raises(ArchiveError, match="no results"):
        odd.list_assets("000001", "draft")


@pytest.mark.parametrize(
    "changes",
    [{"blob": None}, {"zarr": "z"}, {"size": "large"}, {"path": None, "size": None}, {"metadata": 3}],
)
def test_records_that_cannot_be_used(odd, canned, json_answer, changes):
    canned.application.answers[LISTING] = json_answer(page([record(1, **changes)], count=1))
    with pytest.raises(ArchiveError, match="record"):
        odd.list_assets("000001", "draft")


def test_the_public_archives_are_asked_at_most_so_often(monkeypatch):
    slept = []
    monkeypatch.setattr(dandi_api.time, "sleep", slept.append)
    monkeypatch.setattr(dandi_api.time, "monotonic", lambda: 100.0)
    monkeypatch.setattr(dandi_api, "_RATE_LIMIT", dandi_api._RateLimit(8.0))
    for _ in range(17):
        dandi_api._limit_rate("https://api.dandiarchive.org/api/dandisets/")
    assert slept[-1] == pytest.approx(2.0)
    slept.clear()
    dandi_api._limit_rate("http://127.0.0.1:8000/api/")
    dandi_api._limit_rate("https://notdandiarchive.org/api/")
    assert slept == []


def test_certificates_are_read_once(monkeypatch):
    """Whatever number of clients there are: a run over many dandisets opens one or two for each."""
    from shadowzarr.access import dandi_api

    dandi_api._tls_context.cache_clear()
    made = []
    real = dandi_api.httpx.create_ssl_context
    monkeypatch.setattr(dandi_api.httpx, "create_ssl_context", lambda: made.append(1) or real())
    for _ in range(3):
        DandiArchive("https://archive.test/api").close()
    assert made == [1]
