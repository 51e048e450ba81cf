"""Random HDF5 files read through references as h5py reads them.

``HDF5_EXAMPLES`` is the number of files in all, 1,000 when it is not set, and ``HDF5_SEED`` chooses them.
What such files found has a test of its own in ``test_found``.
"""

import os
import warnings
from pathlib import Path

import h5py
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from random_hdf5.comparison import complaint
from random_hdf5.datasets import Dataset
from random_hdf5.files import File, files, write_file
from random_hdf5.types import IS_HEAP

from shadowzarr.errors import DamagedSourceError
from shadowzarr.formats.hdf5 import dataset_values, in_place
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.verify import verify_rfs
from shadowzarr.verify.report import Difference
from shadowzarr.write import write_rfs

PARTS = 8
EXAMPLES = int(os.environ.get("HDF5_EXAMPLES", "1000")) // PARTS
SEED = int(os.environ.get("HDF5_SEED", "0"))

options = st.fixed_dictionaries(
    {
        "chunk_index_threshold": st.sampled_from((0, 3, 1000, None)),
        "contiguous_chunk_bytes": st.sampled_from((1, 16, 100, 4 * 2**20)),
    }
)


@pytest.mark.parametrize("part", range(PARTS))
def test_references_read_as_h5py_does(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @seed(SEED * PARTS + part)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(files(), options, st.sampled_from((0, 1024)), st.sampled_from((48, 4 * 2**20)))
    def check(spec: File, options: dict, inline_below: int, piece: int) -> None:
        monkeypatch.setattr(in_place, "INLINE_BELOW", inline_below)
        monkeypatch.setattr(dataset_values, "TARGET_BYTES", piece)
        check_file(tmp_path, spec, options)

    check()


def check_file(folder: Path, spec: File, options: dict) -> None:
    path = folder / "file.h5"
    path.unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        written = write_file(path, spec)
        rfs = generate_rfs(path, **options)
        skipped = {entry["path"]: entry["reason"] for entry in rfs.get("skipped", [])}
        for name, dataset in written.items():
            reason = skipped.get(f"/{name}")
            allowed = reason is None or may_be_left_out(name, dataset) or not is_readable(path, name)
            assert allowed, f"{name}: {reason}"
        for form in ("out.json", "out.shadowzarr"):
            write_rfs(rfs, folder / form)
            report = verify_rfs(folder / form, mode="full")
            told = {each.path[1:] for each in report.differences if is_told(each, path)}
            assert len(told) == len(report.differences), report.summary()
            assert {each.path for each in report.left_out} <= set(skipped)
        compare(path, written, rfs, open_rfs(folder / form), skipped, told)


def may_be_left_out(name: str, dataset: Dataset) -> bool:
    is_odd = dataset.shape is None and dataset.type.name in IS_HEAP
    return is_odd or dataset.type.may_be_left_out or "\\" in name


def is_told(difference: Difference, path: Path) -> bool:
    """Whether it is a chunk that h5py itself cannot read: plug-ins write such, one behind another.

    References in place are made without reading every chunk, so that only verification finds it.
    """
    return difference.kind == "unreadable original" and not is_readable(path, difference.path[1:])


def is_readable(path: Path, name: str) -> bool:
    """Whether h5py itself reads a dataset."""
    with h5py.File(path, "r") as file:
        try:
            _ = file[name][...]
        except (OSError, TypeError):
            return False
    return True


def compare(
    path: Path, written: dict, rfs: dict, root: object, skipped: dict[str, str], told: set[str]
) -> None:
    """Every array with h5py's values or an error like h5py's, and every dataset an array, if not left out."""
    found = set()
    nodes = {key.removesuffix("/zarr.json") for key in rfs["refs"] if key.endswith("/zarr.json")}
    with h5py.File(path, "r") as file:
        for name in sorted(nodes):
            if isinstance(file.get(name), h5py.Dataset):
                found.add(file[name].id)
                if name in told:
                    with pytest.raises(DamagedSourceError):
                        root[name][...]
                    continue
                wrong = complaint(file[name], root[name], file)
                assert not wrong, f"{name}: {wrong}"
        for name in written:
            assert f"/{name}" in skipped or file[name].id in found, f"{name} is lost"
