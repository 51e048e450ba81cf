"""Each filter on its own and files full of them: what the references hold, and that it is h5py's values."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.h5_filters_to_codecs import HOW
from shadowzarr.hdf5_filters.names import filter_name
from shadowzarr.verify import verify_rfs

ROWS = {row.filter: row for row in HOW}


def options_of(number: int) -> dict[str, Any]:
    """What h5py is told to write with a filter; skips for plug-ins that are not here or need images."""
    built_in: dict[int, dict[str, Any]] = {
        1: {"compression": "gzip"},
        2: {"shuffle": True},
        3: {"fletcher32": True},
        4: {"compression": "szip"},
        6: {"scaleoffset": 0},
        32000: {"compression": "lzf"},
    }
    if number in built_in:
        return built_in[number]
    hdf5plugin = pytest.importorskip("hdf5plugin")
    plug_in = {
        307: hdf5plugin.BZip2,
        32001: hdf5plugin.Blosc,
        32004: hdf5plugin.LZ4,
        32008: hdf5plugin.Bitshuffle,
        32015: hdf5plugin.Zstd,
        32026: hdf5plugin.Blosc2,
        32013: lambda: hdf5plugin.Zfp(reversible=True),
        32017: lambda: hdf5plugin.SZ(absolute=0.1),
        32024: lambda: hdf5plugin.SZ3(absolute=0.1),
        32028: lambda: hdf5plugin.Sperr(rate=16),
        32018: hdf5plugin.FciDecomp,
    }[number]
    return {"compression": plug_in()}


@pytest.mark.parametrize("number", [number for number in ROWS if number != 5], ids=filter_name)
@pytest.mark.parametrize("order", ["<", ">"])
def test_a_row_of_the_table(path: Path, generate: Callable, number: int, order: str) -> None:
    values = np.cumsum(np.random.default_rng(1).integers(-3, 4, (200, 90)), 0) + 500
    base = {32013: "f4", 32017: "f4", 32024: "f4", 32028: "f4", 32018: "u2"}.get(number, "i4")
    with h5py.File(path, "w") as f:
        try:
            f.create_dataset("d", data=values.astype(order + base), chunks=(64, 32), **options_of(number))
        except (ValueError, OSError):
            assert order == ">"
            pytest.skip("the plug-in does not write numbers of another byte order")
    made = generate()
    assert made.codecs("d")[1:] == [ROWS[number].codec]
    assert not made.is_inline("d")
    with h5py.File(path) as f:
        assert made["d"].tobytes() == f["d"][...].astype(base).tobytes()


def test_n_bit(path: Path, generate: Callable) -> None:
    """Numbers that have no bits to spare go through it unchanged; fields that do are packed."""
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk((100,))
    dcpl.set_filter(5, h5py.h5z.FLAG_OPTIONAL, ())
    dcpl.set_deflate(4)
    record = np.dtype({"names": ["a", "b"], "formats": ["<i2", "<f8"], "offsets": [0, 8], "itemsize": 16})
    values = np.zeros(450, record)
    values["a"], values["b"] = np.arange(450), np.arange(450) / 3
    with h5py.File(path, "w") as f:
        for name, data in {"idle": np.arange(450, dtype=">i4"), "packed": values}.items():
            tid = h5py.h5t.py_create(data.dtype)
            made = h5py.h5d.create(f.id, name.encode(), tid, h5py.h5s.create_simple((450,)), dcpl)
            h5py.Dataset(made)[...] = data
    made = generate()
    assert made.codecs("idle") == ["bytes", "numcodecs.zlib"]
    assert (made["idle"] == np.arange(450)).all()
    assert (made["packed"]["a"] == values["a"]).all()
    assert (made["packed"]["b"] == values["b"]).all()


def test_chunks_that_a_lossy_filter_skipped_are_held_exactly(path: Path, generate: Callable) -> None:
    values = np.arange(3000, dtype="<f4") / 7
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (3000,), "<f4", chunks=(1000,), scaleoffset=1)
        d[...] = values
        d.id.write_direct_chunk((1000,), values[1000:2000].tobytes(), filter_mask=1)
    made = generate()
    assert made.codecs("d") == ["bytes", "shadowzarr.hdf5_filters"]
    with h5py.File(path) as f:
        assert (made["d"] == f["d"][...]).all()
    assert (made["d"][1000:2000] == values[1000:2000]).all()
    assert "1" in made.converted()["/d"]


def test_without_the_plug_in_it_is_left_out_by_name(path: Path, generate: Callable) -> None:
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk((1000,))
    dcpl.set_filter(54321, h5py.h5z.FLAG_OPTIONAL, (1, 2))
    with h5py.File(path, "w") as f:
        space = h5py.h5s.create_simple((1000,))
        d = h5py.h5d.create(f.id, b"d", h5py.h5t.STD_I32LE, space, dcpl)
        d.write_direct_chunk((0,), b"only its plug-in knows")
    made = generate()
    assert "HDF5 filter 54321 (54321) is missing" in made.skipped()["/d"]


@pytest.mark.parametrize(
    "name", ["filters_builtin.h5", "filters_plugins.h5", "filter_masks.h5", "indexes.h5"]
)
def test_made_files(made_files: Path, name: str) -> None:
    path = made_files / "hdf5" / name
    if not path.is_file():
        pytest.skip(f"{name} could not be made here")
    rfs = generate_rfs(path)
    report = verify_rfs(rfs, path, mode="full")
    assert report.differences == []
    assert rfs.get("skipped", []) == []
    copied = [entry["path"] for entry in rfs.get("converted", []) if "filter" in entry["what"]]
    assert copied == ([] if name != "filters_plugins.h5" else ["/blosc/blosclz_0"])


def test_the_corpus(shared: Path) -> None:
    """Every dataset behind filters of every real file at hand; what is left out lacks a plug-in."""
    for path in sorted((shared / "corpus" / "hdf5").rglob("*.h*5")):
        if not _has_filters(path):
            continue
        rfs = generate_rfs(path)
        assert list(verify_rfs(rfs, path, mode="full").differences) == [], path
        reasons = [entry["reason"] for entry in rfs.get("skipped", []) if "codec" in entry["reason"]]
        assert all("plug-in" in reason for reason in reasons), (path, reasons)


def _has_filters(path: Path) -> bool:
    found = []

    def look(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.id.get_create_plist().get_nfilters():
            found.append(name)

    try:
        with h5py.File(path) as f:
            f.visititems(look)
    except (OSError, RuntimeError):
        return False
    return bool(found)
