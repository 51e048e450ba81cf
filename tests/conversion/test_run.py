"""A run over good and bad recordings in child processes: what is published, recorded, and done again."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version

import pytest

from shadowzarr import load_rfs, open_rfs
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.index_run import RunLog
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.output_checks import NO_ORIGINAL, CheckBench, check_output, list_outputs
from shadowzarr.catalog.request import IndexRequest
from shadowzarr.conversion import stages
from shadowzarr.conversion.plan import plan_recordings
from shadowzarr.conversion.request import ConversionRequest, ConversionRules, Interface, Recording
from shadowzarr.conversion.run import conversion_pool, convert_recordings
from shadowzarr.conversion.stages import STAGES
from shadowzarr.nwb import read_nwb
from shadowzarr.testing import RangeServer

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("conversion-run")]
"""One output, gone on with by each test: in order, in one process."""


@pytest.fixture(scope="module")
def source(recordings, tmp_path_factory):
    """Recordings that tests may change."""
    return shutil.copytree(recordings, tmp_path_factory.mktemp("source") / "raw")


@pytest.fixture(scope="module")
def request_of(source, tmp_path_factory):
    output = tmp_path_factory.mktemp("converted")

    def stack(name, path):
        interface = Interface("TiffImagingInterface", {"file_paths": [str(path)], "sampling_frequency": 30.0})
        return Recording(name, {"images": interface}, (source / "metadata.yaml",))

    return ConversionRequest(
        IndexRequest(
            ArchiveAddress(""), dandisets=(), output=output / "out", concurrency=1, memory_limit=2**32,
            verification=VerificationOptions("full"),
        ),
        "lab",
        (
            stack("sub-1/good", source / "stack.tif"),
            stack("sub-1/gone", source / "gone.tif"),
            stack("sub-2/text", source / "text.tif"),
        ),
        ConversionRules(
            hosts={str(source): "http://127.0.0.1:9/raw"}, check_hosts=False,
            store="nwb-hdf5", stores=output / "stores",
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def pool(request_of):
    with conversion_pool(request_of) as processes:
        yield processes


def outcomes(summary):
    return {record.path: record.outcome for record in summary.records}


def test_one_failing_recording_costs_no_other_and_what_is_done_stays(request_of, source, pool):
    summary = convert_recordings(request_of, pool=pool)
    assert outcomes(summary) == {
        "sub-1/good.nwb": "indexed", "sub-1/gone.nwb": "failed", "sub-2/text.nwb": "failed"
    }  # fmt: skip
    assert summary.exit_code == 1
    by_path = {record.path: record for record in summary.records}
    good, out = by_path["sub-1/good.nwb"], request_of.run.output
    assert [stage.stage for stage in good.stages] == [*STAGES, "publish"]
    assert good.verification.equal
    assert good.statistics["referenced_bytes"] == 150 * 96 * 128 * 2
    assert by_path["sub-1/gone.nwb"].failure_text.startswith(f"headers: {source}/gone.tif is not there")
    assert not by_path["sub-1/gone.nwb"].error.permanent
    assert by_path["sub-2/text.nwb"].error.kind == "DamagedSourceError"
    references = out / good.references
    assert list(load_rfs(references)["sources"]) == ["http://127.0.0.1:9/raw/stack.tif"]
    script = open_rfs(references)["general/source_script"]
    assert script[()] == f"shadowzarr {version('shadowzarr')}, neuroconv {version('neuroconv')}"
    assert good.libraries["neuroconv"] == version("neuroconv")
    stored = request_of.rules.stores / "sub-1" / "good.nwb"
    assert stored.stat().st_size == good.statistics["store_bytes"]
    assert not (out / ".shadowzarr" / "staging").exists()
    assert sorted(p.name for p in request_of.rules.stores.iterdir()) == [".shadowzarr", "sub-1"]
    records = sorted(path.name.split(".")[-3] for path in out.rglob("*.record.json"))
    assert records == ["failed", "failed", "indexed"]
    again = RunLog()
    plan_recordings(request_of, again)
    assert [work.cause for work in again.plan.work] == ["failed before"]  # the one that is not there
    assert sorted(each.reason for each in again.plan.skipped) == ["quarantined", "unchanged"]
    stored.unlink()
    lost = RunLog()
    plan_recordings(request_of, lost)
    assert {work.asset.path: work.cause for work in lost.plan.work}["sub-1/good.nwb"] == "forced"


def test_sets_have_one_order_in_all_processes(pool):
    """NeuroConv goes through sets of columns; a file is assembled in one process and compared in another."""
    hashed = [sys.executable, "-c", "print(hash('electrode_name'))"]
    seeded = subprocess.run(hashed, env={"PYTHONHASHSEED": "0"}, capture_output=True, check=True)
    assert pool.run("builtins:hash", "electrode_name").value == int(seeded.stdout)


def test_a_recording_that_changed_is_done_again_and_what_is_published_stays(request_of, source, pool):
    size = (source / "stack.tif").stat().st_size
    content = bytearray((source / "stack.tif").read_bytes())
    content[:4] = b"none"
    (source / "stack.tif").write_bytes(content)
    only = replace(request_of, recordings=request_of.recordings[:1])
    summary = convert_recordings(only, pool=pool)
    assert outcomes(summary) == {"sub-1/good.nwb": "failed"}
    (references,) = only.run.output.rglob("refs.json")
    document = json.loads(references.read_text())
    assert document["sources"]["http://127.0.0.1:9/raw/stack.tif"]["size"] == size
    content[:4] = b"II*\0"
    (source / "stack.tif").write_bytes(content)


def test_a_recording_that_changes_meanwhile_is_not_published(request_of, source, pool, monkeypatch):
    def touch_and_verify(bench, work):
        os.utime(source / "stack.tif")
        return stages.verify_nwb(bench, work)

    monkeypatch.setitem(stages.FUNCTIONS, "verify", touch_and_verify)
    rules = replace(request_of.rules, store=None, stores=None)
    only = replace(request_of, recordings=request_of.recordings[:1], rules=rules)
    (record,) = convert_recordings(only, pool=pool).records
    assert (record.error.stage, record.error.kind) == ("publish", "SourceChangedError")
    assert not record.error.permanent
    assert [time.stage for time in record.stages] == ["headers", "write", "validate", "verify", "record"]


def test_what_was_made_of_a_recording_has_no_single_original(request_of, pool):
    (output,) = list_outputs([(request_of.run.public, False)])
    check = check_output(CheckBench(pool, ArchiveAddress(""), VerificationOptions()), output)
    assert (check.verdict, check.path, check.reason) == ("unchecked", "sub-1/good.nwb", NO_ORIGINAL)


def test_where_it_is_hosted_is_asked_and_must_be_the_same(request_of, source, pool):
    only = replace(request_of, recordings=request_of.recordings[:1])
    with RangeServer(source) as server:
        hosts = {str(source): server.url("")}
        rules = replace(only.rules, hosts=hosts, check_hosts=True, store=None, stores=None)
        hosted = replace(only, rules=rules)
        assert outcomes(convert_recordings(hosted, pool=pool)) == {"sub-1/good.nwb": "indexed"}
        (references,) = only.run.output.rglob("*.nwb.shadowzarr")
        (url, entry), = load_rfs(references)["sources"].items()  # fmt: skip
        assert (url, bool(entry["etag"])) == (server.url("stack.tif"), True)
        frames = read_nwb(references).acquisition["MicroscopySeries"].data
        assert frames[3, 1, 2] == (2 * 128 + 1) * 5 + 3 * 131
        shutil.copytree(source, source.parent / "other")
        (source.parent / "other" / "stack.tif").write_bytes(b"another")
    with RangeServer(source.parent / "other") as server:
        rules = replace(hosted.rules, hosts={str(source): server.url("")})
        (record,) = convert_recordings(replace(hosted, rules=rules), pool=pool).records
        assert (record.error.stage, record.error.kind) == ("publish", "SourceChangedError")
        assert list(load_rfs(references)["sources"]) == [url]
