"""Datasets in external raw files refer to those files, which are never taken from elsewhere."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from shadowzarr.verify import verify_rfs

DATA = np.arange(2400, dtype="<i4").reshape(40, 60)


def external(path: Path, name: str, *pieces: tuple, shape: tuple = DATA.shape, dtype: Any = "<i4") -> None:
    with h5py.File(path, "a") as f:
        f.create_dataset(name, shape, dtype, external=list(pieces))


def raw(path: Path, name: str, data: np.ndarray, before: int = 0) -> None:
    path.with_name(name).write_bytes(b"\xee" * before + data.tobytes())


def urls(made: Any, path: str) -> list[str]:
    names = made.rfs["templates"]
    return [names[value[0].strip("{}")] for value in made.chunks(path).values()]


def test_one_piece(path: Path, generate: Callable) -> None:
    raw(path, "a.raw", DATA, before=100)
    external(path, "d", ("a.raw", 100, h5py.h5f.UNLIMITED))
    made = generate()
    assert made["d"].tolist() == DATA.tolist()
    assert made.chunks("d") == {"0/0": [made.chunks("d")["0/0"][0], 100, DATA.nbytes]}
    assert urls(made, "d") == [str(path.with_name("a.raw"))]
    assert made.rfs["sources"][str(path.with_name("a.raw"))] == {"size": 100 + DATA.nbytes, "linked": True}
    assert verify_rfs(made.rfs, mode="full").equal


def test_a_large_piece_is_cut(path: Path, generate: Callable) -> None:
    raw(path, "a.raw", DATA, before=4)
    external(path, "d", ("a.raw", 4, DATA.nbytes))
    made = generate(contiguous_chunk_bytes=2400)
    assert made.root["d"].chunks == (10, 60)
    assert made.rfs["gen"][0]["offset"] == "{{4 + i * 2400}}"
    assert made["d"].tolist() == DATA.tolist()
    assert verify_rfs(made.rfs, mode="full").equal


@pytest.mark.parametrize(
    ("cuts", "chunks"), [((10, 30), (10, 60)), ((8, 30), (2, 60)), ((1, 2), (1, 60)), ((0.5, 30), (1, 30))]
)
def test_several_pieces(path: Path, generate: Callable, cuts: tuple, chunks: tuple) -> None:
    ends = [int(cut * 60) for cut in cuts]
    parts = np.split(DATA.reshape(-1), ends)
    pieces = []
    for number, part in enumerate(parts):
        raw(path, f"{number}.raw", part, before=number)
        pieces.append((f"{number}.raw", number, part.nbytes))
    external(path, "d", *pieces)
    made = generate()
    assert made["d"].tolist() == DATA.tolist()
    assert made.root["d"].chunks == chunks
    assert set(urls(made, "d")) == {str(path.with_name(f"{number}.raw")) for number in range(3)}
    assert verify_rfs(made.rfs, mode="full").equal


def test_pieces_that_end_inside_an_element_are_copied(path: Path, generate: Callable) -> None:
    path.with_name("a.raw").write_bytes(DATA.tobytes()[:101])
    path.with_name("b.raw").write_bytes(DATA.tobytes()[101:])
    external(path, "d", ("a.raw", 0, 101), ("b.raw", 0, DATA.nbytes - 101))
    made = generate()
    assert made["d"].tolist() == DATA.tolist()
    assert made.is_inline("d")
    assert "external raw files" in made.converted()["/d"]
    assert verify_rfs(made.rfs, mode="full").equal


def test_a_raw_file_that_is_too_short_is_copied_as_hdf5_shows_it(path: Path, generate: Callable) -> None:
    raw(path, "a.raw", DATA[:30])
    external(path, "d", ("a.raw", 0, DATA.nbytes))
    made = generate()
    assert made["d"][:30].tolist() == DATA[:30].tolist()
    assert not made["d"][30:].any()
    assert made.is_inline("d")
    assert verify_rfs(made.rfs, mode="full").equal


def test_few_values_are_held(path: Path, generate: Callable) -> None:
    raw(path, "a.raw", np.arange(5, dtype=">f8"), before=3)
    external(path, "d", ("a.raw", 3, 40), shape=(5,), dtype=">f8")
    made = generate()
    assert made["d"].tolist() == [0, 1, 2, 3, 4]
    assert made.is_inline("d")
    assert verify_rfs(made.rfs, mode="full").equal


def test_what_must_not_or_cannot_be_read(
    path: Path, generate: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "here.raw").write_bytes(b"x" * 100)
    monkeypatch.chdir(work)
    for name, file in (("secret", "/etc/hostname"), ("missing", "here.raw"), ("up", "../../up.raw")):
        external(path, name, (file, 0, 2), shape=(2,), dtype="u1")
    (tmp_path.parent / "up.raw").write_bytes(b"x" * 5)
    (path.parent / "sub").mkdir()
    made = generate()
    assert "outside the folder" in made.skipped()["/secret"]
    assert "not there" in made.skipped()["/missing"]
    assert list(made.rfs["sources"]) == [str(path)]
    assert verify_rfs(made.rfs, mode="full").equal
    allowed = generate(allow_external=True)
    assert allowed["secret"].tobytes() == Path("/etc/hostname").read_bytes()[:2]


def test_axes_of_copied_values_have_names(path: Path, generate: Callable) -> None:
    raw(path, "a.raw", DATA[:30])
    external(path, "d", ("a.raw", 0, DATA.nbytes))
    with h5py.File(path, "a") as f:
        f["time"] = np.arange(40)
        f["time"].make_scale()
        f["d"].dims[0].attach_scale(f["time"])
    made = generate()
    assert made.is_inline("d")
    assert made.metadata("d")["dimension_names"] == ["time", None]
    assert verify_rfs(made.rfs, mode="full").equal


def test_text_in_raw_files_is_copied(path: Path, generate: Callable) -> None:
    path.with_name("a.raw").write_bytes(b"ab\0cde")
    external(path, "d", ("a.raw", 0, 6), shape=(2,), dtype="S3")
    made = generate()
    assert made["d"].tolist() == ["ab", "cde"]
    assert verify_rfs(made.rfs, mode="full").equal
