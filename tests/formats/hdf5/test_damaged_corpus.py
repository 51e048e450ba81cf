"""Real files and made ones, damaged at random and read through a server: never a wrong value.

``CORPUS_DAMAGES`` is how many files of each kind of damage are tried. What is read is compared with what h5py
reads of the same damaged file; each is done in a child process, as in ``test_damaged``.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from damaged_reading import Child, check, check_damaged, kind_of
from damages import KINDS, checksummed, damaged, signatures

DAMAGES = int(os.environ.get("CORPUS_DAMAGES", "20"))
LARGEST = 48 * 1024
FOLDERS = ("hdf5", "nwb", "mat73", "netcdf4")
SUFFIXES = {".h5", ".nwb", ".nc", ".nc4", ".mat", ".hdf5", ".hdf", ".he5"}


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    made = Child()
    yield made
    made.close()


@pytest.fixture(scope="module")
def files(shared: Path, made_files: Path) -> list[Path]:
    """Small files of the corpus, and those that are made for structures that it lacks."""
    folders = [*(shared / "corpus" / folder for folder in FOLDERS), made_files]
    return sorted(
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES and 0 < path.stat().st_size <= LARGEST
    )


@pytest.mark.parametrize("kind", [*KINDS, "swap", "structure", "sealed"])
def test_read_ahead_of_damaged_files(child: Child, files: list[Path], tmp_path: Path, kind: str) -> None:
    source = random.Random(kind)
    fit = [path for path in files if kind != "sealed" or checksummed(path.read_bytes())]
    assert len(fit) > 30
    drawn = (fit[source.randrange(len(fit))] for _ in range(DAMAGES))
    seen = check_damaged(
        child, drawn, tmp_path, change=lambda data: damaged(data, kind, source), way="remote"
    )
    print(f"{kind}: {DAMAGES} files, {dict(seen)}")
    assert kind == "cut" or seen["equal"] + seen["left out"] > 0  # HDF5 opens none that is too short


def test_files_that_are_not_damaged(child: Child, files: list[Path]) -> None:
    """Otherwise nothing would be compared above."""
    tried = files[:: max(1, len(files) // 10)]
    kinds = [kind_of(check(child, path, way="remote")) for path in tried]
    assert sum(kind in ("equal", "left out") for kind in kinds) > len(tried) // 2  # some are of no use alone


def test_a_checksum_is_made_right_again(files: list[Path]) -> None:
    source = random.Random(1)
    data = next(data for data in (path.read_bytes() for path in files) if len(checksummed(data)) > 3)
    for _ in range(50):
        changed = damaged(data, "sealed", source)
        starts = {start for start, _ in checksummed(changed)}
        assert starts >= {start for start, _ in checksummed(data)} & set(signatures(changed))
