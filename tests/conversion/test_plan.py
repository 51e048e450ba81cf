"""What a run would do: names of interfaces, files of recordings, where they are hosted, what has changed."""

import importlib.util
import os
from dataclasses import replace
from pathlib import Path

import pytest

from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.index_run import RunLog
from shadowzarr.catalog.request import IndexRequest
from shadowzarr.conversion.hosting import url_for_hosts
from shadowzarr.conversion.interfaces import check_interface, interface_modules
from shadowzarr.conversion.plan import plan_recordings, store_path
from shadowzarr.conversion.request import ConversionRequest, ConversionRules, Interface, Recording
from shadowzarr.conversion.sources import check_sources, named_paths, recording_asset
from shadowzarr.conversion.stages import ConversionBench, _check_unchanged
from shadowzarr.errors import SourceChangedError, SourceNotFoundError, UsageError


@pytest.fixture
def recording(tmp_path):
    (tmp_path / "run_g0" / "deep").mkdir(parents=True)
    for name in ("run_g0/a.bin", "run_g0/deep/a.meta", "one.tif", "metadata.yaml"):
        (tmp_path / name).write_text(name)
    interfaces = {
        "ap": Interface("SpikeGLXRecordingInterface", {"folder_path": str(tmp_path / "run_g0")}),
        "images": Interface("TiffImagingInterface", {"file_paths": [str(tmp_path / "one.tif")], "rate": 30}),
    }
    return Recording("sub-01/one", interfaces, (tmp_path / "metadata.yaml",))


def causes(request):
    log = RunLog()
    plan_recordings(request, log)
    return [work.cause for work in log.plan.work], [work.key for work in log.plan.work]


@pytest.mark.skipif(importlib.util.find_spec("neuroconv") is None, reason="NeuroConv is not installed")
def test_names_of_interfaces_are_known_without_importing_neuroconv():
    known = interface_modules()
    assert known["SpikeGLXRecordingInterface"] == "neuroconv.datainterfaces"
    assert known["SpikeGLXConverterPipe"] == "neuroconv.converters"
    for wrong, near in (
        ("SpikeGlxRecordingInterfac", "SpikeGLXRecordingInterface"),
        ("TifImagingInterface", "TiffImagingInterface"),
    ):
        with pytest.raises(UsageError, match=f"no interface '{wrong}'; did you mean {near}"):
            check_interface(wrong)


def test_every_file_of_a_recording_tells_of_a_change(recording, tmp_path):
    assert named_paths(recording) == [tmp_path / "run_g0", tmp_path / "one.tif"]
    first = recording_asset("lab", recording)
    names = ("run_g0/a.bin", "run_g0/deep/a.meta", "one.tif")
    assert (first.path, first.size) == ("sub-01/one.nwb", sum(map(len, names)))
    assert recording_asset("lab", recording) == first
    seen = {first.etag}
    for name in names:
        os.utime(tmp_path / name, ns=(1, 1))
        seen.add(recording_asset("lab", recording).etag)
    (tmp_path / "run_g0" / "new.bin").touch()
    seen.add(recording_asset("lab", recording).etag)
    assert len(seen) == 5


def test_a_file_brings_those_that_belong_to_it(tmp_path):
    head = "Brain Vision Data Exchange Header File Version 1.0\n[Common Infos]\n"
    (tmp_path / "a.vhdr").write_text(f"{head}DataFile=b.eeg\nMarkerFile=a.vmrk\n")
    for name in ("b.eeg", "a.vmrk", "c.dat"):
        (tmp_path / name).touch()
    one = Recording(
        "a", {"x": Interface("BrainVisionRecordingInterface", {"file_path": str(tmp_path / "a.vhdr")})}
    )
    seen = [recording_asset("lab", one).etag]
    for name in ("b.eeg", "a.vmrk", "c.dat"):
        os.utime(tmp_path / name, ns=(1, 1))
        seen.append(recording_asset("lab", one).etag)
    assert len(set(seen)) == 3  # the last one is another's


