"""Real recordings, converted and compared with what NeuroConv's readers give, value by value."""

import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # NeuroConv and what it imports warn of themselves
    from shadowzarr.conversion.verify_file import verify_file
    from shadowzarr.conversion.write_file import write_file

from shadowzarr.conversion.jobs import RecordingJob
from shadowzarr.conversion.request import Interface, Recording
from shadowzarr.neuroconv_bridge import NotVirtualizable

pytestmark = pytest.mark.filterwarnings("ignore")

AXON, EDF = "AxonRecordingInterface", "EDFRecordingInterface"


def job_of(shared, tmp_path, name, path, **more):
    metadata = tmp_path / "metadata.yaml"
    metadata.write_text("NWBFile: {session_start_time: '2020-01-02T03:04:05+00:00'}\n")
    source_data = {"file_path": str(shared / "corpus" / "ephys" / path), **more}
    recording = Recording("a", {"x": Interface(name, source_data)}, (metadata,))
    return RecordingJob(recording, "an id", tmp_path / "refs.shadowzarr", mode="full")


@pytest.mark.parametrize(
    ("name", "path", "segments"),
    [(AXON, "pyabf/test_0001.abf", 1), (AXON, "pyabf/2020_06_16_0000.abf", 3)],
)
def test_it_equals_what_the_reader_gives(shared, tmp_path, name, path, segments):
    job = job_of(shared, tmp_path, name, path)
    facts = write_file(job)
    assert (len(facts.virtual), facts.copied) == (segments, {})
    report = verify_file(job)
    assert report.equal
    assert report.bytes >= facts.referenced_bytes > 0


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("pyedflib/test_subsecond.edf", "its input was inverted"),
        ("mne/test_bdf_stim_channel.bdf", "its samples have 24 bits"),
    ],
)
def test_what_no_data_type_holds_is_refused(shared, tmp_path, path, reason):
    with pytest.raises(NotVirtualizable, match=reason):
        write_file(job_of(shared, tmp_path, EDF, path))
    assert not (tmp_path / "refs.shadowzarr").exists()
