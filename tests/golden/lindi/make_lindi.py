"""Writes the golden files of LINDI: run by LINDI's own interpreter (version 0.4.6, zarr 2) in this folder.

``sample.h5`` has every kind of object that LINDI can say; ``sample.lindi.json`` and ``sample.lindi.tar`` are
what LINDI makes of it. References name the file as ``sample.h5``, beside them.
"""

import contextlib
import json
from pathlib import Path

import h5py
import lindi
import numpy as np

FOLDER = Path(__file__).parent
NAME = "sample.h5"
OPTIONS = lindi.LindiH5ZarrStoreOpts(num_dataset_chunks_threshold=20, contiguous_dataset_max_chunk_size=4096)


def numbers(file):
    group = file.create_group("numbers")
    ramp = np.arange(3000)
    for dtype in ("<i2", ">i4", "<u8", ">f8", "<f2", "|i1"):
        group.create_dataset(f"large{dtype[1:]}", data=ramp.astype(dtype))  # in one piece, cut by LINDI
        group.create_dataset(f"small{dtype[1:]}", data=ramp[:12].astype(dtype).reshape(3, 4))
    group.create_dataset("gzip", data=ramp.reshape(50, 60), chunks=(20, 25), compression="gzip", shuffle=True)
    group.create_dataset("checked", data=ramp.astype("f4"), chunks=(1000,), fletcher32=True)
    partly = group.create_dataset("partly", (4000,), "<i4", chunks=(1000,), fillvalue=-7)
    partly[1000:2000] = ramp[:1000]
    holes = group.create_dataset("holes", (2000,), "f8", chunks=(1000,), fillvalue=np.nan)
    holes[:1000] = np.inf
    group.create_dataset("many", data=ramp, chunks=(100,), compression="gzip")  # an external array link
    group.create_dataset("mask", data=ramp[:40] % 3 == 0)
    group.create_dataset("colour", data=ramp[:5], dtype=h5py.enum_dtype({"RED": 0, "GREEN": 1}, "i1"))
    group.create_dataset("empty", (0, 3), "f4")
    for name, value in {
        "int": np.int16(-5),
        "float": np.float32(0.1),
        "nan": np.nan,
        "flag": np.True_,
    }.items():
        group[name] = value


def texts(file):
    group = file.create_group("texts")
    group["scalar"] = "a text, ö and 漢"
    group["empty"] = ""
    group["fixed"] = np.bytes_("ten bytes!")
    group.create_dataset("list", data=["one", "", "drei", "NaN"], dtype=h5py.string_dtype())
    group.create_dataset("table", data=np.array([["a", "b"], ["c", "d"]], object), dtype=h5py.string_dtype())
    group["codes"] = np.array([b"ab", b"c", b""], "S4")


def references(file):
    group = file.create_group("references")
    target = file["numbers/gzip"]
    target.attrs["object_id"] = "1"
    group.create_dataset("list", data=[target.ref, group.ref], dtype=h5py.ref_dtype)
    rows = np.array(
        [(1, 2, target.ref, b"first"), (3, -4, file["texts"].ref, b"")],
        [("start", "<i4"), ("count", "<i8"), ("series", h5py.ref_dtype), ("label", "S6")],
    )
    group.create_dataset("table", data=rows)
    pixels = np.array([(1, 2, 0.5), (3, 4, np.inf)], [("x", "<u4"), ("y", ">u4"), ("weight", "<f4")])
    group.create_dataset("pixels", data=pixels)
    group["absolute"] = h5py.SoftLink("/numbers/gzip")
    group["relative"] = h5py.SoftLink("table")
    group["through"] = h5py.SoftLink("/references/group/list")
    group["group"] = h5py.SoftLink("/texts")


def attributes(file):
    own = file.create_group("attributes").attrs
    for name, value in {
        "nan": np.nan,
        "bounds": [1.5, -np.inf, np.inf],
        "numbers": np.arange(6).reshape(2, 3),
        "large": np.uint64(2**63 + 1),
        "flag": True,
        "flags": np.array([True, False]),
        "text": "ö",
        "bytes": np.bytes_("plain"),
        "texts": ["a", "NaN"],
    }.items():
        own[name] = value
    own["reference"] = file["numbers/gzip"].ref
    file["numbers/gzip"].attrs["unit"] = "mV"


def specifications(file):
    group = file.create_group("specifications/core/1.0")
    group.create_dataset("namespace", data=['{"namespaces": []}'], dtype=h5py.string_dtype())
    file.attrs[".specloc"] = file["specifications"].ref
    file.attrs["object_id"] = "0"


def main():
    with contextlib.chdir(FOLDER):
        with h5py.File(NAME, "w", track_order=False) as file:
            for part in (numbers, texts, references, attributes, specifications):
                part(file)
        store = lindi.LindiH5ZarrStore.from_file(NAME, url=NAME, opts=OPTIONS)
        rfs = store.to_reference_file_system()
        with Path("sample.lindi.json").open("w") as opened:
            json.dump(rfs, opened, indent=1, sort_keys=True)
        Path("sample.lindi.tar").unlink(missing_ok=True)
        lindi.LindiH5pyFile.from_reference_file_system(rfs).write_lindi_file("sample.lindi.tar")
        with lindi.LindiH5pyFile.from_lindi_file("sample.lindi.tar", mode="r+") as client:
            client.create_dataset("held", data=np.arange(5000.0), chunks=(2500,))  # chunks in the archive


if __name__ == "__main__":
    main()
