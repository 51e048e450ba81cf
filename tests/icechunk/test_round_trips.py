"""Whole files through Icechunk and back: the same values, and chunks at the same places."""

import pytest
import zarr
from icechunk_round_trip import back, differences, moved, written

from shadowzarr import generate_rfs, verify_rfs
from shadowzarr.testing.sample_nwb import write_sample_dandisets

PARTS = ("sources", "skipped", "converted", "hdf5")

CORPUS = [
    *("nwb/pynwb/1.1.2_nwbfile.nwb", "nwb/pynwb/2.1.0_nwbfile_with_extension.nwb"),
    "nwb/hdmf-zarr/sub_anm00239123_ses_20170627T093549_ecephys_and_ogen.nwb",
    *("netcdf4/kerchunk/air.nc", "netcdf4/netcdf-c/ref_tst_interops4.nc"),
    "netcdf4/netcdf4-python/issue672.nc",
    *("netcdf4/pyfive/h5netcdf_test.hdf5", "netcdf4/pyfive/issue23_A_contiguous.nc"),
    *("hdf5/pyfive/compressed.hdf5", "hdf5/pyfive/references.hdf5", "hdf5/h5wasm/compressed.h5"),
    *("hdf5/hdf5lib/tfilters.h5", "hdf5/hdf5lib/le_data.h5", "hdf5/hdf5lib/h5repack_attr.h5"),
    *("hdf5/hdf5lib/tcompound_complex2.h5", "hdf5/hdf5-json/compound_array_vlen_string.h5"),
    *("hdf5/hdf5lib/zerodim.h5", "hdf5/hdf5lib/tempty.h5"),
]  # fmt: skip


def check(path, folder, *, verify=True):
    """All of it for one file; how many chunks of each array were copied."""
    rfs = generate_rfs(path)
    session, _ = written(rfs, folder, path.as_uri())
    assert differences(rfs, zarr.open_group(session.store, mode="r")) == []
    again = back(session)
    assert {part: again.get(part) for part in PARTS} == {part: rfs.get(part) for part in PARTS}
    if verify:
        assert verify_rfs(again).differences == []
    return moved(rfs, again)


@pytest.mark.parametrize("name", CORPUS)
def test_real_files(name, shared, tmp_path):
    assert check(shared / "corpus" / name, tmp_path / "repo") == {}


def test_sample_files(tmp_path):
    copied = {}
    for path in write_sample_dandisets(tmp_path / "nwb"):
        for array, count in check(path, tmp_path / path.stem, verify=False).items():
            copied[f"{path.stem}/{array}"] = count
    # the last slab, whose height divides no prime number of samples
    assert copied == {"sub-02_ses-contiguous_ecephys/acquisition/ElectricalSeries/data": 1}
