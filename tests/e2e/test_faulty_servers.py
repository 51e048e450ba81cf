"""Every fault of a server by every way to use it: right values, or one clear error, after few requests.

The faults are those of `server_faults`. Each is shown twice and then goes away, and then stays.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tifffile
from server_faults import FAULTS, ServerFault

from shadowzarr import generate_rfs, open_rfs, write_rfs
from shadowzarr.access import archives, dandi_api, http_client, obstore_transport
from shadowzarr.access.dandi_api import Asset, DandiArchive
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import DefaultReader, default_reader
from shadowzarr.access.traffic import counted
from shadowzarr.errors import ArchiveError, ShadowzarrError, SourceChangedError
from shadowzarr.formats.hdf5 import opening
from shadowzarr.formats.hdf5.opening import RemoteReading
from shadowzarr.formats.tiff import stored_file
from shadowzarr.formats.tiff.generate import generate_rfs_tiff
from shadowzarr.store.load_rfs import load_rfs
from shadowzarr.testing import Archive, ArchiveServer, Fault, RangeServer

TRIES = 4
QUICK = RetryPolicy(attempts=TRIES, first_pause=0.001, longest_pause=0.002, total=5.0)
SECRET = "s3cr3t-in-the-query"
AT_MOST = TRIES + 1 + 11 + 6
"""Requests that one request may become: all tries, one to learn the reason, redirects of both transports."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    values = np.arange(1200, dtype="<i4").reshape(60, 20)
    with h5py.File(folder / "a.h5", "w") as file:
        file.create_dataset("chunked", data=values, chunks=(7, 20), compression="gzip")
        file["contiguous"] = values
        file["contiguous"].attrs["note"] = "text"
    tifffile.imwrite(folder / "a.tif", values.astype("u2"), compression="zlib", tile=(16, 16))
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Any:
    with RangeServer(folder) as running:
        write_rfs(generate_rfs(running.url("a.h5")), folder / "a.json")
        write_rfs(generate_rfs(running.url("a.h5"), chunk_index_threshold=2), folder / "indexed")
        yield running


@dataclass(frozen=True)
class Operation:
    """One way to use a server.

    Attributes
    ----------
    run : callable
        What it gives, of a server and a reader.
    path : str
        Pattern of the paths that faults are shown for.
    is_whole : bool
        Whether what they are shown for is read whole.
    """

    run: Callable[[RangeServer, DefaultReader], Any]
    path: str
    is_whole: bool = False


def generated(server: RangeServer, _reader: DefaultReader) -> Any:
    return generate_rfs(server.url("a.h5"))


def generated_tiff(server: RangeServer, _reader: DefaultReader) -> Any:
    return generate_rfs_tiff(server.url("a.tif"))


def read(server: RangeServer, reader: DefaultReader) -> Any:
    root = open_rfs(server.folder / "a.json", reader=reader)
    return [root[name][...].tolist() for name in ("chunked", "contiguous")]


def read_a_part(server: RangeServer, reader: DefaultReader) -> Any:
    return open_rfs(server.folder / "a.json", reader=reader)["contiguous"][3:5, 2].tolist()


def read_by_index(server: RangeServer, reader: DefaultReader) -> Any:
    return open_rfs(server.url("indexed"), reader=reader)["chunked"][30:, 3].tolist()


def loaded(server: RangeServer, reader: DefaultReader) -> Any:
    return load_rfs(server.url("a.json") + f"?secret={SECRET}", reader=reader)["refs"]


OPERATIONS = {
    "generate HDF5": Operation(generated, "*.h5"),
    "generate TIFF": Operation(generated_tiff, "*.tif"),
    "read": Operation(read, "*.h5"),
    "read a part": Operation(read_a_part, "*.h5"),
    "load a document": Operation(loaded, "*.json", is_whole=True),
    "read a chunk index": Operation(read_by_index, "indexed/index/*", is_whole=True),
}


