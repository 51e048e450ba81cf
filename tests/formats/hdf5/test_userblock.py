from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5.userblock import offset_shift, stored_block


@pytest.mark.parametrize("options", [{}, {"chunks": (500,)}, {"chunks": (500,), "compression": "gzip"}])
def test_values_behind_a_userblock(path: Path, generate: Callable, options: dict) -> None:
    with h5py.File(path, "w", userblock_size=1024) as f:
        f.create_dataset("d", data=np.arange(2000), **options)
        f["ref"] = f["d"].ref
    made = generate()
    assert made["d"].tolist() == list(range(2000))
    assert made["ref"] == "/d"


@pytest.mark.parametrize("shift", [0, 512])
@pytest.mark.parametrize("options", [{}, {"chunks": (500,), "compression": "gzip"}])
def test_one_block_tells_what_offsets_count_from(path: Path, options: dict, shift: int) -> None:
    with h5py.File(path, "w") as f:
        f.create_dataset("a_text", data=["x"], dtype=h5py.string_dtype())
        f.create_dataset(
            "d", data=np.arange(2000).reshape(2, 1000), **({**options, "chunks": (1, 500)} if options else {})
        )
    data = bytes(shift) + path.read_bytes()  # what an older HDF5 would report: offsets without the userblock
    with h5py.File(path, "r") as f:
        found = offset_shift(512, f.values(), lambda offset, length: data[offset : offset + length])
    assert found == shift


def test_blocks(path: Path) -> None:
    with h5py.File(path, "w") as f:
        f["scalar"] = 5
        f.create_dataset("unwritten", (5,), "i4")
        f.create_dataset("empty", (0,), "i4")
        f["null"] = h5py.Empty("i4")
    with h5py.File(path, "r") as f:
        block = stored_block(f["scalar"])
        assert block is not None
        assert path.read_bytes()[block[0] : block[0] + 8] == block[1] == (5).to_bytes(8, "little")
        assert [stored_block(f[name]) for name in ("unwritten", "empty", "null")] == [None, None, None]


def test_without_a_userblock_nothing_is_read() -> None:
    assert offset_shift(0, [], lambda *_: pytest.fail("read")) == 0
