"""An archive under embargo, with faults: its key and the signatures of its URLs are nowhere afterwards.

Everything that is written, logged, raised, sent or kept is searched for them.
"""

import logging
import pickle
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from flows.report.writing import render_report
from shadowzarr import LocalCache, RfsStore, generate_rfs, open_rfs, write_rfs
from shadowzarr.access import archives, http_client, obstore_transport
from shadowzarr.access.dandi_api import DandiArchive
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader, default_reader
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.request import DandisetRequest, IndexRequest
from shadowzarr.errors import ShadowzarrError, UsageError
from shadowzarr.testing import Archive, ArchiveServer, Fault, RangeServer

KEY = "k3y-of-the-owner-of-the-embargoed"
PASSWORD = "p4ssw0rd-in-the-url"
VARIABLE = "SECRETS_API_KEY"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ArchiveServer]:
    """Three recordings under embargo, one of them damaged."""
    contents = Archive()
    contents.add_user("owner", key=KEY)
    contents.add_dandiset("000001", embargo="EMBARGOED", owners=["owner"])
    for number in range(3):
        path = tmp_path / "files" / f"{number}.nwb"
        path.parent.mkdir(exist_ok=True)
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=np.arange(3000) + number, chunks=(500,), compression="gzip")
    path.write_bytes(path.read_bytes()[:3000])
    for number in range(3):
        contents.add_asset("000001", f"sub-{number}/{number}.nwb", path.with_name(f"{number}.nwb"))
    with ArchiveServer(contents) as running:
        yield running


