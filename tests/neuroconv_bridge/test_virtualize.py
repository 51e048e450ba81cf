"""virtualize: what NeuroConv assembled, with references for its iterators, beside its own conversion."""

import copy
import importlib.util
import re
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

if importlib.util.find_spec("neuroconv") is None:
    pytest.skip("the extra neuroconv is not installed", allow_module_level=True)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # NeuroConv and what it imports warn of themselves
    import mearec_stand_in
    import pynwb

    from shadowzarr.neuroconv_bridge import NotVirtualizable, virtualize

    mearec_stand_in.install()

    import imaging_by_hand as imaging
    import recordings_by_hand as hand
    from neuroconv_features import CONVERTED, REFUSED
    from virtual_nwb import empty_nwb

from shadowzarr import VirtualArray, generate_rfs, load_rfs, open_rfs
from shadowzarr.errors import UsageError
from shadowzarr.nwb import read_nwb, write_virtual_nwb

pytestmark = pytest.mark.filterwarnings("ignore")

ROOT = Path(__file__).resolve().parents[2]
START = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
CREATED = "file_create_date"


def metadata_of(interface):
    metadata = interface.get_metadata()
    metadata["NWBFile"]["session_start_time"] = START
    return metadata


def arrays(root):
    """All arrays of a file, by their paths."""
    return {path: node for path, node in root.members(max_depth=None) if hasattr(node, "shape")}


def assert_same(virtual, converted):
    """Every dataset is equal but for when the file was made."""
    one, other = arrays(open_rfs(virtual)), arrays(open_rfs(generate_rfs(converted)))
    assert one.keys() == other.keys()
    for path in one.keys() - {CREATED}:
        given, wanted = np.asarray(one[path][()]), np.asarray(other[path][()])
        assert given.shape == wanted.shape, path
        if wanted.dtype.kind in "biufc":
            assert given.dtype.newbyteorder("=") == wanted.dtype.newbyteorder("="), path
        assert np.array_equal(given, wanted, equal_nan=wanted.dtype.kind == "f"), path


@pytest.fixture
def own_types(monkeypatch):
    """Types of extensions that a test imports are gone afterwards: pynwb validates against them otherwise."""
    monkeypatch.setattr(pynwb, "__TYPE_MAP", copy.deepcopy(getattr(pynwb, "__TYPE_MAP")))


@pytest.mark.parametrize("name", CONVERTED)
def test_it_equals_the_conversion_of_neuroconv(name, tmp_path, request):
    needed = {"WAV": "ndx_sound", "CellExplorer": "pymatreader"}.get(name)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed}, which NeuroConv needs for it, is not installed")
    if needed == "ndx_sound":
        request.getfixturevalue("own_types")
    (tmp_path / "source").mkdir()
    make = CONVERTED[name](tmp_path / "source")
    metadata = metadata_of(make())
    make().run_conversion(nwbfile_path=tmp_path / "copied.nwb", metadata=metadata)
    nwbfile = make().create_nwbfile(metadata=metadata)
    done = virtualize(nwbfile)
    assert (len(done.virtual), done.left) == (2 if "segments" in name else 1, {})
    write_virtual_nwb(nwbfile, tmp_path / "session.nwb.shadowzarr")
    assert_same(tmp_path / "session.nwb.shadowzarr", tmp_path / "copied.nwb")
    sources = list(load_rfs(tmp_path / "session.nwb.shadowzarr")["sources"])
    assert sources
    assert all(each.startswith(str(tmp_path / "source")) for each in sources)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_referenced_is_refused_or_left_to_neuroconv(name, tmp_path):
    (tmp_path / "source").mkdir()
    write, reason = REFUSED[name]
    make = write(tmp_path / "source")
    metadata = metadata_of(make())
    nwbfile = make().create_nwbfile(metadata=metadata)
    with pytest.raises(NotVirtualizable, match=f"data: .*{re.escape(reason)}"):
        virtualize(nwbfile)
    done = virtualize(nwbfile, strict=False)
    assert (done.virtual, len(done.left)) == ({}, 1)
    write_virtual_nwb(nwbfile, tmp_path / "session.nwb.shadowzarr")
    make().run_conversion(nwbfile_path=tmp_path / "copied.nwb", metadata=metadata)
    assert_same(tmp_path / "session.nwb.shadowzarr", tmp_path / "copied.nwb")


def test_what_is_in_memory_is_left_and_memory_maps_are_referenced(tmp_path):
    np.arange(60, dtype="<f4").tofile(tmp_path / "a.raw")
    mapped = np.memmap(tmp_path / "a.raw", "<f4", "r", shape=(20, 3))
    nwbfile = empty_nwb()
    series = {"mapped": mapped[2:, 1], "plain": np.arange(5.0)}
    for name, data in series.items():
        nwbfile.add_acquisition(pynwb.TimeSeries(name=name, data=data, rate=1.0, unit="V"))
    done = virtualize(nwbfile, url_for=lambda path: f"https://host.test/{Path(path).name}")
    assert list(done.virtual) == ["mapped.data"]
    rfs = write_virtual_nwb(nwbfile, tmp_path / "out")
    assert list(rfs["sources"]) == ["https://host.test/a.raw"]


def test_values_that_are_changed_on_the_way_are_noticed(tmp_path):
    np.arange(60, dtype="<i2").tofile(tmp_path / "a.raw")
    mapped = np.memmap(tmp_path / "a.raw", "<i2", "c")
    mapped[7] = -1  # in memory alone
    nwbfile = empty_nwb()
    nwbfile.add_acquisition(pynwb.TimeSeries(name="x", data=mapped, rate=1.0, unit="V"))
    with pytest.raises(NotVirtualizable, match="NeuroConv writes other values than the files hold"):
        virtualize(nwbfile)
    assert nwbfile.acquisition["x"].data is mapped


