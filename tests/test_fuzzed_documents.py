"""Documents that were changed at random: errors of the library and no others, in bounded time and memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import fuzzed_documents
import h5py
import numpy as np
import pytest

from shadowzarr import generate_rfs, write_rfs

GOLDEN = Path(__file__).parent / "golden" / "format-1"
ROUNDS = int(os.environ.get("FUZZED_DOCUMENTS", "300"))
SECONDS = 600 + 3 * ROUNDS
"""For all rounds; each has a bound of its own."""


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """References with much in their hdf5 section."""
    folder = tmp_path_factory.mktemp("described")
    with h5py.File(folder / "x.h5", "w") as file:
        file["text"] = ["short", "long" * 50, ""]
        numbers = file.create_dataset("numbers", (3,), h5py.vlen_dtype("<i4"))
        numbers[0] = [1, 2, 3]
        file.create_dataset("references", data=[file["text"].ref], dtype=h5py.ref_dtype)
        row = np.dtype([("n", "<i4"), ("t", h5py.string_dtype()), ("r", h5py.ref_dtype)])
        file.create_dataset("rows", data=np.array([(1, "one", file["text"].ref)], row))
        file.create_dataset(
            "chunked", data=np.arange(100.0), chunks=(10,), maxshape=(None,), compression="gzip"
        )
        file.create_dataset("fixed", data=np.array([b"ab"], "S5"))
        file["type"] = np.dtype("<i4")
        file["group/soft"], file["group/out"] = h5py.SoftLink("/text"), h5py.ExternalLink("y.h5", "/y")
    write_rfs(generate_rfs(folder / "x.h5"), folder / "x.json")
    return folder / "x.json"


def run(first: int, last: int, *more: Path) -> list[str]:
    command = [sys.executable, fuzzed_documents.__file__, str(GOLDEN), str(first), str(last), *map(str, more)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    *wrong, end = done.stdout.splitlines() or [""]
    assert end == "done", f"ended with {done.returncode} after {wrong} {end}\n{done.stderr[-2000:]}"
    return wrong


def test_changed_documents(described: Path) -> None:
    assert run(0, ROUNDS, described) == []


def test_valid_documents_have_no_errors_at_all(tmp_path: Path, described: Path) -> None:
    documents = [*fuzzed_documents.originals(GOLDEN), json.loads(described.read_text())]
    assert len(documents) >= 6
    for document in documents:
        assert fuzzed_documents.exercise(document, tmp_path, may_fail=False) == []


def test_many_changed_documents_are_still_read() -> None:
    documents = fuzzed_documents.originals(GOLDEN)
    loaded = [fuzzed_documents.loads(fuzzed_documents.changed(seed, documents)) for seed in range(200)]
    assert 40 < sum(loaded) < 160
