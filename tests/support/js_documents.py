"""Documents that the JavaScript package has to read, and what Python reads in them.

Values are listed bit for bit where JavaScript has an array type for them, else as JSON in which each says
what it is.
"""

import base64
import json
import math
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import zarr

from shadowzarr import decode_attributes, generate_rfs, generate_rfs_tiff, open_rfs, write_rfs
from shadowzarr.refs.document import Rfs

NOT_DECODED = ("szip", "n-bit", "zfp", "blosc2")
"""HDF5 filters that JavaScript has no decoder for."""


class Documents:
    """Documents in a folder that a server serves, and a list of what they hold."""

    def __init__(self, folder: Path, url: Callable[[str], str]) -> None:
        self.folder, self.url = folder, url
        self.listed: list[dict[str, Any]] = []

    def add(self, name: str, rfs: Rfs, *, suffix: str = "") -> None:
        """Write references and list what they hold."""
        write_rfs(rfs, self.folder / f"{name}{suffix}")
        self.add_written(f"{name}{suffix}", rfs)

    def add_written(self, name: str, rfs: Rfs) -> None:
        """List what references hold that are there already."""
        root, arrays, attributes = open_rfs(rfs), {}, {}
        for key in rfs["refs"]:
            path, _, last = key.rpartition("/")
            if last != "zarr.json":
                continue
            node = root[path] if path else root
            attributes[path] = _attributes(node)
            if isinstance(node, zarr.Array):
                arrays[path] = self._array(node)
        self.listed.append({"name": name, "url": self.url(name), "arrays": arrays, "attributes": attributes})

    def add_hdf5(self, name: str, *, suffix: str = "", **options: Any) -> None:
        """Make references for a file in the folder and list what they hold."""
        path = self.folder / f"{name}.h5"
        rfs = generate_rfs(self.url(path.name), local_hdf5_path=path, **options)
        self.add(name, rfs, suffix=suffix)

    def write(self, name: str = "documents.json") -> None:
        """Write the list of what was added so far."""
        (self.folder / name).write_text(json.dumps(self.listed))

    def _array(self, array: zarr.Array[Any]) -> dict[str, Any]:
        listed: dict[str, Any] = {"shape": list(array.shape)}
        missing = [
            name for name in NOT_DECODED if f'"{name}"' in json.dumps(array.metadata.to_dict(), default=str)
        ]
        if missing:
            return {**listed, "unsupported": missing[0]}
        values = np.asarray(array[...])
        if values.dtype.kind not in "biufmM":
            return {**listed, "values": [_value(item, values.dtype) for item in values.reshape(-1).tolist()]}
        return {**listed, "raw": base64.b64encode(_raw(values)).decode()}

    def add_tiff(self, name: str) -> None:
        """Make references for a file in the folder and list what they hold."""
        path = self.folder / f"{name}.tif"
        local = generate_rfs_tiff(path)
        moved = json.loads(json.dumps(local).replace(str(path), self.url(path.name)))
        self.add(name, moved, suffix=".json")


def _raw(values: np.ndarray[Any, Any]) -> bytes:
    if values.dtype.kind in "mM":
        values = values.view("i8")
    if values.dtype == np.float16:
        values = values.astype("<f4")  # which holds every half
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"))).tobytes()


def _attributes(node: zarr.Group | zarr.Array[Any]) -> Any:
    return _value(decode_attributes(node.attrs.asdict()), None)


def _value(value: Any, dtype: np.dtype[Any] | None) -> Any:
    """A value as JSON that says what it is; of an attribute without a data type."""
    if dtype is not None and dtype.names is not None:
        return {"fields": [[n, _value(v, dtype[n])] for n, v in zip(dtype.names, value, strict=True)]}
    if isinstance(value, dict):
        return {"fields": [[key, _value(item, None)] for key, item in value.items()]}
    if isinstance(value, list):
        return {"list": [_value(item, None) for item in value]}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, complex):
        return {"fields": [["real", _value(value.real, None)], ["imag", _value(value.imag, None)]]}
    if isinstance(value, float):
        return {"float": "nan" if math.isnan(value) else struct.pack(">d", value).hex()}
    if isinstance(value, int) and not isinstance(value, bool):
        is_big = abs(value) >= 2**53 if dtype is None else dtype.itemsize == 8
        return {"bigint": str(value)} if is_big else value
    return value


