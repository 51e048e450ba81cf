"""What the tests of virtual arrays share: a raw file, and an array as references show it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shadowzarr import RfsBuilder, open_rfs
from shadowzarr.virtual import VirtualArray

HEADER = b"twelve bytes"


@dataclass(frozen=True)
class Raw:
    """A file of 12 bytes of header, then 600 samples of 10 channels of int16."""

    path: Path
    values: np.ndarray

    def array(self, **options: Any) -> VirtualArray:
        """The samples."""
        given = {"shape": [600, 10], "dtype": "<i2", "offset": len(HEADER), **options}
        return VirtualArray.contiguous(self.path, **given)


@pytest.fixture
def raw(tmp_path: Path) -> Raw:
    values = np.random.default_rng(0).integers(-(2**15), 2**15, (600, 10), dtype="<i2")
    path = tmp_path / "raw.bin"
    path.write_bytes(HEADER + values.tobytes())
    return Raw(path, values)


@pytest.fixture
def built() -> Callable[..., Any]:
    """The document with an array at ``a``."""

    def build(array: VirtualArray, **options: Any) -> Any:
        builder = RfsBuilder()
        array.add_to(builder, "a", **options)
        return builder.build()

    return build


@pytest.fixture
def read(built: Callable[..., Any]) -> Callable[[VirtualArray], np.ndarray]:
    """The values of an array, read through references."""
    return lambda array: np.asarray(open_rfs(built(array))["a"][...])
