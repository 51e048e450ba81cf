"""Real TIFF files, damaged at random: refused, or read as tifffile reads the same damaged file.

``TIFF_DAMAGES`` is how many files of each kind of damage are tried, each in a child process.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from damaged_reading import Child, check_damaged
from damages import KINDS, damaged

DAMAGES = int(os.environ.get("TIFF_DAMAGES", "30"))
LARGEST = 100 * 1024


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    made = Child()
    yield made
    made.close()


@pytest.fixture(scope="module")
def files(shared: Path) -> list[Path]:
    folder = shared / "corpus" / "tiff"
    return sorted(
        path for path in folder.rglob("*") if ".tif" in path.suffix and path.stat().st_size <= LARGEST
    )


@pytest.mark.parametrize("kind", [*KINDS, "swap", "directory"])
def test_damaged_files(child: Child, files: list[Path], tmp_path: Path, kind: str) -> None:
    assert len(files) > 20
    source = random.Random(kind)
    drawn = (files[source.randrange(len(files))] for _ in range(DAMAGES))
    seen = check_damaged(child, drawn, tmp_path, change=lambda data: damaged(data, kind, source), way="tiff")
    print(f"{kind}: {DAMAGES} files, {dict(seen)}")
    assert seen["equal"] + seen["left out"] > 0
    assert seen["refused"] > 0
