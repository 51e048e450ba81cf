"""Damaged and hostile files: an error of ours, something left out by name, or h5py's values.

Each runs in a child process with bounded memory and time. HDF5 itself crashes on some; then the child dies,
which only counts as right when h5py alone dies of the file too. What makes one of the command's processes die
is the subject of ``tests/cli/test_supervised``.
"""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import damaged_child
import h5py
import numpy as np
import pytest
from damaged_reading import Child, check
from damages import KINDS, damaged
from h5py import h5d, h5p, h5s, h5t

ROUNDS = int(os.environ.get("HDF5_DAMAGES", "12"))


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    made = Child()
    yield made
    made.close()


BAD = (
    "3790_infinite_loop.h5",
    "bad_compound.h5",
    "bad_offset.h5",
    "blosc.h5",
    "corrupt_stab_msg.h5",
    "cve_2020_10812.h5",
    "example_1.nc",
    "h5repack_CVE-2018-17432.h5",
    "h5repack_attr_refs.h5",
    "notahdf5file.h5",
    "struct.mat",
    "tbogus.h5",
    "th5s.h5",
)


@pytest.mark.parametrize("name", BAD)
def test_every_bad_file(child: Child, shared: Path, name: str) -> None:
    found = check(child, shared / "corpus" / "bad" / name)
    assert not {"crash", "hangs"} & set(found), found


def chunked(
    file: h5py.File, name: str, maxshape: tuple | None, *, early: bool = False, gzip: bool = True
) -> None:
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk((2, 4))
    if early:
        properties.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    if gzip:
        properties.set_deflate(4)
    limits = tuple(h5s.UNLIMITED if extent is None else extent for extent in maxshape or (8, 12))
    made = h5d.create(file.id, name.encode(), h5t.STD_I16LE, h5s.create_simple((8, 12), limits), properties)
    made.write(h5s.ALL, h5s.ALL, np.arange(96, dtype="<i2").reshape(8, 12))


def indexes(file: h5py.File) -> None:
    """Every kind of chunk index, by the format of the file."""
    chunked(file, "fixed", None)
    chunked(file, "implicit", None, early=True, gzip=False)
    chunked(file, "extensible", (8, None))
    chunked(file, "tree", (None, None))
    file.create_dataset("single", data=np.arange(20, dtype="<i4"), chunks=(20,), compression="gzip")
    file["contiguous"] = np.arange(300, dtype="<i8")


def groups(file: h5py.File) -> None:
    """Groups with few and with many links, links of every kind, attributes in both storages."""
    for number in range(30):
        file[f"many/object {number}"] = np.arange(number, dtype="<i2")
    file["many"].attrs.update({f"attribute {number}": [number] * 3 for number in range(20)})
    file["soft"] = h5py.SoftLink("/many")
    file["external"] = h5py.ExternalLink("other.h5", "/x")
    file["many/loop"] = file["/"]


def heaps(file: h5py.File) -> None:
    """Text, sequences, references, compounds with such fields, in datasets and attributes."""
    file["text"] = ["short", "long" * 50, ""]
    numbers = file.create_dataset("numbers", (3,), h5py.vlen_dtype("<i4"))
    numbers[0], numbers[2] = [1, 2, 3], [4] * 20
    file.create_dataset("references", data=[file["text"].ref, file["numbers"].ref], dtype=h5py.ref_dtype)
    row = np.dtype([("n", "<i4"), ("t", h5py.string_dtype()), ("r", h5py.ref_dtype)])
    rows = np.array([(1, "one", file["text"].ref), (2, "two", file["numbers"].ref)], row)
    file.create_dataset("rows", data=rows)
    file.attrs["text"] = ["a", "b" * 100]
    file.attrs["to"] = file["text"].ref
    file.attrs["array"] = np.arange(6.0).reshape(2, 3)


SUBJECTS: dict[str, Callable[[h5py.File], None]] = {"indexes": indexes, "groups": groups, "heaps": heaps}
CASES = [(subject, libver) for subject in SUBJECTS for libver in ("earliest", "latest")]


def intact(folder: Path, subject: str, libver: str) -> bytes:
    path = folder / "intact.h5"
    with h5py.File(path, "w", libver=libver) as file:
        SUBJECTS[subject](file)
    return path.read_bytes()


@pytest.mark.parametrize(("subject", "libver"), CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_random_damage(child: Child, tmp_path: Path, subject: str, libver: str, kind: str) -> None:
    data = intact(tmp_path, subject, libver)
    source = random.Random(f"{subject} {libver} {kind}")
    for number in range(ROUNDS):
        path = tmp_path / f"{kind} {number}.h5"
        path.write_bytes(damaged(data, kind, source))
        check(child, path)


def test_intact_files_are_compared(child: Child, tmp_path: Path) -> None:
    for subject, libver in CASES:
        path = tmp_path / f"{subject} {libver}.h5"
        path.write_bytes(intact(tmp_path, subject, libver))
        assert "error" not in check(child, path)


def test_the_comparison_sees_a_wrong_value(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    path.write_bytes(intact(tmp_path, "indexes", "latest"))
    rfs = damaged_child.generate_rfs(path)
    root = {"fixed": np.zeros((8, 12), "<i2"), "tree": np.arange(96, dtype="<i2").reshape(8, 12)}
    wrong = damaged_child.compare(path, rfs, root)
    assert [each.partition(":")[0] for each in wrong] == ["fixed"]


@pytest.mark.parametrize("shape", [(2**40,), (2**31, 2**31), (2**62,)])
def test_a_hostile_size_costs_no_memory(child: Child, tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = tmp_path / "huge.h5"
    with h5py.File(path, "w", libver="latest") as file:
        limits = (None,) * len(shape)
        for name, dtype in (("numbers", "<f8"), ("text", h5py.string_dtype()), ("long", np.longdouble)):
            file.create_dataset(name, shape, dtype, chunks=(64,) * len(shape), maxshape=limits)
    assert "skipped" in check(child, path)


@pytest.mark.parametrize("nbytes", [1, 2, 3])
@pytest.mark.parametrize("filters", ["fletcher32", "gzip and fletcher32"])
def test_a_chunk_shorter_than_its_checksum(child: Child, tmp_path: Path, filters: str, nbytes: int) -> None:
    """HDF5 2.0 brings the process down that reads it."""
    path = tmp_path / "x.h5"
    options = {"chunks": (4,), "fletcher32": True, "compression": "gzip" if "gzip" in filters else None}
    with h5py.File(path, "w") as file:
        file.create_dataset("numbers", (8,), "<i4", **options)
        file.create_dataset("padded", (8,), h5py.string_dtype(length=6), **options)
        row = np.dtype([("n", "<i4"), ("x", "<f8")])
        file.create_dataset("rows", (8,), row, **options)
        file.create_dataset("wide", (8,), np.longdouble, **options)
        for dataset in file.values():
            dataset.id.write_direct_chunk((0,), bytes(nbytes))
        names = {f"/{name}" for name in file}
    assert "crash" in child.ask(f"h5py {path}")
    found = check(child, path)
    assert found["skipped"] == len(names)
    left_out = damaged_child.generate_rfs(path)["skipped"]
    assert {each["path"] for each in left_out} == names
    assert all(f"stored in {nbytes} bytes, its checksum alone has 4" in each["reason"] for each in left_out)
