import os
from pathlib import Path
from typing import Any

import h5py
import pytest

from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.inline_budget import InlineBudget
from shadowzarr.formats.hdf5.reasons import CannotRepresentError


def test_what_fits_is_taken() -> None:
    budget = InlineBudget(100)
    budget.charge([b"x" * 40, b"x" * 20])
    assert (budget.used, budget.raw) == (60, 60)


def test_what_does_not_fit_is_refused_and_nothing_taken() -> None:
    budget = InlineBudget(100)
    budget.charge([b"x" * 60])
    with pytest.raises(CannotRepresentError, match="inline_limit"):
        budget.charge([b"x" * 41])
    assert budget.used == 60


def test_large_chunks_count_as_they_are_compressed() -> None:
    budget = InlineBudget(10_000)
    budget.charge([bytes(100_000)])
    assert budget.used < 1000
    with pytest.raises(CannotRepresentError):
        budget.charge([os.urandom(20_000)])


def test_values_that_would_fill_the_memory_are_not_even_read() -> None:
    with pytest.raises(CannotRepresentError):
        InlineBudget(1000).check(100_000)
    InlineBudget(1000).check(16_000)


@pytest.mark.parametrize(("dtype", "least"), [("S100", 40_000), (h5py.string_dtype(), 1600)])
def test_text_counts_in_bytes(path: Path, dtype: Any, least: int) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("d", (400,), dtype, chunks=(100,))[...] = b"x"
    (entry,) = generate_rfs(path, inline_limit=50)["skipped"]
    assert f"at least {least:,} bytes" in entry["reason"]
