"""Whole runs while archive, network or disk are in a bad way: what is hit is told, nothing else is hit."""

import itertools
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from shadowzarr.access import dandi_api
from shadowzarr.catalog.child_pool import ChildPool
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.jobs import PRELOAD
from shadowzarr.catalog.records import read_record
from shadowzarr.errors import ArchiveError
from shadowzarr.testing.faults import Fault

ROOT = Path(__file__).resolve().parents[2]


def records(folder: Path):
    return {record.path: record for record in map(read_record, folder.rglob("*.record.json"))}


def test_answers_that_pass_are_asked_for_again(archive, request_of, pool):
    archive.api.faults.add(Fault(status=500, times=1, after=1))
    archive.api.faults.add(Fault(status=429, retry_after=1, times=1, path="*/download/"))
    archive.store.faults.add(Fault(status=503, times=1))
    archive.store.faults.add(Fault(drop=True, times=1, after=3))
    summary = index_dandisets(request_of(), pool=pool)
    assert summary.outcome_counts == {"indexed": 2}
    assert {entry.status for entry in archive.api.log.entries} >= {500, 429, 200, 302}


def test_a_server_that_drips_costs_its_asset_alone(archive, request_of, tmp_path):
    slow = archive.archive.asset_at("000001", "sub-0/0.nwb")
    archive.store.faults.add(Fault(path=archive.object_path(slow), bandwidth=20))
    with ChildPool(1, timeout=8, preload=PRELOAD) as pool:
        summary = index_dandisets(request_of(), pool=pool)
    assert summary.outcome_counts == {"failed": 1, "indexed": 1}
    error = records(tmp_path / "out")["sub-0/0.nwb"].error
    assert (error.stage, error.kind) == ("index", "ChildTimedOutError")
    assert "longer than 8 s" in error.message


@pytest.fixture
def pages_of_one(monkeypatch):
    """Listings of one asset per page, so that there is a time between two pages."""
    monkeypatch.setattr(dandi_api, "PAGE_SIZE", 1)


def between_pages(archive, action, *, times=1):
    archive.api.faults.add(Fault(path="*/assets/", after=1, times=times, action=action))


def test_a_listing_that_changes_once_is_read_again(archive, request_of, pool, pages_of_one):
    between_pages(archive, lambda: archive.archive.remove_asset("000001", "sub-1/1.nwb"))
    summary = index_dandisets(request_of(), pool=pool)
    assert [record.path for record in summary.records] == ["sub-0/0.nwb"]


def test_a_listing_that_grows_with_every_page_is_an_error(
    archive, request_of, pool, pages_of_one, tmp_path, write_file
):
    number = itertools.count()

    def add():
        name = f"sub-9/{next(number)}.nwb"
        archive.archive.add_asset("000001", name, write_file(tmp_path / name, seed=len(name)))

    between_pages(archive, add, times=None)
    with pytest.raises(ArchiveError, match=r"assets of dandiset 000001 version draft.*try again"):
        index_dandisets(request_of(), pool=pool)
    assert not list((tmp_path / "out" / ".shadowzarr").glob("staging/*"))


LIMITED = """
import resource, sys
from pathlib import Path
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.request import DandisetRequest, IndexRequest
from shadowzarr.errors import OutputError

api_url, output, limit = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
request = IndexRequest(
    ArchiveAddress(api_url), (DandisetRequest("000001"),), Path(output), concurrency=1, timeout=60.0
)
try:
    summary = index_dandisets(request)
except OutputError as error:
    print(error)
else:
    for record in summary.records:
        print(record.path, record.error and record.error.message)
"""


def limited_run(archive, output: Path, limit: int) -> str:
    """What a run says whose files may not be larger than so many bytes, as on a disk that is full."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED), archive.api_url, str(output), str(limit)],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("limit", [60, 1500])
def test_a_full_disk_is_told_and_leaves_nothing_half_written(archive, request_of, pool, tmp_path, limit):
    """Whether references, records or not even a list can be written; then there is room again."""
    printed = limited_run(archive, tmp_path / "out", limit)
    assert printed.count("cannot ") == 2
    assert "File too large" in printed
    for path in (tmp_path / "out").rglob("*"):
        if path.suffix == ".json":
            json.loads(path.read_bytes())
    assert not (tmp_path / "out" / ".shadowzarr" / "staging").exists()
    assert index_dandisets(request_of(), pool=pool).outcome_counts == {"indexed": 2}
    assert all(record.outcome == "indexed" for record in records(tmp_path / "out").values())
