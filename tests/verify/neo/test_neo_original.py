"""A recording as the judge of references: NEO's own read, by its folder or by a reader."""

import json

import numpy as np
import pytest

pytest.importorskip("neo")

from neo.rawio import RawBinarySignalRawIO

from shadowzarr.errors import DamagedSourceError, UsageError
from shadowzarr.formats.neo_rawio.generate import generate_rfs_neo
from shadowzarr.verify import verify_rfs


@pytest.fixture
def raw(tmp_path):
    values = np.arange(3000, dtype="<i2").reshape(-1, 6)
    (tmp_path / "a.raw").write_bytes(bytes(10) + values.tobytes())
    return tmp_path / "a.raw"


def reader(path):
    return RawBinarySignalRawIO(
        str(path), dtype="int16", sampling_rate=20000.0, nb_channel=6, signal_gain=0.5, bytesoffset=10
    )


def changed(rfs, **changes):
    """The document with other entries for its one stream."""
    document = json.loads(rfs["refs"]["0/zarr.json"])
    document["attributes"]["neo"]["streams"][0] |= changes
    return {**rfs, "refs": {**rfs["refs"], "0/zarr.json": json.dumps(document)}}


@pytest.mark.parametrize("mode", ["sample", "full"])
def test_references_of_a_recording_are_equal_to_it(raw, mode):
    report = verify_rfs(generate_rfs_neo(reader(raw)), reader(raw), mode=mode)
    assert report.equal, report.summary()
    assert (report.counts["arrays"], report.counts["attributes"]) == (1, 1)
    assert report.counts["bytes"] == 6000


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("gain", -0.5),
        ("gain", [0.5] * 5),
        ("gain", True),
        ("gain", None),
        ("offset", 1.0),
        ("units", "mV"),
        ("columns", {"start": 0, "stop": 5}),
        ("columns", [0, 1, 2, 3, 5, 4]),
        ("channel_ids", ["0"]),
        ("channel_ids", {"prefix": "c"}),
        ("channel_names", ["a"] * 6),
        ("sampling_rate", 20001.0),
        ("t_start", "0.0"),
        ("name", "other"),
        ("id", "1"),
    ],
)
def test_what_is_said_of_a_stream_is_compared(raw, entry, value):
    report = verify_rfs(changed(generate_rfs_neo(reader(raw)), **{entry: value}), reader(raw))
    assert [(each.path, each.kind) for each in report.differences] == [("/0@neo", "attribute")]


def test_a_list_for_all_channels_says_the_same(raw):
    rfs = changed(generate_rfs_neo(reader(raw)), gain=[0.5] * 6, columns=[0, 1, 2, 3, 4, 5])
    assert verify_rfs(rfs, reader(raw)).equal


def test_values_that_are_shifted_are_seen(raw):
    rfs = generate_rfs_neo(reader(raw))
    url, start, length = rfs["refs"]["0/c/0/0"]
    rfs["refs"]["0/c/0/0"] = [url, start - 2, length]
    (found,) = verify_rfs(rfs, reader(raw)).differences
    assert (found.path, found.kind) == ("/0", "values")


def test_an_array_that_is_not_there_is_seen(raw):
    rfs = generate_rfs_neo(reader(raw))
    for key in [key for key in rfs["refs"] if key.startswith("0/")]:
        del rfs["refs"][key]
    assert [each.kind for each in verify_rfs(rfs, reader(raw)).differences] == ["missing"]


def test_references_say_where_the_recording_is(made_files, tmp_path):
    from neo.rawio import SpikeGLXRawIO

    folder = made_files / "ephys" / "spikeglx_g0"
    rfs = generate_rfs_neo(SpikeGLXRawIO(str(folder)))
    for against in (None, folder, str(folder)):
        report = verify_rfs(rfs, against, mode="full")
        assert report.equal, report.summary()
        assert report.counts["bytes"] == 600 * 385 * 2


def test_a_chosen_stream_is_judged_alone(made_files):
    from neo.rawio import SpikeGLXRawIO

    folder = made_files / "ephys" / "spikeglx_g0"
    rfs = generate_rfs_neo(SpikeGLXRawIO(str(folder)), stream="imec1.ap-SYNC")
    report = verify_rfs(rfs, folder, mode="full")
    assert report.equal, report.summary()
    assert report.counts["bytes"] == 600 * 2


def test_columns_that_no_stream_shows_are_compared_too(made_files):
    from neo.rawio import ElanRawIO

    path = made_files / "ephys" / "elan.eeg"
    rfs = generate_rfs_neo(ElanRawIO(str(path)))
    assert json.loads(rfs["refs"]["0/zarr.json"])["shape"] == [600, 5]
    assert verify_rfs(rfs, path, mode="full").equal
    rfs["selections"] = {"0": {"record_size": 10, "keep": [[0, 6], [8, 10], [6, 8]]}}
    rfs |= {"version": 2, "requires": ["selections"]}
    (found,) = verify_rfs(rfs, path, mode="full").differences
    assert (found.path, found.kind) == ("/0", "values")


def test_a_reader_that_the_references_make_up_is_refused(raw):
    rfs = generate_rfs_neo(reader(raw))
    root = json.loads(rfs["refs"]["zarr.json"])
    root["attributes"]["neo"]["reader"] = "get_rawio"
    rfs["refs"]["zarr.json"] = json.dumps(root)
    with pytest.raises(UsageError, match="no such reader"):
        verify_rfs(rfs, raw)


def test_a_recording_that_neo_cannot_read_is_one_error(tmp_path, raw):
    from neo.rawio import AxonRawIO

    (tmp_path / "a.abf").write_bytes(b"ABF2" + bytes(20))
    with pytest.raises(DamagedSourceError, match="AxonRawIO cannot read"):
        verify_rfs(generate_rfs_neo(reader(raw)), AxonRawIO(str(tmp_path / "a.abf")))
