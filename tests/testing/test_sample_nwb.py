"""The sample files hold what their descriptions promise, and are the same on every run."""

import hashlib
import math
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.errors import MissingDependencyError
from shadowzarr.testing import sample_nwb

pynwb = pytest.importorskip("pynwb")

DATA = "acquisition/ElectricalSeries/data"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    sample_nwb.write_sample_dandisets(folder)
    return folder


def test_layout_is_that_of_an_archive(folder: Path) -> None:
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.nwb"))
    assert paths == [
        "000001/sub-01/sub-01_ses-20260302_ecephys.nwb",
        "000001/sub-02/sub-02_ses-contiguous_ecephys.nwb",
        "000001/sub-02/sub-02_ses-longterm_ecephys.nwb",
        "000002/sub-03/sub-03_ses-20260302_ophys.nwb",
        "000003/sub-04/sub-04_ses-20260302_behavior.nwb",
    ]
    assert sum((folder / path).stat().st_size for path in paths) < 60e6


def test_every_file_is_valid_nwb(folder: Path) -> None:
    for path in folder.rglob("*.nwb"):
        with pynwb.NWBHDF5IO(path, mode="r") as io:
            assert pynwb.validate(io=io) == [], path


def test_another_process_writes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    program = "import sys; from shadowzarr.testing.sample_nwb import *; write_sample_dandisets(sys.argv[1])"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    digests = [
        {p.relative_to(top): hashlib.sha256(p.read_bytes()).hexdigest() for p in top.rglob("*.nwb")}
        for top in (folder, tmp_path)
    ]
    assert digests[0] == digests[1]


def test_recording_has_compressed_chunks_units_and_trials_that_refer_to_it(folder: Path) -> None:
    with h5py.File(next(folder.rglob("*sub-01_ses-20260302_ecephys.nwb"))) as file:
        data = file[DATA]
        assert (data.shape, data.dtype, data.chunks) == ((90_000, 32), np.int16, (10_000, 8))
        assert (data.compression, data.shuffle) == ("gzip", True)
        assert len(file["units/spike_times_index"]) == 12
        trials = file["intervals/trials/timeseries"]
        assert file[trials[0]["timeseries"]].name == "/acquisition/ElectricalSeries"
        electrodes = file["general/extracellular_ephys/electrodes"]
        assert h5py.check_ref_dtype(electrodes["group"].dtype) is h5py.Reference
        assert math.isnan(electrodes["imp"][0])


def test_one_recording_is_a_single_large_block_of_an_indivisible_length(folder: Path) -> None:
    with h5py.File(next(folder.rglob("*contiguous*.nwb"))) as file:
        data = file[DATA]
        assert data.chunks is None
        assert data.id.get_storage_size() > 3 * 4 * 2**20
        assert all(data.shape[0] % divisor for divisor in range(2, 600))


def test_one_recording_has_more_chunks_than_the_index_threshold(folder: Path) -> None:
    with h5py.File(next(folder.rglob("*longterm*.nwb"))) as file:
        assert file[DATA].id.get_num_chunks() == 2_048


def test_imaging_has_a_stack_and_a_segmentation_with_both_kinds_of_masks(folder: Path) -> None:
    with h5py.File(next(folder.rglob("*ophys.nwb"))) as file:
        stack = file["acquisition/TwoPhotonSeries/data"]
        assert (stack.shape, stack.dtype, stack.chunks) == ((240, 128, 128), np.uint16, (20, 128, 128))
        rois = file["processing/ophys/ImageSegmentation/PlaneSegmentation"]
        assert rois["image_mask"].shape == (24, 128, 128)
        assert rois["pixel_mask"].dtype.names == ("x", "y", "weight")
        traces = file["processing/ophys/Fluorescence/RoiResponseSeries/data"]
        assert traces.shape == (240, 24)
        assert np.all(traces[:].max(axis=0) > 0)


def test_behaviour_has_nan_in_attributes_and_values_and_a_linked_dataset(folder: Path) -> None:
    with h5py.File(next(folder.rglob("*behavior.nwb"))) as file:
        behavior = file["processing/behavior"]
        series = behavior["Position/SpatialSeries"]
        for data in (series["data"], behavior["PupilTracking/pupil_diameter/data"]):
            assert math.isnan(data.attrs["resolution"])
            assert np.isnan(data[:]).any()
        link = behavior["CompassDirection/HeadDirection"].get("timestamps", getlink=True)
        assert isinstance(link, h5py.SoftLink)
        assert link.path == series["timestamps"].name


def test_without_pynwb_the_message_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynwb", None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*\[nwb\]"):
        sample_nwb.write_behavior(tmp_path / "file.nwb")
