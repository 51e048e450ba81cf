"""The API answers as the archive's does: records, pages, errors, embargo."""

import gzip
import json
import re

import httpx
import pytest

from shadowzarr.testing import Archive, ArchiveServer, Fault

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
DRAFT = "/dandisets/000001/versions/draft"
NOBODY = "00000000-0000-4000-8000-000000000000"
OWNER = {"Authorization": "token alice-key"}
OTHER = {"Authorization": "Token bob-key"}
ADMIN = {"Authorization": "token root-key"}


@pytest.fixture
def get(client, server):
    def get(path, **options):
        return client.get(f"{server.api_url}{path}", **options)

    return get


def paths(response):
    return [row["path"] for row in response.json()["results"]]


# Addresses


def test_server_information(get, client, server):
    assert client.get(f"{server.api.base_url}/server-info").status_code == 404
    info = get("/info/").json()
    assert info["services"]["api"]["url"] == server.api_url
    assert info["cli-bad-versions"] == []
    assert info["schema_version"] == "0.7.0"


def test_path_without_its_slash_is_redirected(get, client, server):
    response = get(f"{DRAFT}/assets?page_size=2")
    assert response.status_code == 301
    assert response.headers["Location"] == f"/api{DRAFT}/assets/?page_size=2"
    assert client.head(f"{server.api_url}/info").status_code == 301
    assert client.post(f"{server.api_url}/blobs/digest").status_code == 404
    assert get("/nothing").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/dandisets/1/",
        "/dandisets/0000012/",
        "/dandisets/000001/versions/latest/",
        f"/assets/{NOBODY.upper().replace('0', 'A')}/",
        f"/assets/{NOBODY.replace('-4', '-1')}/",
        f"/assets/{NOBODY.replace('-8', '-c')}/",
    ],
)
def test_addresses_that_do_not_exist(get, path):
    response = get(path)
    assert (response.status_code, response.headers["Content-Type"]) == (404, "text/html")


@pytest.mark.parametrize(
    ("path", "noun"),
    [
        ("/dandisets/000009/", "Dandiset"),
        ("/dandisets/000009/versions/draft/assets/", "Dandiset"),
        ("/dandisets/000001/versions/0.200101.0000/", "Version"),
        (f"/assets/{NOBODY}/", "Asset"),
        (f"{DRAFT}/assets/{NOBODY}/download/", "Asset"),
        (f"/zarr/{NOBODY}/", "ZarrArchive"),
    ],
)
def test_what_is_not_found(get, path, noun):
    response = get(path)
    assert response.status_code == 404
    assert response.json() == {"detail": f"No {noun} matches the given query."}


def test_other_methods_are_refused(client, server):
    response = client.delete(f"{server.api_url}/dandisets/000001/")
    assert (response.status_code, response.json()) == (405, {"detail": 'Method "DELETE" not allowed.'})