def test_an_iterator_of_another_kind_is_refused(tmp_path):
    from hdmf.data_utils import DataChunkIterator

    nwbfile = empty_nwb()
    data = DataChunkIterator(iter([[1, 2], [3, 4]]))
    nwbfile.add_acquisition(pynwb.TimeSeries(name="x", data=data, rate=1.0, unit="V"))
    with pytest.raises(NotVirtualizable, match=r"x\.data: a DataChunkIterator does not say"):
        virtualize(nwbfile)
    with pytest.raises(UsageError, match=r"takes a pynwb\.NWBFile, found a dict"):
        virtualize({})


def test_two_interfaces_in_one_file_and_what_was_virtual_before(tmp_path):
    from neuroconv.datainterfaces import SpikeGLXRecordingInterface, TiffImagingInterface

    for name in ("run_g0", "images"):
        (tmp_path / name).mkdir()
    hand.spikeglx(tmp_path / "run_g0")
    probe = SpikeGLXRecordingInterface(folder_path=tmp_path / "run_g0", stream_id="imec0.ap")
    paths = imaging.tiff_stack(tmp_path / "images")
    nwbfile = probe.create_nwbfile(metadata=metadata_of(probe), stub_test=True)
    assert list(virtualize(nwbfile).virtual) == ["ElectricalSeriesAPImec0.data"]
    scope = TiffImagingInterface(file_paths=paths, sampling_frequency=30.0)
    scope.add_to_nwbfile(nwbfile, metadata=metadata_of(scope))
    array = VirtualArray.contiguous(paths[0], shape=[10], dtype="u1")
    nwbfile.add_acquisition(pynwb.TimeSeries(name="own", data=array.placeholder(), rate=1.0, unit="V"))
    assert list(virtualize(nwbfile).virtual) == ["MicroscopySeries.data"]
    write_virtual_nwb(nwbfile, tmp_path / "out")
    found = read_nwb(tmp_path / "out").acquisition
    assert (found["ElectricalSeriesAPImec0"].data[:] == hand.signal(300, 385)[:100, :384]).all()
    assert (found["MicroscopySeries"].data[:] == imaging.images().transpose(0, 2, 1)).all()
    assert found["own"].data[:].tobytes() == paths[0].read_bytes()[:10]


def test_microvolts_are_refused(tmp_path):
    from neuroconv.tools.spikeinterface.spikeinterfacerecordingdatachunkiterator import (
        SpikeInterfaceRecordingDataChunkIterator,
    )

    recording = CONVERTED["MCS raw"](tmp_path)().recording_extractor
    data = SpikeInterfaceRecordingDataChunkIterator(recording, return_in_uV=True)
    nwbfile = empty_nwb()
    nwbfile.add_acquisition(pynwb.TimeSeries(name="x", data=data, rate=1.0, unit="V"))
    with pytest.raises(NotVirtualizable, match="asked for microvolts"):
        virtualize(nwbfile)


def test_computed_samples_and_cropped_frames_are_refused(tmp_path):
    from neuroconv.tools.roiextractors.imagingextractordatachunkiterator import (
        ImagingExtractorDataChunkIterator,
    )
    from neuroconv.tools.spikeinterface.spikeinterfacerecordingdatachunkiterator import (
        SpikeInterfaceRecordingDataChunkIterator,
    )
    from roiextractors import MultiTIFFMultiPageExtractor, ScanImageImagingExtractor
    from spikeinterface.core import NumpyRecording

    computed = NumpyRecording([np.zeros((20, 2), "i2")], 1000.0)
    scan = ScanImageImagingExtractor(file_paths=[imaging.scanimage(tmp_path)])
    stack = MultiTIFFMultiPageExtractor(imaging.tiff_stack(tmp_path), 30.0)
    for data, reason in (
        (SpikeInterfaceRecordingDataChunkIterator(computed), "NumpyRecordingSegment does not say"),
        (ImagingExtractorDataChunkIterator(scan.slice_field_of_view(row_start=1)), "frames are cropped"),
        (ImagingExtractorDataChunkIterator(stack.slice_field_of_view(row_start=1)), "frames are cropped"),
    ):
        nwbfile = empty_nwb()
        nwbfile.add_acquisition(pynwb.TimeSeries(name="x", data=data, rate=1.0, unit="V"))
        with pytest.raises(NotVirtualizable, match=reason):
            virtualize(nwbfile)


def test_the_workaround_is_still_needed():
    """When this fails, `shadowzarr.neuroconv_bridge.zarr_registry` can go."""
    folder = Path(importlib.util.find_spec("neuroconv").origin).parent
    text = (folder / "tools/nwb_helpers/_configuration_models/_zarr_dataset_io.py").read_text()
    assert "zarr.codec_registry" in text


def test_the_example_runs(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "virtual-nwb.md").read_text(encoding="utf-8").split("## From NeuroConv")[1]
    example = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[0]
    (tmp_path / "Noise4Sam_g0").mkdir()
    hand.spikeglx(tmp_path / "Noise4Sam_g0")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "docs/virtual-nwb.md", "exec"), {})
    found = read_nwb(tmp_path / "session.nwb.shadowzarr").acquisition["ElectricalSeriesAPImec0"]
    assert (found.data[:] == hand.signal(300, 385)[:, :384]).all()