def test_what_is_not_there_is_named(recording, tmp_path):
    check_sources(recording)
    (tmp_path / "one.tif").unlink()
    with pytest.raises(SourceNotFoundError, match=r"one\.tif is not there$"):
        check_sources(recording)
    with pytest.raises(SourceNotFoundError, match=r"gone/b is not there; of its path there is "):
        check_sources(replace(recording, metadata=(tmp_path / "gone" / "b",), interfaces={
            "ap": recording.interfaces["ap"]}))  # fmt: skip
    with pytest.raises(UsageError, match="source_data of MockInterface names no file"):
        check_sources(Recording("a", {"x": Interface("MockInterface", {"channels": 4})}))


def test_files_and_options_decide_what_is_done(recording, tmp_path):
    run = IndexRequest(ArchiveAddress(""), dandisets=(), output=tmp_path / "out")
    request = ConversionRequest(run, "lab", (recording,))
    what, (key,) = causes(request)
    assert what == ["new"]
    (tmp_path / "metadata.yaml").write_text("Subject: {}")
    _, (other,) = causes(request)
    assert (other.etag, other.options_digest != key.options_digest) == (key.etag, True)
    digests = {other.options_digest}
    for rules in (
        ConversionRules(strict=False),
        ConversionRules(hosts={"/data": "https://host.test"}),
        ConversionRules(critical="tell"),
        ConversionRules(store="nwb-hdf5", stores=tmp_path / "stores"),
    ):
        digests.add(causes(replace(request, rules=rules))[1][0].options_digest)
    changed = Recording("sub-01/one", {**recording.interfaces, "b": Interface("X", {})}, recording.metadata)
    digests.add(causes(replace(request, recordings=(changed,)))[1][0].options_digest)
    assert len(digests) == 6


def test_where_files_are_hosted():
    url_for = url_for_hosts({"/data": "https://host.test/all/", "/data/raw": "s3://bucket/raw"})
    assert url_for("/data/a b/c#1.bin") == "https://host.test/all/a%20b/c%231.bin"
    assert url_for("/data/raw/x.bin") == "s3://bucket/raw/x.bin"
    assert url_for("https://host.test/x") == "https://host.test/x"
    with pytest.raises(UsageError, match=r"/database/x is in no folder of url_for, which has /data,"):
        url_for("/database/x")
    assert Path("/data/raw/x.bin").is_relative_to("/data")  # the longer one counts


def test_an_ordinary_file_has_a_name_that_a_disk_takes(tmp_path):
    rules = ConversionRules(store="nwb-zarr", stores=tmp_path)
    places = [store_path(rules, Recording(f"sub-1/{name}", {})) for name in ("a", "x" * 260, "x" * 261)]
    assert places[0] == tmp_path / "sub-1" / "a.nwb.zarr"
    assert len(set(places)) == 3
    for place in places:
        assert not place.exists()  # which a name that is too long could not be asked
        assert place.name.endswith(".zarr")


def test_no_recording_takes_the_place_of_another(tmp_path):
    run = IndexRequest(ArchiveAddress(""), dandisets=(), output=tmp_path / "out")
    with pytest.raises(UsageError, match="one recording of the name 'a'"):
        ConversionRequest(run, "lab", (Recording("a", {}), Recording("A", {})))
    with pytest.raises(UsageError, match=r"without \.nwb"):
        Recording("a.nwb.zarr/b", {})


@pytest.mark.parametrize("changed", ["one.tif", "metadata.yaml"])
def test_what_changes_while_it_is_converted_is_not_published(recording, tmp_path, changed):
    request = ConversionRequest(
        IndexRequest(ArchiveAddress(""), dandisets=(), output=tmp_path / "out"), "lab", (recording,)
    )
    log = RunLog()
    plan_recordings(request, log)
    bench = ConversionBench(None, request.rules, {recording.path: recording})
    _check_unchanged(bench, log.plan.work[0])
    (tmp_path / changed).write_text("Subject: {}")
    with pytest.raises(SourceChangedError, match="changed while it was converted"):
        _check_unchanged(bench, log.plan.work[0])
