"""Fill values that are a NaN with a payload: shown, hidden, in compounds, copies and virtual datasets."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import zarr
from h5py import h5d, h5p, h5s, h5t

from shadowzarr.formats.hdf5.fill_values import bits_that_zarr_loses, json_fill
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.store.open_rfs import open_rfs
from shadowzarr.verify import mappings
from shadowzarr.verify.judge import verify_rfs

BITS = {
    2: (0x7E00, 0xFE00, 0x7E01, 0x7C01, 0xFC01, 0x7FFF),
    4: (0x7FC00000, 0xFFC00000, 0x7FC00001, 0x7F800001, 0xFF800001, 0x7FFFFFFF),
    8: (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0x7FF0000000000001, 0xFFF0000000000001),
}
CASES = [(size, bits, order) for size, each in BITS.items() for bits in each for order in "<>"]


def number(size: int, bits: int, order: str) -> np.ndarray:
    return np.array(bits, f"{order}u{size}").view(f"{order}f{size}")


def values_of(fill: np.ndarray) -> dict[str, np.ndarray]:
    """The number alone, as parts of a complex number, and in compounds."""
    order, size = (fill.dtype.str[0], fill.dtype.itemsize)
    row = np.dtype([("n", f"{order}i2"), ("x", fill.dtype)])
    wide = np.dtype([("a", fill.dtype, (2,)), ("n", f"{order}i4")])
    raw = fill.tobytes()
    found = {
        "float": fill,
        "struct": np.frombuffer(np.array(5, f"{order}i2").tobytes() + raw, row).reshape(()),
        "array": np.frombuffer(raw * 2 + np.array(6, f"{order}i4").tobytes(), wide).reshape(()),
    }
    if size > 2:
        found["complex"] = np.frombuffer(raw * 2, f"{order}c{2 * size}").reshape(())
    return found


def create(
    file: h5py.File, name: str, fill: np.ndarray, shape: tuple[int, ...], **options: Any
) -> h5py.Dataset:
    """A dataset with this fill value, of which HDF5 is given the bits."""
    properties = h5p.create(h5p.DATASET_CREATE)
    if "chunks" in options:
        properties.set_chunk(options["chunks"])
    if options.get("gzip"):
        properties.set_deflate(4)
    properties.set_fill_value(fill)
    tid = options.get("tid") or h5t.py_create(fill.dtype, logical=True)
    return h5py.Dataset(h5d.create(file.id, name.encode(), tid, h5s.create_simple(shape), properties))


def check(path: Path) -> Any:
    rfs = generate_rfs(path)
    assert rfs.get("skipped", []) == []
    for mode in ("sample", "full"):
        report = verify_rfs(rfs, path, mode=mode)
        assert report.differences == []
    root = open_rfs(rfs)
    with h5py.File(path) as file:
        for name in file:
            if not name.startswith(("array", "struct")):  # numpy does not convert those field by field
                assert root[name][...].astype(file[name].dtype).tobytes() == file[name][...].tobytes(), name
    return rfs, report


@pytest.mark.parametrize(("size", "bits", "order"), CASES)
def test_where_nothing_was_written(path: Path, size: int, bits: int, order: str) -> None:
    with h5py.File(path, "w") as file:
        for name, fill in values_of(number(size, bits, order)).items():
            for gzip in (False, True):
                made = create(file, f"{name} {gzip}", fill, (25, 8), chunks=(10, 4), gzip=gzip)
                made[:10, :4] = np.zeros((), fill.dtype)
            create(file, f"{name} contiguous", fill, (25, 8))
    rfs, _ = check(path)
    stated = json.loads(rfs["refs"]["float False/zarr.json"])["fill_value"]
    assert stated == ("NaN" if bits in (0x7E00, 0x7FC00000, 0x7FF8000000000000) else f"0x{bits:0{2 * size}x}")


@pytest.mark.parametrize(("size", "bits", "order"), CASES)
def test_zarr_loses_what_is_said_to_be_lost(size: int, bits: int, order: str) -> None:
    """When this fails, zarr keeps more than before, and chunks are held for nothing."""
    for fill in values_of(number(size, bits, order)).values():
        if fill.dtype.names is None:
            name = fill.dtype.newbyteorder("=").name
            shown = zarr.dtype.parse_dtype(name, zarr_format=3).from_json_scalar(
                json_fill(fill), zarr_format=3
            )
            kept = np.asarray(shown).tobytes() == fill.astype(fill.dtype.newbyteorder("=")).tobytes()
            assert kept == (bits_that_zarr_loses(fill) is None)


def test_a_fill_value_that_nothing_shows_costs_nothing(path: Path) -> None:
    with h5py.File(path, "w") as file:
        create(file, "d", number(2, 0x7E01, "<"), (4000,), chunks=(1000,))[...] = np.arange(4000)
        create(file, "c", number(4, 0x7F800001, "<"), (4000,))[...] = np.arange(4000)
    rfs, report = check(path)
    assert all(isinstance(value, list) for key, value in rfs["refs"].items() if "/c/" in key)
    assert report.mappings[mappings.FILL_PAYLOAD] == 2


def test_copies_and_tables(path: Path) -> None:
    """Values that h5py reads: padded compounds, and compounds with text."""
    fill = number(4, 0x7F800001, "<")
    padded = np.zeros((), {"names": ["a", "x"], "formats": ["<i2", "<f4"], "offsets": [0, 8], "itemsize": 16})
    padded["x"] = fill
    text = h5py.string_dtype()
    with h5py.File(path, "w") as file:
        create(file, "padded", padded, (30,), chunks=(10,))[:10] = padded
        table = file.create_dataset("table", (30,), [("x", "<f4"), ("t", text)], chunks=(10,))
        table[:10] = np.array((1, "a"), table.dtype)
    rfs = generate_rfs(path)
    report = verify_rfs(rfs, path, mode="full")
    assert (rfs.get("skipped", []), report.differences) == ([], [])
    assert open_rfs(rfs)["padded"][20:]["x"].tobytes() == fill.tobytes() * 10


def test_a_virtual_dataset_shows_its_own(path: Path) -> None:
    fill = number(2, 0x7E01, "<")
    with h5py.File(path, "w") as file:
        create(file, "s", fill, (40,), chunks=(10,))[:10] = 1
        layout = h5py.VirtualLayout((60,), "<f2")
        layout[:40] = h5py.VirtualSource(".", "s", (40,), "<f2")
        file.create_virtual_dataset("v", layout, fillvalue=fill[()])
        other = h5py.VirtualLayout((60,), "<f2")
        other[:40] = h5py.VirtualSource(".", "s", (40,), "<f2")
        file.create_virtual_dataset("w", other, fillvalue=3)
    check(path)


@pytest.mark.parametrize("options", [{}, {"chunks": (64,)}])
def test_too_many_are_left_out_by_name(path: Path, options: dict[str, Any]) -> None:
    with h5py.File(path, "w") as file:
        create(file, "d", number(2, 0x7E01, "<"), (2**50,), **options)
        create(file, "kept", number(4, 0x7FC00001, "<"), (2**50,), **options)
    rfs = generate_rfs(path)
    (entry,) = rfs["skipped"]
    assert entry["path"] == "/d"
    assert "inline_limit" in entry["reason"] or "NaN that zarr does not keep" in entry["reason"]


def test_the_verifier_misses_a_chunk_that_should_show_it(path: Path) -> None:
    with h5py.File(path, "w") as file:
        create(file, "d", number(2, 0x7E01, "<"), (4000,), chunks=(1000,))[:10] = 1
    rfs = generate_rfs(path)
    del rfs["refs"]["d/c/2"]
    report = verify_rfs(rfs, path, mode="full")
    assert [(each.path, each.kind) for each in report.differences] == [("/d", "values")]


def test_the_verifier_reads_the_json(path: Path) -> None:
    with h5py.File(path, "w") as file:
        create(file, "d", number(2, 0x7E01, "<"), (10,), chunks=(10,))[...] = 1
    rfs = generate_rfs(path)
    rfs["refs"]["d/zarr.json"] = rfs["refs"]["d/zarr.json"].replace("0x7e01", "0x7e02")
    report = verify_rfs(rfs, path, mode="full")
    assert [(each.path, each.kind) for each in report.differences] == [("/d", "fill value")]
