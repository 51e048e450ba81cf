from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest


def virtual(path: Path, source: str, name: str = "data", shape: tuple[int, ...] = (500,)) -> None:
    layout = h5py.VirtualLayout(shape, "i4")
    layout[:] = h5py.VirtualSource(source, name, shape)
    with h5py.File(path, "a") as f:
        f.create_virtual_dataset("d", layout, fillvalue=-1)


def write(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    with h5py.File(path, "w") as f:
        f["data"] = np.arange(500, dtype="i4")


def test_virtual_of_the_same_file_and_of_one_beside_it(path: Path, generate: Callable) -> None:
    for source in (path, path.with_name("other.h5")):
        write(source)
        virtual(path, "." if source == path else "other.h5")
        made = generate()
        assert made["d"].tolist() == list(range(500))
        assert made.is_inline("d")
        assert "virtual" in made.converted()["/d"]
        path.unlink()


def test_a_missing_source_is_fill_value_as_hdf5_shows(path: Path, generate: Callable) -> None:
    virtual(path, "missing.h5")
    assert set(generate()["d"].tolist()) == {-1}


@pytest.mark.parametrize("absolute", [True, False])
def test_sources_outside_the_folder_are_refused(
    path: Path, generate: Callable, tmp_path: Path, absolute: bool
) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}_outside" / "o.h5"
    write(outside)
    virtual(path, str(outside) if absolute else f"../{outside.parent.name}/o.h5")
    assert "outside the folder" in generate().skipped()["/d"]
    assert generate(allow_external=True)["d"].tolist() == list(range(500))


def test_sources_that_lead_on_are_refused(path: Path, generate: Callable, tmp_path: Path) -> None:
    write(tmp_path / "real.h5")
    with h5py.File(tmp_path / "linked.h5", "w") as f:
        f["data"] = h5py.ExternalLink("/etc/hostname", "/x")
    virtual(tmp_path / "second.h5", "real.h5")
    virtual(path, "linked.h5")
    assert "link into another file" in generate().skipped()["/d"]
    path.unlink()
    virtual(path, "second.h5", "d")
    assert "elsewhere" in generate().skipped()["/d"]


def test_external_raw_files(path: Path, generate: Callable, tmp_path: Path) -> None:
    (tmp_path / "raw.bin").write_bytes(np.arange(500, dtype="<i4").tobytes())
    with h5py.File(path, "w") as f:
        f.create_dataset("d", (500,), "<i4", external=[("raw.bin", 0, 2000)])
        f.create_dataset("secret", (5,), "u1", external=[("/etc/hostname", 0, 5)])
        f.create_dataset("missing", (5,), "u1", external=[("nothing.bin", 0, 5)])
    made = generate()
    assert made["d"].tolist() == list(range(500))
    assert "outside the folder" in made.skipped()["/secret"]
    assert "not there" in made.skipped()["/missing"]
