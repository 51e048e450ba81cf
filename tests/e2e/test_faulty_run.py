"""One run over assets each of which meets another fault, listed by pages that meet some too.

What recovers is indexed right, the others are named with their cause, and what was tried again is counted.
"""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from server_faults import FAULTS

from flows.json_lines import JsonLines
from flows.report.writing import render_report
from shadowzarr.access import dandi_api
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.records import read_record
from shadowzarr.catalog.request import DandisetRequest, IndexRequest
from shadowzarr.testing import Archive, ArchiveServer, Fault
from shadowzarr.verify import verify_rfs

DANDISET = "000001"


@dataclass(frozen=True)
class Met:
    """What an asset meets, and what comes of it.

    Attributes
    ----------
    fault : str
        Its name in `FAULTS`; that of none adds nothing.
    shown : dict
        When and how often: `after` and `times` of `Fault`, and other effects.
    says : str
        The kind of error, and what its message holds; empty when the asset is indexed.
    retries : tuple of int
        What may be counted.
    """

    fault: str = ""
    shown: dict[str, Any] = field(default_factory=dict)
    says: tuple[str, str] | None = None
    retries: tuple[int, ...] = (0,)


TWICE = {"times": 2}
"""Once for the fast way and once for the slow, which asks why: one of the tries that are counted."""

ASSETS = {
    "quiet": Met(),
    "500": Met("500", TWICE, retries=(1,)),
    "429": Met("429, Retry-After 0", TWICE, retries=(1,)),
    "reset": Met("reset in the body", TWICE, retries=(1, 2)),
    "dropped": Met("dropped", TWICE, retries=(1, 2)),
    "short": Met("short body", TWICE, retries=(1, 2)),
    "slow": Met("slow"),
    "expired": Met(shown={"after": 1, "times": 1}),
    "verify": Met("503", {"after": 1, "times": 2}, retries=(1,)),
    "lasting": Met("502 as a page", says=("TransientReadError", "6 tries"), retries=(5,)),
    "year": Met("503, Retry-After a year", says=("TransientReadError", "503")),
    "start": Met("another start", TWICE, retries=(1,)),
    "start verified": Met("another start", {"after": 1, "times": 2}, retries=(1,)),
    "start stays": Met(
        "another start", {"after": 1}, says=("TransientReadError", "the answer says"), retries=(5,)
    ),
    "whole": Met("the whole file", says=("ReadError", "ignores Range")),
    "changes": Met(
        shown={"after": 1, "etag": '"another"'},
        says=("SourceChangedError", "is not the file that was indexed"),
    ),
    "circles": Met("redirects in circles", says=("ReadError", "redirects")),
    "gone": Met("404", says=("SourceNotFoundError", "404")),
    "gone while verified": Met("404", {"after": 1}, says=("SourceNotFoundError", "404")),
}


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[ArchiveServer]:
    contents = Archive()
    contents.add_dandiset(DANDISET)
    with ArchiveServer(contents) as server:
        for number, (name, met) in enumerate(ASSETS.items()):
            path = tmp_path / "files" / f"{name}.nwb"
            path.parent.mkdir(exist_ok=True)
            with h5py.File(path, "w") as file:
                file.create_dataset("x", data=np.arange(3000) + number, chunks=(500,), compression="gzip")
            asset = contents.add_asset(DANDISET, path.name, path)
            effects = FAULTS[met.fault].effects if met.fault else {}
            action = server.signer.expire_all if name == "expired" else None
            if name != "quiet":
                where = server.object_path(asset)
                server.store.faults.add(Fault(path=where, action=action, **(effects | met.shown)))
        yield server


def test_a_run_among_faults(archive: ArchiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dandi_api, "PAGE_SIZE", 4)
    on_pages = [{"status": 503}, {"drop": True, "after": 1}, {"status": 429, "retry_after": 0, "after": 3}]
    pages = [archive.api.faults.add(Fault(path="*/assets/", times=1, **each)) for each in on_pages]
    output = tmp_path / "out"
    request = IndexRequest(
        archive=ArchiveAddress(archive.api_url),
        dandisets=(DandisetRequest(DANDISET),),
        output=output,
        concurrency=1,
        timeout=120.0,
    )
    summary = index_dandisets(request)
    records = {record.path.removesuffix(".nwb"): record for record in summary.records}
    assert records.keys() == ASSETS.keys()
    assert [page.hits for page in pages] == [1, 1, 1]
    for name, met in ASSETS.items():
        record = records[name]
        assert record.statistics.get("retries", 0) in met.retries, (name, record)
        if met.says is None:
            assert record.outcome == "indexed", record.error
            assert verify_rfs(output / record.references, tmp_path / "files" / record.path, mode="full").equal
        else:
            assert record.outcome == "failed"
            assert (record.error.kind, met.says[1] in record.error.message) == (met.says[0], True), (
                record.error
            )
    assert records["verify"].verification.retries == 1
    assert records["lasting"].error.retries == 5
    assert {found.path: found for found in map(read_record, output.rglob("*.record.json"))} == {
        record.path: record for record in summary.records
    }
    check_what_is_told(summary)


def check_what_is_told(summary: Any) -> None:
    """Failures with their causes, and the count of tries that were made again, in report and JSON lines."""
    retries = {record.path: int(record.statistics.get("retries", 0)) for record in summary.records}
    report = render_report(summary)
    assert f"{sum(retries.values())} requests tried again" in report
    lines = io.StringIO()
    teller = JsonLines(lines)
    for record in summary.records:
        teller.asset(record)
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert {each["path"]: each["retries"] for each in told} == retries
    for failure in summary.failures:
        assert failure.path in report
