"""What processes do with a recording: headers, references, their validation, their verification, a store."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # NeuroConv and what it imports warn of themselves
    from shadowzarr.conversion.assemble import explained
    from shadowzarr.conversion.read_headers import read_headers
    from shadowzarr.conversion.validate_file import validate_file
    from shadowzarr.conversion.verify_file import verify_file
    from shadowzarr.conversion.write_file import write_file
    from shadowzarr.conversion.write_store import write_store

from shadowzarr.conversion.jobs import RecordingJob
from shadowzarr.conversion.request import Interface, Recording
from shadowzarr.errors import (
    DamagedSourceError,
    InvalidNWBError,
    OutputError,
    ReadError,
    ReferencesDifferError,
    SourceNotFoundError,
    UsageError,
)
from shadowzarr.neuroconv_bridge import NotVirtualizable
from shadowzarr.nwb import read_nwb
from shadowzarr.testing.sample_recordings import METADATA, signal

pytestmark = pytest.mark.filterwarnings("ignore")

GLX, TIFF = "SpikeGLXRecordingInterface", "TiffImagingInterface"


def spikeglx(folder):
    return Interface(GLX, {"folder_path": str(folder), "stream_id": "imec0.ap"})


def stack(path):
    return Interface(TIFF, {"file_paths": [str(path)], "sampling_frequency": 30.0})


@pytest.fixture(scope="module")
def recording(recordings):
    interfaces = {"ap": spikeglx(recordings / "noise_g0"), "images": stack(recordings / "stack.tif")}
    return Recording("one", interfaces, (recordings / "metadata.yaml",))


@pytest.fixture(scope="module")
def written(recording, tmp_path_factory):
    """The job of a recording of two interfaces whose references are staged, and what writing told."""
    job = RecordingJob(recording, "an id", tmp_path_factory.mktemp("staged") / "refs.shadowzarr", mode="full")
    return job, write_file(job)


def test_headers_are_read_and_nothing_is_written(recording, tmp_path):
    facts = read_headers(RecordingJob(recording, "an id", tmp_path / "out"))
    assert facts.session_start.startswith("2026-03-02T09:30:00")  # that of the metadata, not of the files
    assert facts.interfaces == {"ap": GLX, "images": TIFF}
    assert not (tmp_path / "out").exists()


def test_references_of_two_interfaces_in_one_file(written):
    job, facts = written
    assert facts.virtual == ["ElectricalSeriesAPImec0.data", "MicroscopySeries.data"]
    assert (facts.copied, facts.referenced_bytes) == ({}, 900 * 384 * 2 + 150 * 96 * 128 * 2)
    found = read_nwb(job.staged)
    assert (found.identifier, found.subject.subject_id) == ("an id", "sub-01")
    assert np.array_equal(found.acquisition["ElectricalSeriesAPImec0"].data[:], signal(900, 385)[:, :384])
    assert str(job.staged) not in (job.staged / "refs.json").read_text()
    assert validate_file(job) == []
    report = verify_file(job)
    assert (report.equal, report.mode, report.differences) == (True, "full", [])
    assert report.bytes > facts.referenced_bytes
    assert verify_file(replace(job, mode="none")).equal is False


def chunk_moved(document):
    keys = [key for key, value in document["refs"].items() if "MicroscopySeries/data/c/" in key]
    document["refs"][keys[3]], document["refs"][keys[4]] = (
        document["refs"][keys[4]],
        document["refs"][keys[3]],
    )


def node(document, path):
    return json.loads(document["refs"][f"{path}/zarr.json"])


def attribute_changed(document):
    path = "acquisition/ElectricalSeriesAPImec0/data"
    found = node(document, path)
    found["attributes"]["conversion"] *= 2
    document["refs"][f"{path}/zarr.json"] = json.dumps(found)


def attribute_lost(document):
    path = "acquisition/ElectricalSeriesAPImec0"
    found = node(document, path)
    del found["attributes"]["description"]
    document["refs"][f"{path}/zarr.json"] = json.dumps(found)


def dataset_lost(document):
    for key in [key for key in document["refs"] if key.startswith("general/subject/species/")]:
        del document["refs"][key]


def dataset_added(document):
    for key in [key for key in document["refs"] if key.startswith("general/subject/species/")]:
        document["refs"][key.replace("species", "genus")] = document["refs"][key]


def text_changed(document):
    key = "general/subject/species/c"
    document["refs"][key] = document["refs"]["general/subject/subject_id/c"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (chunk_moved, "/acquisition/MicroscopySeries/data: values"),
        (attribute_changed, "/acquisition/ElectricalSeriesAPImec0/data@conversion: values"),
        (attribute_lost, "/acquisition/ElectricalSeriesAPImec0@description: missing"),
        (dataset_lost, "/general/subject/species: missing"),
        (dataset_added, "/general/subject/genus: extra"),
        (text_changed, "/general/subject/species: values"),
    ],
)
def test_verification_sees_each_change_and_no_other(written, tmp_path, change, told):
    job, _ = written
    document = json.loads((job.staged / "refs.json").read_text())
    change(document)
    other = tmp_path / "refs.shadowzarr.json"
    other.write_text(json.dumps(document))
    with pytest.raises(ReferencesDifferError) as caught:
        verify_file(replace(job, staged=other))
    (difference,) = caught.value.summary.differences
    assert difference.startswith(f"{told}: original ")


def test_what_may_not_be_read_is_not_called_damaged():
    """Readers say it in their own words; a damaged recording is passed over until it changes."""

    def read():
        error = RuntimeError("Error opening x.tif")
        raise error from PermissionError(13, "Permission denied")

    with pytest.raises(ReadError, match=r"images: RuntimeError: Error opening x\.tif$"), explained("images"):
        read()


def test_other_samples_are_seen(written, recording, recordings, tmp_path):
    """A recording whose samples changed under the references: what the reader gives is what counts."""
    job, _ = written
    data = recordings / "noise_g0" / "noise_g0_t0.imec0.ap.bin"
    other = tmp_path / "noise_g0"
    other.mkdir()
    content = bytearray(data.read_bytes())
    content[385 * 2 * 450 + 20] ^= 1
    (other / data.name).write_bytes(content)
    (other / f"{data.stem}.meta").write_bytes((data.parent / f"{data.stem}.meta").read_bytes())
    changed = {**recording.interfaces, "ap": spikeglx(other)}
    with pytest.raises(ReferencesDifferError, match=r"APImec0/data: values: .* at \(450, 10\), 1 of"):
        verify_file(replace(job, recording=replace(recording, interfaces=changed)))


def test_what_cannot_be_referenced_is_refused_or_copied(recordings, tmp_path):
    import tifffile

    pages = tifffile.imread(recordings / "stack.tif")
    tifffile.imwrite(tmp_path / "small.tif", pages, compression="zlib", metadata=None)
    one = Recording("a", {"images": stack(tmp_path / "small.tif")}, (recordings / "metadata.yaml",))
    job = RecordingJob(one, "an id", tmp_path / "refs.shadowzarr", mode="full")
    with pytest.raises(NotVirtualizable, match=r"MicroscopySeries\.data: page 0 of small\.tif is compressed"):
        write_file(job)
    facts = write_file(replace(job, strict=False))
    assert facts.virtual == []
    assert "compressed" in facts.copied["MicroscopySeries.data"]
    assert verify_file(job).equal


@pytest.mark.parametrize("form", ["nwb-hdf5", "nwb-zarr"])
def test_an_ordinary_file_holds_the_same(written, tmp_path, form):
    from pynwb import NWBHDF5IO

    job, _ = written
    out = tmp_path / "deep" / ("a.nwb" if form == "nwb-hdf5" else "a.nwb.zarr")
    facts = write_store(replace(job, store=form, store_path=out))
    again = write_store(replace(job, store=form, store_path=out))  # what a killed run left is replaced
    assert 0 < again.nbytes <= facts.nbytes + 4096
    if form == "nwb-zarr":
        samples = read_nwb(out).acquisition["ElectricalSeriesAPImec0"].data[:]
    else:
        with NWBHDF5IO(out, "r") as io:
            samples = io.read().acquisition["ElectricalSeriesAPImec0"].data[:]
    assert np.array_equal(samples, signal(900, 385)[:, :384])


@pytest.mark.parametrize("form", ["nwb-hdf5", "nwb-zarr"])
def test_a_full_disk_is_told_in_a_clause(recording, tmp_path, monkeypatch, form):
    """HDF5 adds addresses and times to it, and `materialize` that it can be gone on with, which is not so."""

    def full(*_, **__):
        error = OSError(28, "file write failed: time = Tue Dec 1, errno = 28, buf = 0x5627cd5d00b8")
        if form == "nwb-hdf5":
            raise error
        raise OutputError("what is written so far is there, and the same call goes on") from error

    monkeypatch.setattr("shadowzarr.conversion.write_store._write_hdf5", full)
    monkeypatch.setattr("shadowzarr.conversion.write_store.materialize", full)
    out = tmp_path / "a.nwb"
    with pytest.raises(OutputError) as caught:
        write_store(RecordingJob(recording, "an id", tmp_path / "refs", store=form, store_path=out))
    assert str(caught.value) == f"cannot write {out}: No space left on device"


def test_rules_of_nwb_are_asked(written, recording, recordings, tmp_path):
    no_subject = tmp_path / "metadata.yaml"
    no_subject.write_text(METADATA.partition("Subject:")[0])
    one = Recording("a", {"ap": recording.interfaces["ap"]}, (no_subject,))
    job = RecordingJob(one, "an id", tmp_path / "refs.shadowzarr")
    write_file(job)
    with pytest.raises(InvalidNWBError, match=r"nwbinspector finds: .*[Ss]ubject .*validation\.critical"):
        validate_file(job)
    (told,) = validate_file(replace(job, critical="tell"))
    assert "check_subject_exists" in told
    assert validate_file(replace(job, critical="off")) == []
    document = json.loads((job.staged / "refs.json").read_text())
    del document["refs"]["session_description/zarr.json"], document["refs"]["session_description/c"]
    broken = tmp_path / "broken.shadowzarr.json"
    broken.write_text(json.dumps(document))
    with pytest.raises(InvalidNWBError, match=r"pynwb\.validate finds: .*session_description"):
        validate_file(replace(job, staged=broken, critical="off"))


WRONG = {
    "did you mean SpikeGLXRecordingInterface": (UsageError, {"name": "SpikeGlxRecordingInterface"}),
    "gone_g0 is not there": (SourceNotFoundError, {"source_data": {"folder_path": "gone_g0"}}),
    "no 'folder_paht'; did you mean folder_path": (UsageError, {"more": {"folder_paht": "noise_g0"}}),
    "imec7.ap": (DamagedSourceError, {"more": {"stream_id": "imec7.ap"}}),
    "ap: SpikeGLXRecordingInterface cannot read it": (
        DamagedSourceError,
        {"more": {"folder_path": "damaged_g0"}},
    ),
    "ap: TiffImagingInterface cannot read it": (
        DamagedSourceError,
        {"name": TIFF, "source_data": {"file_paths": ["text.tif"], "sampling_frequency": 30.0}},
    ),
    "ap: a file is truncated or damaged, pages are missing: .*invalid page offset": (
        DamagedSourceError,
        {"name": TIFF, "source_data": {"file_paths": ["short.tif"], "sampling_frequency": 30.0}},
    ),
    "session_start_time": (UsageError, {"metadata": "NWBFile: {session_start_time: 3}"}),
    "metadata .*metadata.yaml: ": (UsageError, {"metadata": "NWBFile: [unclosed"}),
    r"metadata .*: expected sections such as NWBFile, found a list$": (UsageError, {"metadata": "- a"}),
    r"metadata .*: expected sections such as NWBFile, found nothing$": (UsageError, {"metadata": ""}),
    r"no section is called NwbFile; did you mean NWBFile\?": (
        UsageError,
        {"metadata": METADATA.replace("NWBFile", "NwbFile")},
    ),
    r"'spezies' was unexpected.*; did you mean species\?": (
        UsageError,
        {"metadata": METADATA.replace("species", "spezies")},
    ),
    "session_start_time: expected a time such as .*, found 'yesterday'": (
        UsageError,
        {"metadata": METADATA.replace("2026-03-02T09:30:00+00:00", "yesterday")},
    ),
    r"session_start_time: expected a zone of whole minutes, found '.*\+05:53:28'": (
        UsageError,
        {"metadata": METADATA.replace("+00:00", "+05:53:28")},
    ),
    r"ap: source_data of TiffImagingInterface: file_paths: Input should be a valid list$": (
        UsageError,
        {"name": TIFF, "source_data": {"file_paths": "text.tif", "sampling_frequency": 30.0}},
    ),
    "is not a valid yaml": (UsageError, {"suffix": ".txt"}),
    "conversion_options: ": (UsageError, {"options": {"stub": 1}}),
}
"""What is said, by the error, and what is other than in a recording that is right."""


@pytest.mark.parametrize("message", WRONG)
def test_wrong_recordings_are_told(recordings, tmp_path, monkeypatch, message):
    error, other = WRONG[message]
    monkeypatch.chdir(recordings)  # paths are relative to the working directory
    said = tmp_path / f"metadata{other.get('suffix', '.yaml')}"
    said.write_text(other.get("metadata", METADATA))
    right = {"folder_path": "noise_g0", "stream_id": "imec0.ap"}
    source_data = other.get("source_data", right | other.get("more", {}))
    interface = Interface(other.get("name", GLX), source_data, other.get("options", {}))
    with pytest.raises(error, match=message) as caught:
        read_headers(RecordingJob(Recording("a", {"ap": interface}, (said,)), "an id", tmp_path / "out"))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()