@pytest.fixture
def signatures(served: ArchiveServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Those of all URLs that it gives."""
    given: list[str] = []
    sign = served.signer.sign

    def noted(*arguments: object, **options: object) -> str:
        url = sign(*arguments, **options)
        given.append(url.rpartition("X-Amz-Signature=")[2].partition("&")[0])
        return url

    monkeypatch.setattr(served.signer, "sign", noted)
    return given


def found_in(folder: Path, secrets: list[str]) -> dict[str, list[str]]:
    """Files below a folder whose bytes or name hold a secret."""
    found = {}
    for path in folder.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        hits = [each for each in secrets if each.encode() in content or each in path.name]
        if hits:
            found[str(path.relative_to(folder))] = hits
    return found


@pytest.fixture
def _registered(served: ArchiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = RetryPolicy(attempts=2, first_pause=0.001, longest_pause=0.002)
    monkeypatch.setattr(http_client, "DEFAULT_RETRIES", quick)
    monkeypatch.setattr(archives, "_registered", dict(archives._registered))
    monkeypatch.setattr(default_reader()._http, "_live", {})
    monkeypatch.setenv(VARIABLE, KEY)
    archives.register_archive(served.api_url, name="secrets", key_env=VARIABLE)


@pytest.mark.usefixtures("_registered")
def test_a_run_over_an_embargoed_archive(
    served: ArchiveServer, signatures: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With retries, an address that expires, an asset that the store refuses and one that is damaged."""
    caplog.set_level(logging.DEBUG)
    broken = served.archive.asset_at("000001", "sub-1/1.nwb")
    served.store.faults.add(Fault(status=503, times=2))
    served.store.faults.add(Fault(path=served.object_path(broken), status=400))
    served.store.faults.add(Fault(after=3, times=1, action=served.signer.expire_all))
    work = tmp_path / "work"
    request = IndexRequest(
        archive=ArchiveAddress(served.api_url, VARIABLE),
        dandisets=(DandisetRequest("000001"),),
        output=work / "out",
        private_output=work / "private",
        concurrency=1,
        timeout=120.0,
    )
    summary = index_dandisets(request)
    assert summary.outcome_counts == {"indexed": 1, "failed": 2}
    assert sum(record.statistics.get("retries", 0) for record in summary.records) > 0
    assert len(list((work / "private").rglob("*.record.json"))) == 3
    (work / "report.html").write_text(render_report(summary, include_private=True))
    (work / "told.txt").write_text(caplog.text + repr(summary) + repr(request))
    secrets = [KEY, *signatures, "X-Amz-Signature", "AKIASTANDIN"]
    assert len(signatures) > 3
    assert found_in(work, secrets) == {}
    assert len(found_in(work, ["sub-1"])) > 3  # a search that finds nothing would prove nothing


def texts_of(error: BaseException) -> list[str]:
    """All that an error may be shown or kept as."""
    return [
        *traceback.format_exception(error),
        repr(error),
        repr(vars(error)),
        pickle.dumps(error).decode("latin-1"),
    ]


FAILURES = {
    "refused": {"status": 403},
    "wrong": {"status": 400},
    "busy": {"status": 503},
    "changed": {"status": 412},
    "gone": {"status": 404},
    "dropped": {"drop": True},
    "short": {"short_by": 1},
    "elsewhere": {"shift_start": 1},
    "compressed": {"gzip": True},
    "circles": {"status": 302, "location": "{path}"},
}


@pytest.mark.usefixtures("_registered")
@pytest.mark.parametrize("transport", ["fast", "slow"])
def test_references_caches_logs_and_errors(
    served: ArchiveServer,
    signatures: list[str],
    tmp_path: Path,
    transport: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    if transport == "slow":
        monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    with DandiArchive(served.api_url) as client:
        asset = next(client.list_assets("000001", "draft"))
    work = tmp_path / "work"
    work.mkdir()
    rfs = generate_rfs(asset.download_url)
    write_rfs(rfs, work / "refs.json")
    cache = LocalCache(work / "cache")
    store = RfsStore(work / "refs.json", local_cache=cache)
    root = open_rfs(work / "refs.json", local_cache=cache)
    assert root["x"][...].tolist() == list(range(3000))
    texts = [*map(repr, (store, root, root["x"], cache, default_reader(), client)), str(store)]
    texts += [pickle.dumps(each).decode("latin-1") for each in (store, default_reader())]
    for effects in FAILURES.values():
        served.store.faults.add(Fault(**effects))
        for use in (lambda: generate_rfs(asset.download_url), lambda: open_rfs(rfs)["x"][...]):
            monkeypatch.setattr(default_reader()._http, "_live", {})
            texts += texts_of(error_of(use))
        served.store.faults.clear()
    for effects in (each for each in FAILURES.values() if "status" in each):
        served.api.faults.add(Fault(path="*/download/", **effects))
        texts += texts_of(error_of(lambda: DefaultReader().probe(asset.download_url)))
        served.api.faults.clear()
    texts.append(caplog.text)
    assert "download" in caplog.text
    if transport == "slow":
        assert "/dandiarchive/" in caplog.text  # urllib3 logs each request, without what is secret
    assert {len(each) for each in signatures} == {64}
    secrets = [KEY, *signatures, "X-Amz-Signature", "AKIASTANDIN"]
    assert [(each, text[-500:]) for text in texts for each in secrets if each in text] == []
    assert found_in(work, secrets) == {}


def error_of(use: Callable[[], object]) -> ShadowzarrError:
    with pytest.raises(ShadowzarrError) as caught:
        use()
    return caught.value


@pytest.mark.parametrize("transport", ["fast", "slow"])
def test_passwords_in_urls(
    tmp_path: Path, transport: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """They are not written into references, and what is read by them does not show them."""
    caplog.set_level(logging.DEBUG)
    if transport == "slow":
        monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    monkeypatch.setattr(default_reader()._http, "_live", {})
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(3000)
    texts = []
    with RangeServer(tmp_path) as server:
        write_rfs(generate_rfs(server.url("a.h5")), tmp_path / "refs.json")
        with_password = [
            server.url(name).replace("://", f"://user:{PASSWORD}@")
            for name in ("a.h5", "refs.json", "none.json")
        ]
        error = error_of(lambda: generate_rfs(with_password[0]))
        assert "comes with a password" in str(error)
        assert isinstance(error, UsageError)
        cache = LocalCache(tmp_path / "cache")
        store = RfsStore(with_password[1], local_cache=cache)
        root = open_rfs(with_password[1], local_cache=cache)
        assert root["x"][5:7].tolist() == [5, 6]
        texts += [str(store), repr(store), repr(root), repr(root["x"])]
        texts += texts_of(error) + texts_of(error_of(lambda: open_rfs(with_password[2])))
    with pytest.raises(UsageError, match="api_key_env|key_env") as caught:
        archives.register_archive(f"https://user:{PASSWORD}@archive.test/api")
    texts += [*texts_of(caught.value), caplog.text]
    assert [text[-500:] for text in texts if PASSWORD in text] == []
    assert found_in(tmp_path, [PASSWORD]) == {}


def test_the_search_finds(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_bytes(b"..." + KEY.encode())
    (tmp_path / KEY).touch()
    assert found_in(tmp_path, [KEY, "other"]) == {"folder/a": [KEY], KEY: [KEY]}