def test_answers_are_compressed_for_who_accepts_it(get):
    response = get("/info/", headers={"Accept-Encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
    plain = get("/info/", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert response.json() == plain.json()
    assert int(response.headers["Content-Length"]) < int(plain.headers["Content-Length"])
    assert len(gzip.compress(plain.content, 1, mtime=0)) == int(response.headers["Content-Length"])


def test_pages_of_other_origins_may_ask(client, server):
    asked = {"Origin": "null", "Access-Control-Request-Method": "GET"}
    allowed = client.options(f"{server.api_url}/info/", headers=asked).headers
    assert allowed["Access-Control-Allow-Origin"] == "*"
    assert "authorization" in allowed["Access-Control-Allow-Headers"]
    assert "if-match" not in allowed["Access-Control-Allow-Headers"]
    plain = client.get(f"{server.api_url}/info/", headers={"Origin": "https://example.org"})
    assert plain.headers["Access-Control-Allow-Origin"] == "*"


# Records


def test_dandiset_record(get, archive):
    record = get("/dandisets/000001/").json()
    assert record["identifier"] == "000001"
    assert record["embargo_status"] == "OPEN"
    assert record["most_recent_published_version"] is None
    assert record["draft_version"]["asset_count"] == 4
    assert record["draft_version"]["size"] == 3 * 10241 + 10
    assert "dandiset" not in record["draft_version"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", record["modified"])
    name = archive.publish("000001")
    assert get("/dandisets/000001/").json()["most_recent_published_version"]["version"] == name


def test_version_records(get):
    info = get(f"{DRAFT}/info/").json()
    assert (info["version"], info["status"], info["asset_validation_errors"]) == ("draft", "Valid", [])
    assert info["metadata"] == get(f"{DRAFT}/").json()
    (row,) = get("/dandisets/000001/versions/").json()["results"]
    assert row["dandiset"]["identifier"] == "000001"
    assert get("/dandisets/000001/versions/?order=name").status_code == 400


def test_asset_record(get, nwb, archive):
    info = get(f"/assets/{nwb.asset_id}/info/").json()
    document = info.pop("metadata")
    assert UUID4.fullmatch(info["asset_id"])
    assert UUID4.fullmatch(info["blob"])
    assert (info["zarr"], info["path"], info["size"]) == (None, nwb.path, 10241)
    assert document == get(f"/assets/{nwb.asset_id}/").json() == get(f"{DRAFT}/assets/{nwb.asset_id}/").json()
    assert info in get(f"{DRAFT}/assets/").json()["results"]
    assert get(f"{DRAFT}/assets/{nwb.asset_id}/validation/").json()["validation_errors"] == []


def test_asset_document(get, nwb, archive, server):
    document = get(f"/assets/{nwb.asset_id}/").json()
    assert document["id"] == f"dandiasset:{nwb.asset_id}"
    assert document["contentUrl"] == [server.download_url(nwb), server.object_url(nwb)]
    assert document["contentSize"] == 10241
    assert document["digest"]["dandi:dandi-etag"] == archive.blob(nwb.blob_id).etag
    assert document["access"] == [{"schemaKey": "AccessRequirements", "status": "dandi:OpenAccess"}]
    assert document["encodingFormat"] == "application/x-nwb"
    assert "datePublished" not in document
    archive.publish("000001")
    published = get(f"/assets/{nwb.asset_id}/").json()
    assert {"datePublished", "publishedBy"} == published.keys() - document.keys()


def test_document_of_a_zarr(get, archive, server):
    asset = archive.asset_at("000001", "sub-02/image.zarr")
    document = get(f"/assets/{asset.asset_id}/").json()
    assert document["encodingFormat"] == "application/x-zarr"
    assert document["contentUrl"][1] == f"{server.store_url}/zarr/{asset.zarr_id}/"
    assert re.fullmatch("[0-9a-f]{32}-3--10", document["digest"]["dandi:dandi-zarr-checksum"])


def test_metadata_of_the_uploader(get, archive, files):
    asset = archive.add_asset("000003", "x.nwb", files["a"], metadata={"keywords": ["new"], "path": "no"})
    document = get(f"/assets/{asset.asset_id}/").json()
    assert (document["keywords"], document["path"]) == (["new"], "x.nwb")


def test_asset_of_another_version(get, archive, nwb):
    name = archive.publish("000001")
    archive.remove_asset("000001", nwb.path)
    assert get(f"{DRAFT}/assets/{nwb.asset_id}/").status_code == 404
    assert get(f"/dandisets/000001/versions/{name}/assets/{nwb.asset_id}/").status_code == 200
    assert get(f"/assets/{nwb.asset_id}/").status_code == 200


def test_folder_levels(get, nwb):
    top = get(f"{DRAFT}/assets/paths/").json()["results"]
    assert [(row["path"], row["aggregate_files"]) for row in top] == [
        ("README.txt", 1),
        ("sub-01", 2),
        ("sub-02", 1),
    ]
    assert top[1]["asset"] is None
    below = get(f"{DRAFT}/assets/paths/?path_prefix=sub-01/").json()["results"]
    assert below[0]["asset"]["asset_id"] == nwb.asset_id
    assert below[0].keys() == {"path", "version", "aggregate_files", "aggregate_size", "asset"}
    (one,) = get(f"{DRAFT}/assets/paths/?path_prefix={nwb.path}").json()["results"]
    assert one["path"] == nwb.path
    assert get(f"{DRAFT}/assets/paths/?path_prefix=none").status_code == 404


# Listings


def test_pages_of_assets(get, server, client):
    first = get(f"{DRAFT}/assets/?page_size=3&order=path").json()
    assert (first["count"], first["previous"], len(first["results"])) == (4, None, 3)
    assert first["next"] == f"{server.api_url}{DRAFT}/assets/?order=path&page=2&page_size=3"
    second = client.get(first["next"]).json()
    assert (second["count"], second["next"], len(second["results"])) == (None, None, 1)
    assert second["previous"] == f"{server.api_url}{DRAFT}/assets/?order=path&page_size=3"
    beyond = get(f"{DRAFT}/assets/?page=9")
    assert (beyond.status_code, beyond.json()["results"], beyond.json()["count"]) == (200, [], None)


def test_next_names_the_host_of_the_request(get, server):
    response = get(f"{DRAFT}/assets/?page_size=1", headers={"Host": f"localhost:{server.api.port}"})
    assert response.json()["next"].startswith(f"http://localhost:{server.api.port}/api/")


def test_pages_of_dandisets(get, client):
    first = get("/dandisets/?page_size=1").json()
    second = client.get(first["next"]).json()
    assert (first["count"], second["count"], second["next"]) == (2, 2, None)
    beyond = get("/dandisets/?page=3")
    assert (beyond.status_code, beyond.json()) == (404, {"detail": "Invalid page."})


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("path=SUB-01", {"sub-01/sub-01_ecephys.nwb", "sub-01/video.mp4"}),
        ("path=sub-01/video.mp4", {"sub-01/video.mp4"}),
        ("path=none", set()),
        ("glob=*.NWB", {"sub-01/sub-01_ecephys.nwb"}),
        ("glob=sub-0?*", set()),
        ("glob=sub-01", set()),
        ("zarr=true", {"sub-02/image.zarr"}),
    ],
)
def test_filters(get, query, expected):
    assert set(paths(get(f"{DRAFT}/assets/?{query}"))) == expected


def test_listing_with_metadata(get, nwb):
    rows = get(f"{DRAFT}/assets/?metadata=true").json()["results"]
    document = get(f"/assets/{nwb.asset_id}/").json()
    assert [row["metadata"] for row in rows if row["path"] == nwb.path] == [document]
    assert "metadata" not in get(f"{DRAFT}/assets/").json()["results"][0]


@pytest.mark.parametrize("query", ["order=size", "metadata=maybe", "zarr=2"])
def test_bad_parameters(get, query):
    response = get(f"{DRAFT}/assets/?{query}")
    assert response.status_code == 400
    assert list(response.json()) == [query.partition("=")[0]]


# Downloads


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_download_is_a_redirect(client, server, nwb, method):
    response = client.request(method, server.download_url(nwb))
    location = httpx.URL(response.headers["Location"])
    assert (response.status_code, response.content) == (302, b"")
    assert str(location.copy_with(query=None)) == server.object_url(nwb)
    assert location.params["response-content-disposition"] == 'attachment; filename="sub-01_ecephys.nwb"'
    assert location.params["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
    assert location.params["X-Amz-Expires"] == "21600"
    assert location.params["X-Amz-SignedHeaders"] == "host"
    assert client.request(method, server.download_url(nwb)).headers["Location"] != str(location)


def test_nested_download(get, nwb, client):
    response = get(f"{DRAFT}/assets/{nwb.asset_id}/download/", follow_redirects=True)
    assert (response.status_code, len(response.content)) == (200, 10241)


def test_inline_download(get, nwb, archive, client):
    location = get(f"/assets/{nwb.asset_id}/download/?content_disposition=inline").headers["Location"]
    response = client.get(location)
    assert response.headers["Content-Disposition"].startswith("inline;")
    assert response.headers["Content-Type"] == "application/x-nwb"
    video = archive.asset_at("000001", "sub-01/video.mp4")
    page = get(f"/assets/{video.asset_id}/download/?content_disposition=inline")
    assert (page.status_code, "<video" in page.text) == (200, True)
    assert get(f"/assets/{nwb.asset_id}/download/?content_disposition=x").status_code == 400


def test_zarr_cannot_be_downloaded(get, archive):
    asset = archive.asset_at("000001", "sub-02/image.zarr")
    response = get(f"/assets/{asset.asset_id}/download/")
    assert response.status_code == 400
    assert response.json().startswith("Unable to provide download link for zarr assets.")


# Blobs and Zarr stores


def test_blob_by_its_digest(client, server, archive, nwb):
    def ask(**digest):
        return client.post(f"{server.api_url}/blobs/digest/", json=digest)

    blob = archive.blob(nwb.blob_id)
    found = ask(algorithm="dandi:dandi-etag", value=blob.etag).json()
    assert found == {
        "blob_id": blob.blob_id,
        "etag": blob.etag,
        "sha256": archive.sha256(blob),
        "size": 10241,
    }
    assert ask(algorithm="dandi:sha2-256", value=found["sha256"]).json() == found
    assert ask(algorithm="dandi:dandi-etag", value="0" * 32 + "-1").status_code == 404
    assert ask(algorithm="md5", value="0").status_code == 400
    assert ask(value="0").status_code == 400


def test_zarr_listing(get, archive, client):
    zarr_id = archive.asset_at("000001", "sub-02/image.zarr").zarr_id
    record = get(f"/zarr/{zarr_id}/").json()
    assert (record["status"], record["file_count"], record["size"]) == ("Complete", 3, 10)
    first = get(f"/zarr/{zarr_id}/files/?limit=2").json()
    assert first.keys() == {"next", "results"}
    assert [row["Key"] for row in first["results"]] == ["x/c/0 1", "x/zarr.json"]
    second = client.get(first["next"]).json()
    assert ([row["Key"] for row in second["results"]], second["next"]) == (["zarr.json"], None)
    assert len(get(f"/zarr/{zarr_id}/files/?prefix=x/c").json()["results"]) == 1
    assert get(f"/zarr/{zarr_id}/files/?limit=x").status_code == 400


def test_one_file_of_a_zarr(get, client, server, archive):
    zarr_id = archive.asset_at("000001", "sub-02/image.zarr").zarr_id
    path = f"/zarr/{zarr_id}/files/?download=true&prefix=x/c/0%201"
    assert get(path, follow_redirects=True).content == b"chunk"
    head = client.head(f"{server.api_url}{path}", follow_redirects=True)
    assert (head.status_code, head.headers["Content-Length"]) == (200, "5")
    assert get(f"/zarr/{zarr_id}/files/?download=true&prefix=x/c").status_code == 404


# Keys and embargo


def test_own_key(get):
    assert get("/auth/token/", headers=OWNER).json() == "alice-key"
    response = get("/auth/token/")
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Token")


@pytest.mark.parametrize("path", ["/info/", "/dandisets/", f"{DRAFT}/assets/", f"/assets/{NOBODY}/"])
def test_wrong_key_is_refused_everywhere(get, path):
    response = get(path, headers={"Authorization": "token other"})
    assert (response.status_code, response.json()) == (401, {"detail": "Invalid token."})


def test_keyword_has_no_case_and_other_schemes_are_ignored(get):
    assert get("/auth/token/", headers={"Authorization": "TOKEN alice-key"}).status_code == 200
    assert get("/info/", headers={"Authorization": "Bearer x"}).status_code == 200
    assert get("/info/", headers={"Authorization": "token"}).status_code == 401


SECRET = "/dandisets/000002/versions/draft"


@pytest.mark.parametrize(
    "path", ["/dandisets/000002/", f"{SECRET}/", f"{SECRET}/assets/", f"{SECRET}/assets/paths/"]
)
def test_embargoed_dandiset(get, path):
    anonymous, other, admin, owner = (get(path, headers=key) for key in ({}, OTHER, ADMIN, OWNER))
    assert anonymous.status_code == 401
    assert anonymous.json() == {"detail": "Authentication credentials were not provided."}
    assert "WWW-Authenticate" in anonymous.headers
    assert other.status_code == 403
    assert other.json() == {"detail": "You do not have permission to perform this action."}
    assert (admin.status_code, owner.status_code) == (403, 200)


@pytest.mark.parametrize("end", ["", "info/", "download/"])
def test_embargoed_asset(get, secret, end):
    alone = [
        get(f"/assets/{secret.asset_id}/{end}", headers=key).status_code for key in ({}, OTHER, ADMIN, OWNER)
    ]
    nested = [
        get(f"{SECRET}/assets/{secret.asset_id}/{end}", headers=key).status_code
        for key in ({}, OTHER, ADMIN, OWNER)
    ]
    good = 302 if end == "download/" else 200
    assert (alone, nested) == ([401, 403, good, good], [401, 403, 403, good])


def test_unembargoing_is_embargoed_and_opening_opens(get, archive, secret):
    archive.set_embargo("000002", "UNEMBARGOING")
    assert get("/dandisets/000002/").status_code == 401
    archive.set_embargo("000002", "OPEN")
    assert get("/dandisets/000002/").status_code == 200
    assert get(f"/assets/{secret.asset_id}/").status_code == 200


def test_asset_looks_at_its_blob(get, archive, secret):
    """A blob that is also in an open dandiset is open; the nested address looks at the dandiset."""
    archive.add_asset("000001", "copy.nwb", archive.blob(secret.blob_id))
    assert get(f"/assets/{secret.asset_id}/").status_code == 200
    assert get(f"{SECRET}/assets/{secret.asset_id}/").status_code == 401


def test_embargoed_zarr_does_not_exist_for_others(get, archive, zarr_folder):
    asset = archive.add_asset("000002", "x.zarr", zarr_folder)
    answers = [
        get(f"/zarr/{asset.zarr_id}/{end}", headers=key).status_code
        for key in ({}, OTHER, OWNER)
        for end in ("", "files/")
    ]
    assert answers == [404, 404, 404, 404, 200, 200]


def test_listing_of_embargoed_dandisets(get):
    def listed(**options):
        rows = get("/dandisets/?embargoed=true", **options).json()["results"]
        return [row["identifier"] for row in rows]

    anonymous = get("/dandisets/?embargoed=true")
    assert (anonymous.status_code, type(anonymous.json())) == (401, str)
    assert listed(headers=OWNER) == ["000001", "000002", "000003"]
    assert listed(headers=OTHER) == ["000001", "000003"]
    mine = get("/dandisets/?user=me", headers=OWNER).json()["results"]
    assert [row["identifier"] for row in mine] == ["000001"]


# Faults


def test_throttling(archive, client):
    with ArchiveServer(archive, requests_per_minute=2) as server:
        statuses = [client.get(f"{server.api_url}/info/").status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        response = client.get(f"{server.api_url}/info/")
        seconds = int(response.headers["Retry-After"])
        expected = f"Request was throttled. Expected available in {seconds} seconds."
        assert response.json() == {"detail": expected}
        assert client.get(f"{server.api_url}/info/", headers=OWNER).status_code == 200


def test_ordered_faults(get, server):
    server.api.faults.add(Fault(path="api/info/", status=429, retry_after=30, times=1))
    server.api.faults.add(Fault(path="api/info/", status=502, html=True, after=1, times=1))
    server.api.faults.add(Fault(path="api/info/", status=500, after=2, times=1))
    throttled, proxy, failed, good = (get("/info/") for _ in range(4))
    assert throttled.headers["Retry-After"] == "30"
    assert "in 30 seconds" in throttled.json()["detail"]
    assert (proxy.status_code, proxy.headers["Content-Type"]) == (502, "text/html")
    assert (failed.status_code, good.status_code) == (500, 200)


def test_draft_that_changes_between_pages(get, server, archive, client):
    server.api.faults.add(
        Fault(path="*/assets/", after=1, times=1, action=lambda: archive.remove_asset("000001", "README.txt"))
    )
    first = get(f"{DRAFT}/assets/?page_size=2&order=path").json()
    second = client.get(first["next"]).json()
    listed = [row["path"] for row in first["results"] + second["results"]]
    assert first["count"] == 4
    assert listed == ["README.txt", "sub-01/sub-01_ecephys.nwb", "sub-02/image.zarr"]


def test_key_is_noted_in_the_log_but_not_kept(get, server):
    get("/info/", headers=OWNER)
    (entry,) = server.api.log
    assert entry.has_authorization
    assert "alice-key" not in json.dumps(vars(entry))
    assert "alice-key" not in repr(server.archive.users["alice-key"])


def test_archive_without_anything(client):
    with ArchiveServer(Archive()) as server:
        assert client.get(f"{server.api_url}/dandisets/").json()["results"] == []
