"""Random chains of operations read as numpy's do; what is refused is what the rules refuse.

``VIRTUAL_EXAMPLES`` is the number of chains in all, and ``VIRTUAL_SEED`` chooses them.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from random_virtual import Case, Files, chain

from shadowzarr import RfsBuilder, load_rfs, open_rfs, write_rfs
from shadowzarr.virtual import strided

EXAMPLES = int(os.environ.get("VIRTUAL_EXAMPLES", "400"))
SEED = int(os.environ.get("VIRTUAL_SEED", "0"))
SLABS = (4 * 2**20, 64, 8)
"""Bytes of a slab: as it is, and so few that small arrays are cut."""


@pytest.mark.parametrize("slab", SLABS)
def test_chains_read_as_numpy_does(slab: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strided, "CONTIGUOUS_CHUNK_BYTES", slab)
    strided.usual_chunk_shape.cache_clear()

    @seed(SEED * len(SLABS) + SLABS.index(slab))
    @settings(
        max_examples=EXAMPLES // len(SLABS),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        folder = tmp_path / "files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        check_reading(
            chain(data.draw, Files(folder)), folder, data.draw(st.sampled_from(["", "", "json", "dir"]))
        )

    check()
    strided.usual_chunk_shape.cache_clear()


def check_reading(case: Case, folder: Path, form: str) -> None:
    assert case.array.shape == case.values.shape
    builder = RfsBuilder()
    case.array.add_to(builder, "a")
    rfs = builder.build()
    if form:
        path = folder / f"{next(Files.numbers)}{'.json' if form == 'json' else ''}"
        write_rfs(rfs, path)
        rfs = load_rfs(path)
    found = open_rfs(rfs)["a"]
    assert found.shape == case.values.shape
    assert found.chunks == case.array.chunk_shape
    values = np.asarray(found[...])
    native = case.values.dtype.newbyteorder("=")
    assert values.dtype == native == case.array.dtype.newbyteorder("=")
    assert values.tobytes() == case.values.astype(native).tobytes(), (case.array, values, case.values)
