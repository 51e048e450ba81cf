"""Chunks that decode to less or more than a chunk: HDF5 shows what was in memory, and raises nothing.

Every kind of value, behind every filter that HDF5 brings, held in the document and referred to. What comes
out is left out by name or cannot be read; the verifier finds the same without the generator.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5d, h5f, h5p, h5s, h5t, h5z

from shadowzarr.formats.hdf5 import dataset_values, generate, in_place
from shadowzarr.formats.hdf5.opened_object import OpenedDataset
from shadowzarr.formats.hdf5.whole_chunks import chunk_bytes
from shadowzarr.verify.hdf5.whole_chunks import stored_itemsize
from shadowzarr.verify.judge import verify_rfs
from shadowzarr.verify.report import VerificationReport

EDGE = 16
SMALL, LARGE = 2 * EDGE, 64 * EDGE


def narrow_integers() -> h5t.TypeID:
    tid = h5t.STD_I32LE.copy()
    tid.set_precision(17)
    return tid


def padded_compound() -> h5t.TypeID:
    tid = h5t.create(h5t.COMPOUND, 16)
    tid.insert(b"a", 0, h5t.STD_I16LE)
    tid.insert(b"b", 8, h5t.IEEE_F32LE)
    return tid


def wide_booleans() -> h5t.TypeID:
    tid = h5t.enum_create(h5t.STD_I32LE)
    tid.enum_insert(b"FALSE", 0)
    tid.enum_insert(b"TRUE", 1)
    return tid


def of_numpy(dtype: Any) -> Callable[[], h5t.TypeID]:
    return lambda: h5t.py_create(np.dtype(dtype), logical=True)


TYPES: dict[str, Callable[[], h5t.TypeID]] = {
    "int": of_numpy("<i4"),
    "17 bits": narrow_integers,
    "padded": padded_compound,
    "wide bool": wide_booleans,
    "S8": of_numpy("S8"),
    "half": of_numpy("<f2"),
    "array": of_numpy(("<i2", (3,))),
    "text": of_numpy(h5py.string_dtype()),
    "sequences": of_numpy(h5py.vlen_dtype("<i2")),
    "table": of_numpy([("n", "<i4"), ("t", h5py.string_dtype())]),
    "references": of_numpy(h5py.ref_dtype),
}
HELD_ALWAYS = {"17 bits", "padded", "wide bool", "S8", "text", "sequences", "table", "references"}


def szip(properties: h5p.PropDCID) -> None:
    properties.set_szip(h5z.SZIP_NN_OPTION_MASK, 8)


def nbit(properties: h5p.PropDCID) -> None:
    properties.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL)


def shuffled_gzip(properties: h5p.PropDCID) -> None:
    properties.set_shuffle()
    properties.set_deflate(4)


FILTERS: dict[str, Callable[[h5p.PropDCID], None]] = {
    "gzip": lambda properties: properties.set_deflate(4),
    "shuffle+gzip": shuffled_gzip,
    "shuffle": lambda properties: properties.set_shuffle(),
    "fletcher32": lambda properties: properties.set_fletcher32(),
    "lzf": lambda properties: properties.set_filter(h5z.FILTER_LZF, h5z.FLAG_OPTIONAL),
    "szip": szip,
    "nbit": nbit,
    "scale-offset": lambda properties: properties.set_scaleoffset(h5z.SO_INT, 0),
}
CANNOT = {  # by set_local or can_apply of the filters
    "fletcher32": {"text", "sequences"},
    "szip": {"padded", "array", "text", "sequences", "table", "references", "S8", "wide bool"},
    "nbit": {"text", "sequences", "table", "references", "wide bool"},
    "scale-offset": {
        "padded",
        "wide bool",
        "S8",
        "half",
        "array",
        "text",
        "sequences",
        "table",
        "references",
    },
}
SIZED = {"nbit": {"17 bits"}, "scale-offset": {"int", "17 bits"}}
"""Filters that know how much they have to make, and do not look at what comes after it."""

PAYLOADS = ("short", "long", "cut", "marked")
"""Fewer elements, more elements, half of the stored bytes, and filters skipped with too few bytes."""


def create(file: h5py.File, name: str, kind: str, filters: str, elements: int, edge: int) -> h5d.DatasetID:
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk((edge,))
    FILTERS[filters](properties)
    tid = TYPES[kind]()
    dataset = h5d.create(file.id, name.encode(), tid, h5s.create_simple((elements,)), properties)
    if kind in ("text", "sequences", "table", "references"):
        written = h5py.Dataset(dataset)
        written[...] = heap_values(file, kind, elements)
    else:
        raw = np.zeros(elements * tid.get_size(), np.uint8)
        raw[:: tid.get_size()] = np.arange(elements) % (2 if kind == "wide bool" else 128)
        dataset.write(h5s.ALL, h5s.ALL, raw.view(f"V{tid.get_size()}"), tid)
    return dataset


def heap_values(file: h5py.File, kind: str, elements: int) -> Any:
    values = np.empty(elements, object)
    match kind:
        case "text":
            values[:] = [f"text {n}" for n in range(elements)]
        case "sequences":
            values[:] = [np.arange(n % 3, dtype="<i2") for n in range(elements)]
        case "table":
            return np.array([(n, f"text {n}") for n in range(elements)], TYPES[kind]().dtype)
        case "references":
            values[:] = [file.ref] * elements
    return values


def payload(path: Path, kind: str, filters: str, how: str) -> tuple[bytes, int]:
    """Stored bytes of a chunk that is not whole, made by HDF5, and a filter mask."""
    edge = {"short": EDGE // 2, "long": 2 * EDGE, "cut": EDGE, "marked": EDGE}[how]
    with h5py.File(path.with_suffix(".other.h5"), "w") as file:
        dataset = create(file, "d", kind, filters, edge, edge)
        file.flush()
        mask, stored = dataset.read_direct_chunk((0,))
    half = bytes(stored[: max(1, len(stored) // 2)])
    if how == "marked":
        return half, 2**32 - 1
    return half if how == "cut" else bytes(stored), mask


def make(path: Path, filters: str, how: str | None) -> list[str]:
    """A file with a dataset of each kind, few and many values; the second chunk of each is not whole."""
    kinds = [kind for kind in TYPES if kind not in CANNOT.get(filters, ())]
    names = {f"{kind} {elements}": (kind, elements) for kind in kinds for elements in (SMALL, LARGE)}
    with h5py.File(path, "w") as file:
        for name, (kind, elements) in names.items():
            create(file, name, kind, filters, elements, EDGE)
    if how is not None:
        wrong = {kind: payload(path, kind, filters, how) for kind in kinds}
        with h5py.File(path, "r+") as file:
            for name, (kind, _) in names.items():
                file[name].id.write_direct_chunk((EDGE,), *wrong[kind])
    return sorted(f"/{name}" for name in names)


def kind_of(name: str) -> str:
    return name.strip("/").rpartition(" ")[0]


def is_held(name: str) -> bool:
    return kind_of(name) in HELD_ALWAYS or name.endswith(f" {SMALL}")


def differences(report: VerificationReport) -> dict[str, str]:
    return {each.path: f"{each.kind}: {each.original} | {each.references}" for each in report.differences}


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("how", PAYLOADS)
def test_never_equal(path: Path, filters: str, how: str) -> None:
    names = make(path, filters, how)
    rfs = generate.generate_rfs(path)
    skipped = {entry["path"]: entry["reason"] for entry in rfs.get("skipped", [])}
    report = verify_rfs(rfs, path, mode="full")
    found = skipped | differences(report)
    if how == "long":
        names = [name for name in names if kind_of(name) not in SIZED.get(filters, ())]
    assert sorted(found) == names
    assert all("chunk (1,)" in why for why in found.values())
    assert {name for name in names if is_held(name) or how == "marked"} <= set(skipped)
    assert sorted(each.path for each in report.left_out) == sorted(skipped)


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("how", PAYLOADS)
def test_the_verifier_sees_it_alone(path: Path, filters: str, how: str) -> None:
    """References for a file that is whole, compared with a copy of which a chunk is not."""
    names = make(path, filters, None)
    rfs = generate.generate_rfs(path)
    assert verify_rfs(rfs, path, mode="full").equal
    other = path.with_suffix(".damaged.h5")
    make(other, filters, how)
    found = differences(verify_rfs(rfs, other, mode="full"))
    if how == "long":  # the first half of a chunk of twice the length is a whole chunk, and another one
        whole = [name for name in names if kind_of(name) in SIZED.get(filters, ())]
        assert not any(found.pop(name, "").startswith("unreadable") for name in whole)
        names = [name for name in names if name not in whole]
    assert sorted(found) == names
    assert all(why.startswith("unreadable original: its chunk (1,)") for why in found.values())


@pytest.mark.parametrize("kind", ["int", "17 bits", "half"])
@pytest.mark.parametrize("how", ["short", "long"])
def test_the_verifier_does_not_rely_on_the_generator(
    path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, how: str
) -> None:
    with h5py.File(path, "w") as file:
        create(file, "d", kind, "gzip", SMALL, EDGE)
        file["d"].id.write_direct_chunk((EDGE,), *payload(path, kind, "gzip", how))
    for module in (in_place, dataset_values):
        monkeypatch.setattr(module, "check_whole", lambda *_, **__: None)
    rfs = generate.generate_rfs(path)
    assert "skipped" not in rfs or not rfs["skipped"]
    report = verify_rfs(rfs, path, mode="full")
    assert [(each.path, each.kind) for each in report.differences] == [("/d", "unreadable original")]


@pytest.mark.parametrize("sizes", [(8, 8), (4, 4), (4, 8)])
@pytest.mark.parametrize("kind", TYPES)
def test_the_bytes_of_a_chunk(path: Path, kind: str, sizes: tuple[int, int]) -> None:
    creation = h5p.create(h5p.FILE_CREATE)
    creation.set_sizes(*sizes)
    made = h5f.create(str(path).encode(), h5f.ACC_TRUNC, creation)
    with h5py.File(made) as file:
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_chunk((EDGE,))
        properties.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        dataset = h5py.Dataset(
            h5d.create(file.id, b"d", TYPES[kind](), h5s.create_simple((EDGE,)), properties)
        )
        stored = dataset.id.get_storage_size()
        assert chunk_bytes(OpenedDataset(dataset.id)) == EDGE * stored_itemsize(dataset) == stored
