import pytest

from shadowzarr.access.archives import (
    api_key,
    archive_named,
    archive_of,
    asset_address,
    authorization,
    download_url,
    register_archive,
)
from shadowzarr.errors import UsageError

ASSET = "5a9cc6f1-aeaf-46cc-aae7-ea27960236ea"
DANDI = "https://api.dandiarchive.org/api"
SANDBOX = "https://api.sandbox.dandiarchive.org/api"


@pytest.fixture
def _keys(monkeypatch):
    monkeypatch.setenv("DANDI_API_KEY", "real")
    monkeypatch.setenv("DANDI_SANDBOX_API_KEY", "sandbox")


@pytest.mark.usefixtures("_keys")
@pytest.mark.parametrize(
    ("url", "key"),
    [
        (f"{DANDI}/assets/{ASSET}/download/", "real"),
        (f"{SANDBOX}/assets/{ASSET}/download/", "sandbox"),
        (DANDI, "real"),
        (f"https://API.dandiarchive.org:443/api/assets/{ASSET}/download/", "real"),
        (f"http://api.dandiarchive.org/api/assets/{ASSET}/download/", None),  # unencrypted
        (f"https://api.dandiarchive.org:8443/api/assets/{ASSET}/download/", None),
        (f"https://api.dandiarchive.org.evil.org/api/assets/{ASSET}/download/", None),
        (f"https://evil.org/api/assets/{ASSET}/download/", None),
        (f"https://user@evil.org/api.dandiarchive.org/api/assets/{ASSET}/", None),
        ("https://api.dandiarchive.org/apis/x", None),
        ("https://dandiarchive.s3.amazonaws.com/blobs/2db/af0/x", None),
        ("s3://dandiarchive/blobs/2db/af0/x", None),
    ],
)
def test_a_key_belongs_to_one_origin_and_path(url, key):
    assert api_key(url) == key
    assert authorization(url) == ({} if key is None else {"Authorization": f"token {key}"})


def test_no_key_in_the_environment_is_no_header(monkeypatch):
    assert authorization(f"{DANDI}/info/") == {}
    monkeypatch.setenv("DANDI_API_KEY", "")
    assert authorization(f"{DANDI}/info/") == {}


def test_registering_an_archive(monkeypatch):
    archive = register_archive(
        "http://127.0.0.1:8000/api/", key_env="LOCAL_API_KEY", web_url="http://127.0.0.1:9/"
    )
    monkeypatch.setenv("LOCAL_API_KEY", "local")
    assert (archive.name, archive.api_url) == ("127.0.0.1:8000", "http://127.0.0.1:8000/api")
    assert archive.web_urls == ("http://127.0.0.1:9",)
    assert api_key("http://127.0.0.1:8000/api/info/") == "local"
    assert api_key("http://127.0.0.1:8001/api/info/") is None
    assert archive_named("127.0.0.1:8000") is archive
    assert archive_named("http://127.0.0.1:8000/api/") is archive
    assert archive_of("http://127.0.0.1:8000/api/assets/") is archive


def test_registering_again_replaces():
    register_archive("http://127.0.0.1:8000/api", name="one")
    second = register_archive("http://127.0.0.1:8000/api", name="two", key_env="OTHER_KEY")
    assert archive_named("one") is None
    assert archive_named("two") is second


@pytest.mark.parametrize("api_url", ["", "dandi", "ftp://host/api", "http://"])
def test_an_archive_needs_a_url(api_url):
    with pytest.raises(UsageError, match="http"):
        register_archive(api_url)


@pytest.mark.parametrize(
    "url",
    [
        f"{DANDI}/assets/{ASSET}/download/",
        f"{DANDI}/assets/{ASSET}/download",
        f"{DANDI}/assets/{ASSET}/download/?content_disposition=inline",
        f"{DANDI}/assets/{ASSET}/",
        f"{DANDI}/assets/{ASSET}",
        f"{DANDI}/assets/{ASSET}/info/",
        f"{DANDI}/assets/{ASSET.upper()}/download/",
        f"{DANDI}/dandisets/000409/versions/draft/assets/{ASSET}/download/",
        f"{DANDI}/dandisets/000409/versions/0.240101.1200/assets/{ASSET}/",
    ],
)
def test_urls_of_an_asset(url):
    assert asset_address(url) == (DANDI, ASSET)
    assert download_url(*asset_address(url)) == f"{DANDI}/assets/{ASSET}/download/"


@pytest.mark.parametrize(
    "url",
    [
        f"{DANDI}/assets/",
        f"{DANDI}/assets/paths/",
        f"{DANDI}/dandisets/000409/versions/draft/assets/",
        f"{DANDI}/assets/{ASSET}/validation/",
        f"{DANDI}/assets/{ASSET[:-1]}/download/",
        f"https://elsewhere.org/api/assets/{ASSET}/",  # only a download URL is taken at any host
        f"https://elsewhere.org/assets/{ASSET}/download/",
        f"/api/assets/{ASSET}/download/",
        f"s3://bucket/api/assets/{ASSET}/download/",
    ],
)
def test_urls_that_are_not_of_an_asset(url):
    assert asset_address(url) is None


def test_a_download_url_is_known_at_any_host():
    url = f"http://127.0.0.1:8000/api/dandisets/000001/versions/draft/assets/{ASSET}/download/"
    assert asset_address(url) == ("http://127.0.0.1:8000/api", ASSET)