def make_hdf5(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Files of what the features' files lack: name of each, how its references are written, and options."""
    rng = np.random.default_rng(1)
    ramp = np.cumsum(rng.integers(-3, 4, (60, 41)), axis=0)
    with h5py.File(folder / "filters.h5", "w") as file:
        for name, options in _filters():
            file.create_dataset(name, data=ramp.astype("<i4"), chunks=(13, 17), **options)
        file.create_dataset("odd", data=ramp.astype("u1"), chunks=(7, 7), fletcher32=True)
        for kind in ("i1", "<u2", ">i2", "<i4", ">u4", "<i8", ">u8"):
            name = f"scaled_{kind.replace('<', 'little_').replace('>', 'big_')}"
            made = file.create_dataset(name, data=ramp.astype(kind), chunks=(13, 17), scaleoffset=0)
            made = file.create_dataset(
                f"{name}_filled", (60,), kind, chunks=(20,), scaleoffset=0, fillvalue=7
            )
            made[3:30] = np.arange(100, 127)
        file.create_dataset("scaled_same", data=np.full(30, 5, "<i4"), chunks=(30,), scaleoffset=0)
        file.create_dataset(
            "scaled_wide", data=np.array([-(2**31), 2**31 - 1] * 9, "<i4"), chunks=(9,), scaleoffset=0
        )
        triples = np.dtype(("<f8", (3,)))
        made = file.create_dataset("triples", (50,), triples, chunks=(20,), shuffle=True, compression="gzip")
        made[...] = rng.normal(size=(50, 3))
        file.create_dataset("noise", data=rng.integers(0, 255, 5000, "u1"), chunks=(3000,), compression="lzf")
        if "zstd" in file:
            large = np.repeat(ramp.astype("<i4"), 200)
            file.create_dataset("zstd_large", data=large, chunks=(100_000,), **dict(_filters())["zstd"])
    yield "filters", ".json", {}
    with h5py.File(folder / "layouts.h5", "w") as file:
        file["slabs"] = rng.normal(size=(1003, 7))
        file["wide"] = rng.integers(0, 9, (3, 4000), "<u2")
        file.create_dataset("indexed", data=ramp.astype(">i2"), chunks=(2, 3), compression="gzip")
        sparse = file.create_dataset("sparse", (90, 90), "<f4", chunks=(5, 5), fillvalue=-1)
        sparse[10:40, 5:70] = 3
        file["numbers"] = np.array([2**63, 2**64 - 1, 0], "<u8")
        file["numbers"].attrs["large"] = np.uint64(2**64 - 1)
        file.create_dataset("large", (3,), "<u8", fillvalue=2**64 - 1, chunks=(2,))
        file.create_dataset("small", (3,), "<i8", fillvalue=-(2**63), chunks=(2,))
    yield "layouts", "", {"contiguous_chunk_bytes": 4096, "chunk_index_threshold": 10}
    with h5py.File(folder / "types.h5", "w") as file:
        for kind in ("i1", "<u2", ">i4", "<i8", ">u8", "<f2", ">f2", ">f4", ">f8", ">c8", "?"):
            name = kind.replace("<", "little_").replace(">", "big_").replace("?", "bool")
            file[name] = (np.arange(300).reshape(20, 15) % 2).astype(kind)
        file["halves"] = np.array([0, -0.0, np.inf, -np.inf, np.nan, 2**-24, 65504, 1 / 3], ">f2")
        file["text"] = ["a", "", "é" * 300, "\ufeffmark", "日本"]
        file["big_struct"] = np.ones(200, [("a", ">i2"), ("b", [("c", ">f8"), ("d", ">u8")]), ("e", "S3")])
    yield "types", ".json", {}


def make_tiff(folder: Path) -> Iterator[str]:
    """TIFF files of what TIFF alone does to bytes; none without the libraries for it."""
    try:
        import imagecodecs  # noqa: F401  (tifffile compresses by it)
        import tifffile
    except ImportError:
        return
    image = np.cumsum(np.random.default_rng(2).integers(-2, 3, (2, 170, 180)), axis=2).astype("<i2")
    kinds = {
        ("lzw", False): ("u1", "<u2", "<u4"),
        ("lzw", True): ("u1", ">i2", "<u4"),
        ("packbits", False): ("u1", ">i2"),
        ("deflate", True): ("<u2", ">u4"),
    }
    for (compression, predictor), dtypes in kinds.items():
        for kind in dtypes:
            name = f"tiff-{compression}-{kind.replace('<', 'l').replace('>', 'b')}-{predictor}"
            options = {"compression": compression, "predictor": predictor, "tile": (160, 96)}
            byteorder = ">" if kind[0] == ">" else "<"
            tifffile.imwrite(folder / f"{name}.tif", image.astype(kind), byteorder=byteorder, **options)
            yield name


def _filters() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "gzip", {"compression": "gzip", "shuffle": True, "fletcher32": True}
    yield "lzf", {"compression": "lzf", "shuffle": True}
    yield "lzf_checked", {"compression": "lzf", "fletcher32": True}
    try:
        import hdf5plugin
    except ImportError:
        return
    for compressor in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for shuffle in range(3):
            yield f"blosc_{compressor}_{shuffle}", hdf5plugin.Blosc(cname=compressor, shuffle=shuffle)
    for compressor in ("none", "lz4", "zstd"):
        for elements in (0, 16):
            yield f"bitshuffle_{compressor}_{elements}", hdf5plugin.Bitshuffle(elements, compressor)
    yield "lz4", hdf5plugin.LZ4(64)
    yield "zstd", hdf5plugin.Zstd()
    yield "bzip2", hdf5plugin.BZip2()
