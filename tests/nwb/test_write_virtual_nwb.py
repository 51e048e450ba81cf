"""write_virtual_nwb: a file that pynwb reads, validates and exports as any other; its data stay elsewhere."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("hdmf_zarr", reason="the extra nwb is not installed")

import pynwb
from hdmf_zarr import NWBZarrIO, ZarrDataIO
from recordings_by_hand import spikeglx
from virtual_nwb import Sources, empty_nwb, every_type

from shadowzarr import (
    RfsStore,
    VirtualArray,
    load_rfs,
    materialize,
    open_rfs,
    verify_rfs,
    virtual_arrays_neo,
)
from shadowzarr.errors import OutputError, UsageError
from shadowzarr.nwb import read_nwb, write_virtual_nwb

pytestmark = pytest.mark.filterwarnings(
    "ignore::hdmf.build.warnings.DtypeConversionWarning", "ignore:Consolidated metadata"
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """References of a file with virtual data in objects of each type, and the values."""
    folder = tmp_path_factory.mktemp("virtual")
    nwbfile, values = every_type(folder)
    write_virtual_nwb(nwbfile, folder / "session.nwb.shadowzarr")
    return folder / "session.nwb.shadowzarr", values


def assert_values(nwbfile, values):
    """All virtual data, found as pynwb shows them."""
    for path, expected in values.items():
        _, name, field = path.split("/")
        found = nwbfile.acquisition[name]
        if isinstance(found, pynwb.base.Images):
            found = found.images[field].data
        elif hasattr(found, "columns"):
            found = found[field].data
        else:
            found = getattr(found, field)
        got = np.asarray(found[:])
        assert (got.dtype.newbyteorder("="), got.tolist()) == (
            expected.dtype.newbyteorder("="),
            expected.tolist(),
        ), path


def test_it_reads_and_validates_and_holds_no_data(written):
    path, values = written
    with NWBZarrIO(RfsStore(load_rfs(path)), mode="r") as io:
        nwbfile = io.read()
        assert_values(nwbfile, values)
        assert nwbfile.acquisition["shared"].data[3].tolist() == values["acquisition/stamps/data"][3].tolist()
        voltage = nwbfile.acquisition["voltage"]
        assert (voltage.conversion, list(voltage.channel_conversion)) == (1e-6, [1.0, 2.0, 3.0, -4.0])
        assert nwbfile.acquisition["table"]["y"][:].tolist() == list(range(7))
        assert pynwb.validate(io=io) == []
    rfs = load_rfs(path)
    for array in values:
        chunks = [value for key, value in rfs["refs"].items() if key.startswith(f"{array}/c/")]
        rules = [entry for entry in rfs.get("gen", []) if entry["key"].startswith(f"{array}/c/")]
        assert chunks or rules
        assert all(isinstance(value, list) for value in chunks), array
    assert len(rfs["sources"]) == len(values)


def test_it_is_no_copy_of_a_recording_and_its_arrays_are_compared(tmp_path):
    rawio = pytest.importorskip("neo.rawio", reason="the extra neo is not installed")
    folder = tmp_path / "r_g0"
    folder.mkdir()
    reader = rawio.SpikeGLXRawIO(**spikeglx(folder))
    ap = virtual_arrays_neo(reader)["imec0.ap"]
    nwbfile = empty_nwb()
    nwbfile.add_acquisition(pynwb.TimeSeries(name="ap", data=ap.placeholder(), unit="uV", rate=30e3))
    path = tmp_path / "session.nwb.shadowzarr"
    write_virtual_nwb(nwbfile, path)
    (samples,) = folder.glob("*.bin")
    for against in (None, samples, folder, tmp_path):
        with pytest.raises(
            UsageError, match=r"are no copy of one file.*verify_rfs\(refs, \{path: values\}\)"
        ):
            verify_rfs(path, against)
    values = reader.get_analogsignal_chunk(0, 0, stream_index=0)

    def compared(values):
        report = verify_rfs(path, {"acquisition/ap/data": values}, mode="full")
        return [each.path for each in report.differences if each.kind != "extra"]

    assert compared(values) == []
    assert compared(values + 1) == ["/acquisition/ap/data"]


def test_it_exports_to_hdf5_and_zarr(written, tmp_path):
    path, values = written
    for kind, name in ((pynwb.NWBHDF5IO, "a.nwb"), (NWBZarrIO, "b.nwb.zarr")):
        with (
            NWBZarrIO(RfsStore(load_rfs(path)), mode="r") as source,
            kind(str(tmp_path / name), mode="w") as io,
        ):
            io.export(src_io=source, write_args={"link_data": False})
    with pynwb.NWBHDF5IO(tmp_path / "a.nwb", mode="r") as io:
        assert_values(io.read(), values)
        assert pynwb.validate(io=io) == []
    with NWBZarrIO(str(tmp_path / "b.nwb.zarr"), mode="r") as io:
        assert_values(io.read(), values)
        assert pynwb.validate(io=io) == []


def test_it_materializes(written, tmp_path):
    path, values = written
    materialize(path, tmp_path / "session.nwb.zarr", verify=True)
    assert_values(read_nwb(tmp_path / "session.nwb.zarr"), values)
    with NWBZarrIO(str(tmp_path / "session.nwb.zarr"), mode="r") as io:
        assert pynwb.validate(io=io) == []


def test_it_goes_into_icechunk(written, tmp_path):
    pytest.importorskip("icechunk", reason="the extra icechunk is not installed")
    from shadowzarr.icechunk import commit_changes, open_repository, rfs_to_icechunk

    path, values = written
    repo = open_repository(tmp_path / "repo", [path.parent.as_uri()])
    commit_changes(
        repo,
        "Add the session",
        lambda session: rfs_to_icechunk(load_rfs(path), session, copy_selections=True),
    )
    assert_values(read_nwb(repo.readonly_session("main").store), values)


def test_it_reads_after_it_was_moved_with_its_files_elsewhere(written):
    path, values = written
    document = json.loads((path / "refs.json").read_text())
    places = json.dumps(document.get("templates", {})) + json.dumps(document["sources"])
    assert str(path.parent) in places  # local files are named absolute, so that the references can be moved
    assert open_rfs(path)["acquisition/voltage/data"].shape == values["acquisition/voltage/data"].shape


def test_one_file_of_json(tmp_path):
    nwbfile, values = every_type(tmp_path)
    rfs = write_virtual_nwb(nwbfile, tmp_path / "session.json")
    assert rfs["refs"].keys() <= json.loads((tmp_path / "session.json").read_text())["refs"].keys()
    assert_values(read_nwb(tmp_path / "session.json"), values)


def test_attributes_of_the_array_are_left_to_nwb(tmp_path):
    sources, nwbfile = Sources(tmp_path), empty_nwb()
    array = sources.array("x", np.arange(40, dtype="<i2")).with_attributes({"unit": "kg", "gain": [2.0]})
    nwbfile.add_acquisition(pynwb.TimeSeries(name="x", data=array.placeholder(), rate=1.0, unit="V"))
    write_virtual_nwb(nwbfile, tmp_path / "out")
    attributes = open_rfs(tmp_path / "out")["acquisition/x/data"].attrs
    assert attributes["unit"] == "V"
    assert "gain" not in attributes


def test_a_placeholder_behind_options_for_writing_is_one(tmp_path):
    sources, nwbfile = Sources(tmp_path), empty_nwb()
    data = ZarrDataIO(sources.put("x", (40, 3), "<i2"), chunks=(10, 3))
    nwbfile.add_acquisition(pynwb.TimeSeries(name="x", data=data, rate=1.0, unit="V", resolution=np.nan))
    write_virtual_nwb(nwbfile, tmp_path / "out")
    found = read_nwb(tmp_path / "out").acquisition["x"]
    assert found.data[:].tolist() == sources.values["x"].tolist()
    assert np.isnan(found.resolution)


def test_an_array_without_samples_and_one_of_many_chunks(tmp_path):
    sources, nwbfile = Sources(tmp_path), empty_nwb()
    sources.put("x", (3000, 2), "<i2")
    many = VirtualArray.contiguous(
        tmp_path / "x.raw", shape=[3000, 2], dtype="<i2", offset=7, chunk_shape=[2, 2]
    )
    nwbfile.add_acquisition(pynwb.TimeSeries(name="x", data=many.placeholder(), rate=1.0, unit="V"))
    none = many[:0].placeholder()
    nwbfile.add_acquisition(pynwb.TimeSeries(name="none", data=none, rate=1.0, unit="V"))
    rfs = write_virtual_nwb(nwbfile, tmp_path / "out")
    assert len(rfs["gen"]) == 1
    found = read_nwb(tmp_path / "out").acquisition
    assert found["none"].data.shape == (0, 2)
    assert found["x"].data[:].tolist() == sources.values["x"].tolist()


def test_numbers_that_nwb_would_convert_are_refused_and_nothing_is_written(tmp_path):
    sources, nwbfile = Sources(tmp_path), empty_nwb()
    times = sources.put("t", (40,), "<f4")
    nwbfile.add_acquisition(pynwb.TimeSeries(name="x", data=np.arange(40), timestamps=times, unit="V"))
    reason = "/acquisition/x/timestamps: NWB has float64 there, and the file float32"
    with pytest.raises(UsageError, match=reason):
        write_virtual_nwb(nwbfile, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["ü #?", "c", "{x}%41"])
def test_names_that_need_care(name, tmp_path):
    sources, nwbfile = Sources(tmp_path), empty_nwb()
    data = sources.put("x", (40, 3), "<i2")
    nwbfile.add_acquisition(pynwb.TimeSeries(name=name, data=data, rate=1.0, unit="V"))
    write_virtual_nwb(nwbfile, tmp_path / "out")
    assert read_nwb(tmp_path / "out").acquisition[name].data[:].tolist() == sources.values["x"].tolist()


@pytest.mark.parametrize(("name", "reason"), [("a\\b", "under another name"), ("..", "invalid")])
def test_names_that_zarr_has_not_are_refused(name, reason, tmp_path):
    sources, nwbfile = Sources(tmp_path), empty_nwb()
    data = sources.put("x", (40, 3), "<i2")
    nwbfile.add_acquisition(pynwb.TimeSeries(name=name, data=data, rate=1.0, unit="V"))
    with pytest.raises(UsageError, match=reason):
        write_virtual_nwb(nwbfile, tmp_path / "out")
    with pytest.raises(UsageError, match="s3://bucket/x is a URL"):
        write_virtual_nwb(nwbfile, "s3://bucket/x")
    assert [each.name for each in tmp_path.iterdir()] == ["x.raw"]


def test_what_cannot_be_written_leaves_what_is_there(tmp_path, monkeypatch):
    nwbfile, values = every_type(tmp_path)
    with pytest.raises(UsageError, match=r"writes a pynwb\.NWBFile, found a dict"):
        write_virtual_nwb({}, tmp_path / "out")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="other"):
        write_virtual_nwb(nwbfile, tmp_path / "other")
    write_virtual_nwb(nwbfile, tmp_path / "out")
    before = (tmp_path / "out" / "refs.json").read_bytes()
    with pytest.raises(UsageError, match="hdmf-zarr cannot write 'root' to .*elsewhere"):
        write_virtual_nwb(nwbfile, tmp_path / "elsewhere")
    later, _ = every_type(tmp_path)
    monkeypatch.setattr("shadowzarr.write._replace", _no_space)
    with pytest.raises(OutputError, match="No space left"):
        write_virtual_nwb(later, tmp_path / "out")
    monkeypatch.undo()
    assert (tmp_path / "out" / "refs.json").read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir() if each.suffix != ".raw") == ["other", "out"]
    assert_values(read_nwb(tmp_path / "out"), values)


def _no_space(*_args, **_options):
    raise OSError(28, "No space left on device")


def test_the_example_of_a_recording_runs(tmp_path, monkeypatch):
    pytest.importorskip("neo", reason="the extra neo is not installed")
    import recordings_by_hand as hand

    (tmp_path / "Noise4Sam_g0").mkdir()
    hand.spikeglx(tmp_path / "Noise4Sam_g0")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "virtual-nwb.md").read_text(encoding="utf-8")
    found = {}
    for example in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[:3]:
        exec(compile(example, "docs/virtual-nwb.md", "exec"), found)
    assert (found["samples"] == hand.signal(300, 385)[:100, :384]).all()
    with pynwb.NWBHDF5IO("session.nwb", mode="r") as io:
        assert (io.read().acquisition["ElectricalSeries"].data[:] == hand.signal(300, 385)[:, :384]).all()
