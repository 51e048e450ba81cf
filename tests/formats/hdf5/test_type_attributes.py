from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from shadowzarr import generate_rfs, verify_rfs
from shadowzarr.verify.mappings import TYPE_ATTRIBUTE


def test_attributes_of_a_committed_type_are_kept_in_the_section(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["type"] = np.dtype("i4")
        f["type"].attrs["unit"] = "V"
        f["x"] = 1
    assert generate().skipped() == {}
    assert generate().converted()["/type@unit"] == "held in the section hdf5 only"
    report = verify_rfs(generate().rfs)
    assert report.differences == []
    assert report.mappings[TYPE_ATTRIBUTE] == 1


def test_without_the_section_they_are_left_out_by_name(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f["type"] = np.dtype("i4")
        f["type"].attrs["unit"] = "V"
    rfs = generate_rfs(path, hdf5_section=False)
    assert [entry["path"] for entry in rfs["skipped"]] == ["/type@unit"]
    assert [each.path for each in verify_rfs(rfs).left_out] == ["/type@unit"]


def test_one_that_is_lost_is_a_difference(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f["type"] = np.dtype("i4")
        f["type"].attrs["unit"] = "V"
    rfs = generate_rfs(path)
    del rfs["hdf5"]["objects"]["/type"]["attributes"]
    assert [each.path for each in verify_rfs(rfs).differences] == ["/type@unit"]
