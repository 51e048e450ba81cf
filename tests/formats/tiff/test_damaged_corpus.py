"""Real TIFF files, damaged at random: refused, or read as tifffile reads the same damaged file.

``TIFF_DAMAGES`` is how many files of each kind of damage are tried, each in a child process.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from damaged_reading import Child, check, kind_of
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
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(DAMAGES):
        original = files[source.randrange(len(files))]
        path = tmp_path / f"{kind}-{number}-{original.name}"
        path.write_bytes(damaged(original.read_bytes(), kind, source))
        try:
            seen[kind_of(check(child, path, way="tiff"))] += 1
        except AssertionError as error:
            wrong.append(str(error))
        else:
            path.unlink()
    print(f"{kind}: {DAMAGES} files, {dict(seen)}")
    assert wrong == []
    assert seen["equal"] + seen["left out"] > 0
    assert seen["refused"] > 0
