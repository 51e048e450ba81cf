"""What each tool keeps of HDF5, tried with one small file for each feature: the table of the README.

``python -m benchmarks.supports`` prints it, ``--write`` puts it into the README; `make bench-env` makes the
environment that LINDI needs. Each file has one object ``x``. A tool makes references of it by its usual
call, and its usual reader reads ``x`` through them; the values are compared with those of h5py.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from benchmarks.contenders.environments import lindi as lindi_python
from benchmarks.supports_values import as_lists

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- supports: written by python -m benchmarks.supports --write -->", "<!-- end of supports -->"
NUMBERS = np.arange(4000, dtype="<i2").reshape(400, 10)
YES, NO, OTHER = "yes", "no", "**other values**"

Build = Callable[[h5py.File], Any]


def numbers(**options: Any) -> Build:
    """A chunked dataset."""
    return lambda file: file.create_dataset("x", data=NUMBERS, chunks=(100, 10), **options)


def plugin(name: str) -> Build:
    """A chunked dataset behind a plug-in filter."""

    def build(file: h5py.File) -> None:
        import hdf5plugin

        numbers(**getattr(hdf5plugin, name)())(file)

    return build


def values(data: Any, dtype: Any = None) -> Build:
    """A dataset that is not chunked."""
    return lambda file: file.create_dataset("x", data=data, dtype=dtype)


def compound(**fields: Any) -> Build:
    """Two elements of some fields; values are given for text, and a reference to ``target``."""

    def build(file: h5py.File) -> None:
        file["target"] = [1, 2]
        known = {"number": 7, "text": "µV", "reference": file["target"].ref}
        dtype = list(fields.items())
        made = file.create_dataset("x", (2,), dtype=dtype)
        made[:] = np.array([tuple(known[name] for name in fields)] * 2, dtype=dtype)

    return build


def references(file: h5py.File) -> None:
    """Two references to objects."""
    file["target"] = [1, 2]
    file["group/inner"] = [3]
    file.create_dataset("x", data=[file["target"].ref, file["group/inner"].ref], dtype=h5py.ref_dtype)


def sequences(file: h5py.File) -> None:
    """Lists of numbers of different lengths."""
    made = file.create_dataset("x", (2,), dtype=h5py.vlen_dtype("<i4"))
    made[0], made[1] = [1, 2, 3], [4]


def skipping(file: h5py.File) -> None:
    """A chunk that skips gzip, as libraries write it when that gains nothing."""
    made = numbers(compression="gzip")(file)
    made.id.write_direct_chunk((100, 0), NUMBERS[100:200].tobytes(), filter_mask=1)


def virtual(file: h5py.File) -> None:
    """A virtual dataset over another one of the file."""
    file["source"] = NUMBERS
    layout = h5py.VirtualLayout(NUMBERS.shape, NUMBERS.dtype)
    layout[...] = h5py.VirtualSource(".", "source", NUMBERS.shape)
    file.create_virtual_dataset("x", layout)


def soft_link(file: h5py.File) -> None:
    """Another name for a dataset."""
    file["elsewhere/y"] = NUMBERS
    file["x"] = h5py.SoftLink("/elsewhere/y")


def external(file: h5py.File) -> None:
    """Raw data in a file of its own."""
    raw = Path(file.filename).with_suffix(".raw")
    raw.write_bytes(NUMBERS.tobytes())
    file.create_dataset(
        "x", shape=NUMBERS.shape, dtype=NUMBERS.dtype, external=[(raw.name, 0, NUMBERS.nbytes)]
    )


FEATURES: dict[str, Build] = {
    "gzip and shuffle": numbers(compression="gzip", shuffle=True),
    "Fletcher-32": numbers(compression="gzip", fletcher32=True),
    "LZF": numbers(compression="lzf"),
    "szip": numbers(compression="szip"),
    "scale-offset": numbers(scaleoffset=0),
    "Blosc": plugin("Blosc"),
    "Zstandard": plugin("Zstd"),
    "bitshuffle": plugin("Bitshuffle"),
    "a chunk that skips a filter": skipping,
    "big-endian numbers, not chunked": values(NUMBERS.astype(">f8")),
    "complex numbers": values(NUMBERS[0] * 1j),
    "text of fixed width": values(np.array([b"ab", b"c"])),
    "text of any length": values(["a", "µV", ""], h5py.string_dtype()),
    "compounds with text": compound(number="<i4", text=h5py.string_dtype()),
    "compounds with references, as in NWB": compound(number="<i4", reference=h5py.ref_dtype),
    "object references": references,
    "sequences of numbers": sequences,
    "virtual datasets": virtual,
    "raw data in another file": external,
    "soft links": soft_link,
}


def judged(read: Callable[[Path], Any], path: Path) -> str:
    """Whether a tool gives what h5py gives."""
    with h5py.File(path) as file:
        truth = as_lists(file["x"], file)
    try:
        with warnings.catch_warnings(action="ignore"):
            found = read(path)
    except Exception:  # noqa: BLE001 - whatever a tool says when it cannot
        return NO
    if found is None:
        return NO
    return YES if found == truth else OTHER


def ours(path: Path) -> Any:
    """By generate_rfs and open_rfs; links are followed as hdmf-zarr follows them."""
    from shadowzarr import generate_rfs, open_rfs

    root: Any = open_rfs(generate_rfs(path))
    links: dict[str, str] = {link["name"]: link["path"].strip("/") for link in root.attrs.get("_LINKS", [])}
    found = root[links.get("x", "x")]
    if "_RAGGED" in found.attrs:
        values, offsets = found["values"][...].tolist(), found["offsets"][...].tolist()
        return [values[start:stop] for start, stop in pairwise(offsets)]
    return as_lists(found)


def kerchunk(path: Path) -> Any:
    """By its translator, fsspec and zarr."""
    import zarr

    from benchmarks.contenders.generate.kerchunk import translate

    references = translate(str(path))
    options = {"fo": references}
    root: Any = zarr.open_group("reference://", mode="r", storage_options=options)
    return as_lists(root["x"])


def virtualizarr(path: Path) -> Any:
    """By its parser; the manifest store is a store of zarr."""
    import zarr
    from imagecodecs.zarr import register_codecs
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtualizarr.parsers import HDFParser

    register_codecs(verbose=False)  # those of imagecodecs, which its parser names
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    store = HDFParser()(url=f"file://{path}", registry=registry)
    root: Any = zarr.open_group(store, mode="r")
    return as_lists(root["x"])


def lindi(path: Path) -> Any:
    """By LINDI's own client, in its own environment."""
    python = lindi_python(ROOT / "build" / "bench")
    command = [str(python), "-W", "ignore", "-m", "benchmarks.supports_lindi", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


TOOLS = {"shadowzarr": ours, "LINDI": lindi, "kerchunk": kerchunk, "VirtualiZarr": virtualizarr}


def table() -> str:
    """One row for each feature, one column for each tool."""
    lines = [f"| feature of HDF5 | {' | '.join(TOOLS)} |", f"|---|{'---|' * len(TOOLS)}"]
    # HDF5 looks for raw files in the working directory.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for number, (name, build) in enumerate(FEATURES.items()):
            path = Path(folder) / f"{number}.h5"
            with h5py.File(path, "w") as file:
                build(file)
            results = [judged(read, path) for read in TOOLS.values()]
            lines.append(f"| {name} | {' | '.join(results)} |")
            print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def main() -> None:
    """Print the table, or write it into the README."""
    arguments = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    arguments.add_argument("--write", action="store_true", help="write the table into README.md")
    chosen = arguments.parse_args()
    text = table()
    if not chosen.write:
        print(text)
        return
    readme = ROOT / "README.md"
    page = readme.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    readme.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")
    print(f"kerchunk {version('kerchunk')}, VirtualiZarr {version('virtualizarr')}")


if __name__ == "__main__":
    main()