@pytest.fixture(params=["fast", "slow"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> DefaultReader:
    """A reader by each of the two transports, which generating uses too; it remembers nothing."""
    monkeypatch.setattr(http_client, "DEFAULT_RETRIES", QUICK)
    monkeypatch.setattr(default_reader()._http, "_live", {})
    if request.param == "slow":
        monkeypatch.setitem(obstore_transport._process, "is_forked", True)
    return DefaultReader()


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_fault(
    server: RangeServer,
    reader: DefaultReader,
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    name: str,
) -> None:
    done, fault = OPERATIONS[operation], FAULTS[name]
    server.log.clear()
    wanted = done.run(server, reader)
    usual = len(server.log)
    for times in (2, None):
        monkeypatch.setattr(default_reader()._http, "_live", {})
        server.log.clear()
        shown = server.faults.add(Fault(path=done.path, times=times, **fault.effects))
        try:
            kind = fault.error(is_whole=done.is_whole, is_lasting=times is None)
            if kind is None:
                with counted() as traffic:
                    assert done.run(server, DefaultReader()) == wanted
                assert traffic.retries <= 2
            else:
                check_refusal(done, server, kind, fault)
            assert shown.hits
            assert len(server.log) <= usual * AT_MOST
        finally:
            server.faults.clear()


@pytest.mark.parametrize("operation", ["generate HDF5", "generate TIFF", "read"])
@pytest.mark.parametrize("ignore_conditions", [False, True])
def test_a_file_that_becomes_another(
    server: RangeServer, reader: DefaultReader, operation: str, ignore_conditions: bool
) -> None:
    """Its ETag changes after the first request, whether the server looks at If-Match or not."""
    done = OPERATIONS[operation]
    after = 0 if operation == "read" else 1
    change = {"etag": '"another"', "ignore_conditions": ignore_conditions}
    server.faults.add(Fault(path=done.path, after=after, **change))
    try:
        with pytest.raises(SourceChangedError, match="is not the file that was indexed"):
            small_requests(done, server, reader)
    finally:
        server.faults.clear()


def small_requests(done: Operation, server: RangeServer, reader: DefaultReader) -> Any:
    """A file of a few kilobytes in more than one request."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "REMOTE", RemoteReading(512, 512, 512))
        patch.setattr(stored_file, "HEAD_BYTES", 64)
        return done.run(server, reader)


@pytest.fixture
def archive(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArchiveServer]:
    """An archive with a recording under embargo, whose key is known."""
    monkeypatch.setattr(archives, "_registered", dict(archives._registered))
    monkeypatch.setenv("FAULTY_API_KEY", "owner-key")
    contents = Archive()
    contents.add_user("owner", key="owner-key")
    contents.add_dandiset("000001", embargo="EMBARGOED", owners=["owner"])
    for name in ("a.h5", "a.tif"):
        contents.add_asset("000001", name, folder / name)
    with ArchiveServer(contents) as running:
        archives.register_archive(running.api_url, name="faulty", key_env="FAULTY_API_KEY")
        yield running


def listed(archive: ArchiveServer) -> list[Asset]:
    with DandiArchive(archive.api_url) as client:
        return list(client.list_assets("000001", "draft"))


def values_of(rfs: Any, reader: DefaultReader) -> Any:
    root = open_rfs(rfs, reader=reader, max_merge_size=0)  # a request for each chunk
    return [root[name][...].tolist() for name in ("chunked", "contiguous")]


def test_a_signature_that_expires_meanwhile(
    archive: ArchiveServer, reader: DefaultReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of a generation, and in the middle of a read: another is asked for, once each time."""
    monkeypatch.setattr(opening, "REMOTE", RemoteReading(512, 512, 512))
    url = next(asset for asset in listed(archive) if asset.path == "a.h5").download_url
    wanted = generate_rfs(url)
    values = values_of(wanted, reader)
    for after in (1, 3):
        monkeypatch.setattr(default_reader()._http, "_live", {})
        archive.api.log.clear()
        archive.store.faults.add(Fault(after=after, times=1, action=archive.signer.expire_all))
        assert generate_rfs(url) == wanted
        assert archive.api.log.count("*/download/") == 2
        archive.store.faults.clear()
    for after in (0, 2):
        archive.api.log.clear()
        again = DefaultReader()
        archive.store.faults.add(Fault(after=after, times=1, action=archive.signer.expire_all))
        assert values_of(wanted, again) == values
        assert archive.api.log.count("*/download/") == 2
        archive.store.faults.clear()
    assert not any(entry.has_authorization for entry in archive.store.log)


def test_the_key_does_not_follow_a_redirect(
    archive: ArchiveServer, reader: DefaultReader, server: RangeServer
) -> None:
    """Neither that of a download, nor that of a listing, to whatever host and path."""
    url = listed(archive)[0].download_url
    server.log.clear()
    archive.api.faults.add(Fault(path="*/download/", status=302, location=server.url("a.h5")))
    assert values_of(generate_rfs(url), reader) == read(server, reader)
    assert len(server.log) > 2
    archive.api.faults.add(Fault(path="*/assets/", status=302, location=server.url("a.json")))
    with pytest.raises(ArchiveError, match="302"):
        listed(archive)
    assert not any(entry.has_authorization for entry in [*server.log, *archive.store.log])
    assert server.log.count("a.json") == 0


API_FAULTS = [
    name
    for name in FAULTS
    if not {"shift_start", "hide_range", "ignore_range", "gzip"} & set(FAULTS[name].effects)
]


@pytest.mark.parametrize("name", API_FAULTS)
def test_listings_and_resolution(archive: ArchiveServer, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Faults of the archive's API while pages are listed, and while it is asked where a file is."""
    monkeypatch.setattr(http_client, "DEFAULT_RETRIES", QUICK)
    monkeypatch.setattr(dandi_api, "PAGE_SIZE", 1)
    wanted = listed(archive)
    url = wanted[0].download_url
    fault = FAULTS[name]
    uses = (("*/assets/", listed), ("*/download/", lambda _: DefaultReader().probe(url).total))
    for times in (2, None):
        is_right = fault.error(is_whole=False, is_lasting=times is None) is None
        is_right &= "location" not in fault.effects  # the key would go there
        for path, use in uses:
            usual = use(archive)
            archive.api.log.clear()
            shown = archive.api.faults.add(Fault(path=path, times=times, **fault.effects))
            given = outcome(use, archive)
            archive.api.faults.clear()
            assert given == usual or (isinstance(given, ShadowzarrError) and not is_right), given
            if isinstance(given, ShadowzarrError):
                check_archive_message(str(given), archive)
            assert shown.hits
            assert len(archive.api.log) <= 3 * AT_MOST


def outcome(use: Callable[[ArchiveServer], Any], archive: ArchiveServer) -> Any:
    """What it gives, or the error of the library that it raises."""
    try:
        return use(archive)
    except ShadowzarrError as error:
        return error


def check_archive_message(message: str, archive: ArchiveServer) -> None:
    assert archive.api_url in message
    assert "owner-key" not in message
    assert "Signature" not in message
    assert "\n" not in message


def check_refusal(done: Operation, server: RangeServer, kind: type[Exception], fault: ServerFault) -> None:
    with pytest.raises(ShadowzarrError) as caught:
        done.run(server, DefaultReader())
    message = str(caught.value)
    assert isinstance(caught.value, kind), message
    assert re.search(fault.says, message, re.DOTALL), message
    assert re.search(r"a\.h5|a\.tif|a\.json|indexed", message), message
    assert SECRET not in message
    assert "\n" not in message
