"""Virtual datasets that are copied: which files h5py may open for them."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.verify import verify_rfs


def virtual(path: Path, source: str, name: str = "data", dtype: str = "i8") -> None:
    """A virtual dataset of another type than its source, so that it is copied."""
    layout = h5py.VirtualLayout((500,), dtype)
    layout[:] = h5py.VirtualSource(source, name, (500,))
    with h5py.File(path, "a") as f:
        f.create_virtual_dataset("d", layout, fillvalue=-1)


def write(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    with h5py.File(path, "w") as f:
        f["data"] = np.arange(500, dtype="i4")


@pytest.mark.parametrize("source", [".", "other.h5"])
def test_of_the_same_file_and_of_one_beside_it(path: Path, generate: Callable, source: str) -> None:
    write(path if source == "." else path.with_name(source))
    virtual(path, source)
    made = generate()
    assert made["d"].tolist() == list(range(500))
    assert made.is_inline("d")
    assert "virtual" in made.converted()["/d"]
    assert verify_rfs(made.rfs, mode="full").equal


def test_a_missing_source_is_fill_value_as_hdf5_shows(path: Path, generate: Callable) -> None:
    virtual(path, "missing.h5")
    assert set(generate()["d"].tolist()) == {-1}


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_sources_outside_the_folder_are_refused(
    path: Path, generate: Callable, tmp_path: Path, absolute: bool, dtype: str
) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}_outside" / "o.h5"
    write(outside)
    virtual(path, str(outside) if absolute else f"../{outside.parent.name}/o.h5", dtype=dtype)
    made = generate()
    assert "outside the folder" in made.skipped()["/d"]
    assert verify_rfs(made.rfs).equal
    allowed = generate(allow_external=True)
    assert allowed["d"].tolist() == list(range(500))
    assert [each.kind for each in verify_rfs(allowed.rfs).differences] == ["not to be judged"]
    assert verify_rfs(allowed.rfs, allow_external=True).equal


def test_sources_that_lead_on(path: Path, generate: Callable, tmp_path: Path) -> None:
    write(tmp_path / "real.h5")
    virtual(tmp_path / "second.h5", "real.h5")
    virtual(path, "second.h5", "d")
    made = generate()
    assert made["d"].tolist() == list(range(500))
    assert verify_rfs(made.rfs, mode="full").equal


@pytest.mark.parametrize("kind", ["link", "virtual", "raw"])
def test_sources_that_lead_on_to_where_nothing_may_be_read(
    path: Path, generate: Callable, tmp_path: Path, kind: str
) -> None:
    with h5py.File(tmp_path / "second.h5", "w") as f:
        if kind == "link":
            f["data"] = h5py.ExternalLink("/etc/hostname", "/x")
        if kind == "raw":
            f.create_dataset("data", (500,), "i4", external=[("/etc/hostname", 0, 2000)])
    if kind == "virtual":
        virtual(tmp_path / "second.h5", "/etc/hostname")
    virtual(path, "second.h5", "d" if kind == "virtual" else "data")
    made = generate()
    assert "outside the folder" in made.skipped()["/d"]
    assert verify_rfs(made.rfs).equal


def test_a_virtual_dataset_made_of_itself_ends(path: Path, generate: Callable) -> None:
    virtual(path, ".", "d")
    assert "inside one another" in generate().skipped()["/d"]


def test_a_source_in_the_working_folder_is_not_taken(
    path: Path, generate: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "work" / "other.h5")
    monkeypatch.chdir(tmp_path / "work")
    virtual(path, "other.h5")
    with h5py.File(path) as f:
        assert f["d"][7] == 7  # which depends on the working folder
    made = generate()
    assert set(made["d"].tolist()) == {-1}
    assert verify_rfs(made.rfs, mode="full").equal
    virtual(path.with_name("copied.h5"), path.name, "d", "i4")
    copied = generate_rfs(path.with_name("copied.h5"))
    assert "HDF5 would take another" in copied["skipped"][0]["reason"]


def test_references_of_another_file_are_refused(path: Path, generate: Callable, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as f:
        f["x"] = 1
        f.create_dataset("data", (1,), h5py.ref_dtype)[0] = f["x"].ref
    layout = h5py.VirtualLayout((1,), h5py.ref_dtype)
    layout[:] = h5py.VirtualSource("other.h5", "data", (1,), dtype=h5py.ref_dtype)
    with h5py.File(path, "w") as f:
        f.create_virtual_dataset("d", layout)
    assert "references" in generate().skipped()["/d"]
