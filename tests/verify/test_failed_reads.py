"""A server that fails while references are verified: never a difference of values, at whichever request."""

import h5py
import numpy as np
import pytest
import tifffile

from shadowzarr import generate_rfs, verify_rfs, write_rfs
from shadowzarr.access import http_client
from shadowzarr.access.http_client import RetryPolicy
from shadowzarr.access.range_reader import default_reader
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.jobs import VerificationOptions, VerifyJob
from shadowzarr.catalog.verify_asset import verify_asset
from shadowzarr.errors import (
    AccessDeniedError,
    ReadError,
    ReferencesDifferError,
    ShadowzarrError,
    SourceChangedError,
    SourceNotFoundError,
    TransientReadError,
)
from shadowzarr.formats.tiff.generate import generate_rfs_tiff
from shadowzarr.testing import Fault, RangeServer

TRIES = 2
SIZE = 300_000
"""Values of two bytes: h5py asks for some of them while it reads, not only for the head of the file."""

FAULTS = {
    "another start": ({"shift_start": 7}, TransientReadError, "the answer says"),
    "no Content-Range": ({"hide_range": True}, TransientReadError, "the answer says"),
    "the whole file": ({"ignore_range": True}, ReadError, "ignores Range"),
    "short": ({"short_by": 5, "declare_short": True}, ReadError, "came"),
    "500": ({"status": 500}, TransientReadError, "500"),
    "404": ({"status": 404}, SourceNotFoundError, "404"),
    "403": ({"status": 403}, AccessDeniedError, "403"),
    "416": ({"status": 416}, (ReadError, SourceChangedError), "416|it has 0 bytes"),
    "another ETag": ({"etag": '"another"'}, SourceChangedError, "is not the file that was indexed"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verified")
    values = np.arange(SIZE, dtype="<u2").reshape(600, 500)
    with h5py.File(folder / "a.h5", "w") as file:
        file.create_dataset("chunked", data=values[:50], chunks=(10, 500), compression="gzip")
        file["contiguous"] = values
        ragged = file.create_dataset("ragged", (5,), h5py.vlen_dtype("<i4"))
        ragged[...] = np.array([np.arange(each) for each in range(1, 6)], dtype=object)
    with h5py.File(folder / "plain.h5", "w") as file:
        file["contiguous"] = values
    tifffile.imwrite(folder / "a.tif", values, tile=(64, 64), compression="zlib")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with RangeServer(folder) as running:
        for name in ("a.h5", "plain.h5"):
            write_rfs(generate_rfs(running.url(name)), folder / f"{name}.json")
        write_rfs(generate_rfs_tiff(running.url("a.tif")), folder / "a.tif.json")
        yield running


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    policy = RetryPolicy(attempts=TRIES, first_pause=0.001, longest_pause=0.002)
    monkeypatch.setattr(http_client, "DEFAULT_RETRIES", policy)
    monkeypatch.setattr(default_reader()._http, "_live", {})


def job_of(server, name, **more):
    given = {"staged": server.folder / f"{name}.json", "options": VerificationOptions(mode="full"), **more}
    return VerifyJob(server.url(name), archive=ArchiveAddress("https://example.org/api"), **given)


def requests_of(server, name):
    server.log.clear()
    assert verify_rfs(server.folder / f"{name}.json", mode="full").equal
    return len(server.log)


@pytest.mark.parametrize("name", ["a.h5", "a.tif"])
@pytest.mark.parametrize("fault", FAULTS)
def test_from_any_request_on(server, monkeypatch, name, fault):
    effects, kind, says = FAULTS[fault]
    job = job_of(server, name)
    for after in range(requests_of(server, name)):
        monkeypatch.setattr(default_reader()._http, "_live", {})
        shown = server.faults.add(Fault(path=name, after=after, **effects))
        try:
            with pytest.raises(ShadowzarrError, match=says) as caught:
                verify_asset(job)
        finally:
            server.faults.clear()
        assert shown.hits
        assert isinstance(caught.value, kind), (after, caught.value)


@pytest.mark.parametrize("name", ["plain.h5", "a.tif"])
def test_other_bytes_once(server, monkeypatch, name):
    """Whichever answer is another than the next time: nothing that is compared with it is a difference.

    But for those that hold headers or a heap: HDF5 may go on in such bytes for a minute.
    """
    said = 0
    for after in range(requests_of(server, name)):
        monkeypatch.setattr(default_reader()._http, "_live", {})
        shown = server.faults.add(Fault(path=name, after=after, times=1, ranges_from=1, other_bytes=True))
        found = outcome(job_of(server, name))
        server.faults.clear()
        if not shown.hits:
            break
        if found:
            assert "a server sent other bytes when it was read again" in found
            said += 1
    assert said


def outcome(job):
    """What went wrong that may pass."""
    try:
        return "" if verify_asset(job).equal else "different"
    except TransientReadError as error:
        return str(error)


def test_of_a_local_copy(server, folder):
    """The references read the server; what they compare with is on disk."""
    job = job_of(server, "a.h5", local=str(folder / "a.h5"))
    assert verify_asset(job).equal
    server.faults.add(Fault(path="a.h5", status=404))
    try:
        with pytest.raises(SourceNotFoundError, match="404"):
            verify_asset(job)
    finally:
        server.faults.clear()


def test_what_references_name_wrongly_is_a_difference(server):
    """Bytes past the end of the file, and a file that is not there."""
    rfs = generate_rfs(server.url("a.h5"))
    key = next(key for key, value in rfs["refs"].items() if not isinstance(value, str))
    url, offset, size = rfs["refs"][key]
    for wrong in ([url, offset + 10**7, size], [server.url("b.h5"), offset, size]):
        report = verify_rfs({**rfs, "refs": {**rfs["refs"], key: wrong}}, server.url("a.h5"), mode="full")
        assert [each.kind for each in report.differences] == ["unreadable references"]


def test_a_real_difference_is_found_twice(server, folder):
    rfs = generate_rfs(server.url("a.h5"))
    keys = [key for key, value in rfs["refs"].items() if not isinstance(value, str)][:2]
    refs = {**rfs["refs"], keys[0]: rfs["refs"][keys[1]]}
    write_rfs({**rfs, "refs": refs}, folder / "wrong.json")
    with pytest.raises(ReferencesDifferError):
        verify_asset(job_of(server, "a.h5", staged=folder / "wrong.json"))


def test_another_file_is_no_fault_of_the_references(server):
    """Its size is another than that of the file that was indexed."""
    server.faults.add(Fault(path="a.h5", shift_total=1))
    try:
        with pytest.raises(SourceChangedError, match="when it was indexed it had"):
            verify_asset(job_of(server, "a.h5"))
    finally:
        server.faults.clear()
