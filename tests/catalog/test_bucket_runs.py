"""Whole runs into a bucket of an S3 service on loopback: interrupted, gone on with, followed and checked."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.bucket_output import bucket_output
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.layout import OutputLayout, layout_at
from shadowzarr.catalog.output_checks import CheckBench, check_output, list_outputs
from shadowzarr.catalog.plan import SelectionRules
from shadowzarr.catalog.redo import RedoRules
from shadowzarr.catalog.request import DandisetRequest
from shadowzarr.catalog.tables.query import ask
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.testing import Archive, ArchiveServer

RUN = """
import sys
from pathlib import Path
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.bucket_output import bucket_output
from shadowzarr.catalog.index_run import index_dandisets
from shadowzarr.catalog.request import DandisetRequest, IndexRequest

if __name__ == "__main__":
    output = bucket_output("s3://sources/out", workings=Path(sys.argv[2]))
    address = ArchiveAddress(sys.argv[1])
    index_dandisets(IndexRequest(address, (DandisetRequest("000001"),), output, concurrency=1))
"""


@pytest.fixture
def archive(write_file, tmp_path):
    """Four files of one dandiset."""
    contents = Archive()
    contents.add_dandiset("000001")
    for number in range(4):
        file = write_file(tmp_path / "files" / f"{number}.nwb", seed=number)
        contents.add_asset("000001", f"sub-{number}/{number}.nwb", file)
    with ArchiveServer(contents) as server:
        yield server


@pytest.fixture
def output_at(object_store, tmp_path):
    def at(url: str):
        return bucket_output(url, workings=tmp_path / "work")

    return at


def content(layout: OutputLayout) -> dict[str, bytes]:
    """References, and of each record what two runs with the same outcome have in common."""
    found = {}
    for file in layout.store.files("dandisets/"):
        found[file.name] = layout.store.read(file.name)
        if file.name.endswith(".record.json"):
            record = json.loads(found[file.name]) | {"stages": None, "statistics": None}
            found[file.name] = json.dumps(record).encode()
    return found


def test_killed_in_the_middle_and_run_again_equals_undisturbed(
    archive, request_of, output_at, pool, write_file, tmp_path
):
    script = tmp_path / "run.py"
    script.write_text(RUN)
    output, undisturbed = layout_at(output_at("s3://sources/out")), layout_at(output_at("s3://sources/other"))
    index_dandisets(request_of(output=undisturbed.bucket), pool=pool)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    process = subprocess.Popen(
        [sys.executable, script, archive.api_url, tmp_path / "work"],
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not any(
        ".record.json" in file.name for file in output.store.files("dandisets/")
    ):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert 0 < sum(".record.json" in name for name in content(output)) < 4
    summary = index_dandisets(request_of(output=output.bucket), pool=pool)
    assert 0 < len(summary.records) < 4
    assert content(output) == content(undisturbed)
    check_followed(archive, request_of, output, pool, write_file, tmp_path)


def check_followed(archive, request_of, output, pool, write_file, tmp_path) -> None:
    """Nothing is done twice; a changed asset is done alone; the catalogue follows; all is done by force."""
    before = {file.name: file.state for file in output.store.files("dandisets/")}
    assert index_dandisets(request_of(output=output.bucket), pool=pool).records == []
    assert {file.name: file.state for file in output.store.files("dandisets/")} == before
    archive.archive.replace_asset("000001", "sub-1/1.nwb", write_file(tmp_path / "new.nwb", seed=77))
    (record,) = index_dandisets(request_of(output=output.bucket), pool=pool).records
    assert record.path == "sub-1/1.nwb"
    after = {file.name: file.state for file in output.store.files("dandisets/")}
    assert {name for name in after if after[name] != before.get(name)} == {
        name for name in after if "/sub-1/" in name
    }
    group = open_rfs(output.store.location(str(record.references)))
    assert np.array_equal(group["counts"][:], np.arange(300) + 77)
    (row,) = ask(output, "SELECT count(*), max(asset_id) FILTER (asset_path LIKE '%1.nwb') FROM assets").rows
    assert row == (4, record.asset_id)
    one = (DandisetRequest("000001", rules=SelectionRules(include=("sub-1/*",))),)
    request = request_of(output=output.bucket, redo=RedoRules(force=True), dandisets=one)
    assert [record.outcome for record in index_dandisets(request, pool=pool).records] == ["indexed"]


def test_published_references_are_checked_where_they_are(archive, request_of, output_at, pool):
    output = layout_at(output_at("s3://sources/out"))
    index_dandisets(request_of(output=output.bucket), pool=pool)
    outputs = list_outputs([(output, False)])
    document = f"{output.relative(outputs[2].record).partition('.nwb.')[0]}.nwb.shadowzarr/refs.json"
    rfs = json.loads(output.store.read(document))
    root = json.loads(rfs["refs"]["zarr.json"])
    root["attributes"]["seed"] += 7
    rfs["refs"]["zarr.json"] = json.dumps(root)
    output.store.write(document, json.dumps(rfs).encode(), scratch=output.staging)
    output.store.remove([document.replace("sub-2/2", "sub-3/3")])
    bench = CheckBench(pool, ArchiveAddress(archive.api_url), VerificationOptions("full"))
    checks = [check_output(bench, each) for each in outputs]
    assert [check.verdict for check in checks] == ["equal", "equal", "broken", "broken"]
    assert checks[3].reason == "its references are not there"
    assert not list((output.workings / "reading").iterdir())
