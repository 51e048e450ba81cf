"""What the tests of the TIFF generator share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiff_reading import ReadBack, assert_same

pytest.importorskip("tifffile")
pytest.importorskip("imagecodecs")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.tif"


@pytest.fixture
def image() -> np.ndarray:
    """Smooth enough to be compressed, and different everywhere."""
    rows, columns = np.mgrid[:45, :60]
    return (rows * 61 + columns * 3).astype("u2")


@pytest.fixture
def check(path: Path) -> Callable[..., ReadBack]:
    """Write these bytes, compare references with tifffile."""

    def run(data: bytes, **options: Any) -> ReadBack:
        path.write_bytes(data)
        return assert_same(path, ReadBack(path, **options))

    return run
