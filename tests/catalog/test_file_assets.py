"""Files as assets: who they are, when they count as changed, and what that costs."""

import os

import pytest

from shadowzarr.access.sources import describe
from shadowzarr.catalog.asset_names import identity_problem
from shadowzarr.catalog.file_assets import FoundFile, file_assets
from shadowzarr.testing import RangeServer


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"first")
    return path


def asset(place, *, collection="raw", name="sub/a.bin", identity="time", **more):
    found = FoundFile(name, str(place), more.pop("url", str(place)), **more)
    (made,) = file_assets(collection, [found], identity=identity)
    return made


def test_a_local_file(file):
    made = asset(file)
    assert (made.dandiset, made.version, made.path, made.size) == ("raw", "current", "sub/a.bin", 5)
    assert (made.download_url, made.local_path, made.source_etag) == (str(file), "", "")
    assert identity_problem(made.asset_id, made.etag) is None
    assert made == asset(file)


def test_who_it_is_depends_on_its_name_alone(file):
    made = asset(file)
    assert asset(file, name="b").asset_id != made.asset_id
    assert asset(file, collection="other").asset_id != made.asset_id
    file.write_bytes(b"another")
    assert asset(file).asset_id == made.asset_id


def test_a_change_shows_by_size_or_time(file):
    states = {asset(file).etag}
    os.utime(file, ns=(1, 1))
    states.add(asset(file).etag)
    file.write_bytes(b"longer than before")
    os.utime(file, ns=(1, 1))
    states.add(asset(file).etag)
    assert len(states) == 3


def test_a_digest_sees_content_and_nothing_else(file):
    before = asset(file, identity="digest").etag
    os.utime(file, ns=(1, 1))
    assert asset(file, identity="digest").etag == before
    status = file.stat()
    file.write_bytes(b"other")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert asset(file, identity="digest").etag != before


def test_files_that_look_alike_are_never_taken_for_one(file, tmp_path):
    other = tmp_path / "b.bin"
    other.write_bytes(file.read_bytes())
    for path in (file, other):
        os.utime(path, ns=(1, 1))
    assert asset(file).etag != asset(other).etag


def test_a_hosted_file_is_named_by_its_url_and_read_here(file):
    made = asset(file, url="https://host.test/sub/a.bin")
    assert (made.download_url, made.local_path) == ("https://host.test/sub/a.bin", str(file))
    assert made.etag != asset(file).etag


def test_a_remote_file_costs_one_request_and_a_known_one_none(file):
    with RangeServer(file.parent) as server:
        url = server.url("a.bin")
        made = asset(url)
        (entry,) = server.log
        assert entry.sent == 1
        etag = describe(url).etag
        assert (made.size, made.source_etag) == (5, etag.strip('"'))
        asked = len(server.log)
        assert asset(url, size=5, etag=etag) == made
        assert asset(url, size=5, etag='"another"').etag != made.etag
        assert len(server.log) == asked


def test_what_cannot_be_looked_at_is_an_asset_that_will_fail(tmp_path):
    for place in (tmp_path / "gone", "http://127.0.0.1:1/gone"):
        made = asset(place)
        assert made.size == 0
        assert identity_problem(made.asset_id, made.etag) is None


def test_a_zarr_store_is_not_looked_at(tmp_path):
    assert asset(tmp_path / "a.zarr", kind="zarr").kind == "zarr"
