"""Whether every codec that references use decodes a chunk whose values are known.

The chunks were encoded once and are part of this file, so that a library that encodes and decodes wrongly
in the same way is noticed too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

from .._installation import install_extra
from ..codecs import register_named
from .environment import installed
from .finding import Finding

Entry = dict[str, Any]


@dataclass(frozen=True)
class Vector:
    """A chunk whose values are known.

    Attributes
    ----------
    name : str
        The codec.
    extra : str, optional
        What installs it; the library itself when it is None.
    values : numpy.ndarray
        What it decodes to.
    codecs : tuple of dict
        Entries of ``codecs`` in ``zarr.json``.
    chunk : str
        The chunk, in base64.
    """

    name: str
    extra: str | None
    values: np.ndarray[Any, Any]
    codecs: tuple[Entry, ...]
    chunk: str


def _entry(name: str, **configuration: Any) -> Entry:
    return {"name": name, "configuration": configuration}


LITTLE: Final = _entry("bytes", endian="little")
STEPS: Final = np.repeat(np.arange(8) * 300, 8).astype("<i2")
TEXTS: Final = np.array(["a", "µV", "", "zarr"], dtype=np.dtypes.StringDType())
IMAGE: Final = np.arange(64, dtype="u1").reshape(8, 8)


def _bytes_to_bytes(*entries: Entry) -> tuple[Entry, ...]:
    return (LITTLE, *entries)


def _hdf5(number: int, name: str, *values: int) -> tuple[Entry, ...]:
    filters = [{"id": number, "name": name, "cd_values": list(values)}]
    return _bytes_to_bytes(_entry("shadowzarr.hdf5_filters", filters=filters))


VECTORS: Final = (
    Vector(
        "numcodecs.zlib with numcodecs.shuffle",
        None,
        STEPS,
        _bytes_to_bytes(_entry("numcodecs.shuffle", elementsize=2), _entry("numcodecs.zlib", level=9)),
        "eNpjYIAAHSiIgIIWKNgABXeggAMKTKAAqp2BEQqYoIAZCliggBUK2KEAZg4AQLAXcQ==",
    ),
    Vector(
        "numcodecs.fletcher32",
        None,
        STEPS,
        _bytes_to_bytes(_entry("numcodecs.fletcher32")),
        (
            "AAAAAAAAAAAAAAAAAAAAACwBLAEsASwBLAEsASwBLAFYAlgCWAJYAlgCWAJYAlgChAOEA4QDhAOEA4QDhAOEA7AEsASw"
            "BLAEsASwBLAEsATcBdwF3AXcBdwF3AXcBdwFCAcIBwgHCAcIBwgHCAcIBzQINAg0CDQINAg0CDQINAgGgQVV"
        ),
    ),
    Vector(
        "gzip",
        None,
        STEPS,
        _bytes_to_bytes(_entry("gzip", level=9)),
        "H4sIAH0TDmsC/2NgQAU6jKgwggkVtjCjwg0sqPAOKyrkYEeFJhyoEAAH9S5UgAAAAA==",
    ),
    Vector(
        "zstd",
        None,
        STEPS,
        _bytes_to_bytes(_entry("zstd", level=9, checksum=False)),
        "KLUv/SCA1QAAgAAALAFYAoQDsATcBQgHNAgIZALAwwELrQg=",
    ),
    Vector(
        "blosc",
        None,
        STEPS,
        _bytes_to_bytes(_entry("blosc", typesize=2, cname="lz4", clevel=5, shuffle="shuffle", blocksize=0)),
        (
            "AgExAoAAAACAAAAAXQAAABQAAABFAAAAEwABABMsAQATWAEAE4QBABOwAQAT3AEAEwgBABM0AQADPwAjAAEBABMCAQAT"
            "AwEAEwQBABMFAQATBwEAgAgICAgICAgI"
        ),
    ),
    Vector(
        "numcodecs.bz2",
        None,
        STEPS,
        _bytes_to_bytes(_entry("numcodecs.bz2", level=9)),
        (
            "QlpoOTFBWSZTWX7diCQAAABaSn7EAAQEAABABABAAAAEIABQpgAARURkepsU8wwBwCQKAsDYFzS5WL4u11mQKAtYXH4u"
            "5IpwoSD9uxBI"
        ),
    ),
    Vector(
        "numcodecs.lzma",
        None,
        STEPS,
        _bytes_to_bytes(_entry("numcodecs.lzma", format=1, check=-1, preset=None, filters=None)),
        (
            "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AB/AB1dAABtQ8sEgC0AfQibXyAi885oQPzRX2bsYAY5NjL7AAAAAAVF6m7O"
            "INKKAAE5gAEAAABPVXrpscRn+wIAAAAABFla"
        ),
    ),
    Vector(
        "vlen-utf8",
        None,
        TEXTS,
        (_entry("vlen-utf8"),),
        "BAAAAAEAAABhAwAAAMK1VgAAAAAEAAAAemFycg==",
    ),
    Vector(
        "shadowzarr.hdf5_filters (lzf)",
        None,
        STEPS,
        _hdf5(32000, "lzf", 4, 261, 128),
        "AQAA4AUAASwB4AUBAVgC4AUBAYQD4AUBAbAE4AUBAdwF4AUBAQgH4AUBATQI4AMBATQI",
    ),
    Vector(
        "shadowzarr.hdf5_filters (bitshuffle)",
        "hdf5",
        STEPS,
        _hdf5(32008, "bitshuffle", 0, 5, 2, 0, 2),
        (
            "AAAAAAAAAIAAACAAAAAAPRwAAQAU/wIAIf8ABAAADwACEgAJAwAAGQAg//8GAAACAAEJAAIfAAATAAEZAAECAAAZAA8C"
            "AAVQAAAAAAA="
        ),
    ),
    Vector(
        "imagecodecs_lz4h5",
        "hdf5",
        STEPS,
        _bytes_to_bytes(_entry("imagecodecs_lz4h5")),
        "AAAAAAAAAIAAAACAAAAALRsAAQAqLAECACpYAgIAKoQDAgAqsAQCACrcBQIAKggHAgAlNAgCAFAINAg0CA==",
    ),
    Vector(
        "imagecodecs_lzw",
        "tiff",
        STEPS,
        _bytes_to_bytes(_entry("imagecodecs_lzw")),
        "gAAgUDgkFAAsAMIhUJhkLLACh8RiETiSEAcWjEXjUZWAEjsfj0hkDcAskk0llEnBAHlctlkvlw0BEymkzm01gIA=",
    ),
    Vector(
        "imagecodecs_packbits",
        "tiff",
        STEPS,
        _bytes_to_bytes(_entry("imagecodecs_packbits")),
        (
            "8QBvLAEsASwBLAEsASwBLAEsAVgCWAJYAlgCWAJYAlgCWAKEA4QDhAOEA4QDhAOEA4QDsASwBLAEsASwBLAEsASwBNwF"
            "3AXcBdwF3AXcBdwF3AUIBwgHCAcIBwgHCAcIBwgHNAg0CDQINAg0CDQINAg0CA=="
        ),
    ),
    Vector(
        "imagecodecs_delta",
        "tiff",
        STEPS,
        (_entry("imagecodecs_delta", axis=-1, dist=1), LITTLE),
        (
            "AAAAAAAAAAAAAAAAAAAAACwBAAAAAAAAAAAAAAAAAAAsAQAAAAAAAAAAAAAAAAAALAEAAAAAAAAAAAAAAAAAACwBAAAA"
            "AAAAAAAAAAAAAAAsAQAAAAAAAAAAAAAAAAAALAEAAAAAAAAAAAAAAAAAACwBAAAAAAAAAAAAAAAAAAA="
        ),
    ),
    Vector(
        "imagecodecs_png",
        "tiff",
        IMAGE,
        (_entry("imagecodecs_png"),),
        (
            "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAEklEQVQImWNkYIQCDijNQhYDABMvAItr7NZIAAAAAElF"
            "TkSuQmCC"
        ),
    ),
    Vector(
        "imagecodecs_jpeg2k",
        "tiff",
        IMAGE,
        (_entry("imagecodecs_jpeg2k"),),
        (
            "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAACAAAAAgAAQcHAAAAAAAPY29s"
            "cgEAAAAAABEAAAC6anAyY/9P/1EAKQAAAAAACAAAAAgAAAAAAAAAAAAAAAgAAAAIAAAAAAAAAAAAAQcBAf9SAAwAAAAB"
            "AAAEBAAB/1wABEBA/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAAASAAB/5PfgbgS"
            "K2cWj4+MnWAwj2jIfMxLy0zMEow8AGAVHgBPAftKPNh+bD82Ba6uE631tLq2Nvm+b5vm+b5v/9k="
        ),
    ),
)

_NEEDS: Final = {"hdf5": ("hdf5plugin", "imagecodecs"), "tiff": ("imagecodecs",)}


def codecs(vectors: tuple[Vector, ...] = VECTORS) -> Iterator[Finding]:
    """Decode each chunk whose codec is installed."""
    right, left = [], []
    for vector in vectors:
        if vector.extra is not None and any(installed(name) is None for name in _NEEDS[vector.extra]):
            left.append(vector)
            continue
        problem = _problem(vector)
        if problem:
            remedy = install_extra(vector.extra, again=True)
            yield Finding("codecs", "wrong", f"{vector.name}: {problem}", remedy)
        else:
            right.append(vector)
    if right:
        yield Finding(
            "codecs", "fine", f"{len(right)} decode what is known: {', '.join(v.name for v in right)}"
        )
    for extra in sorted({str(vector.extra) for vector in left}):
        names = ", ".join(vector.name for vector in left if vector.extra == extra)
        yield Finding("codecs", "note", f"not installed: {names}", install_extra(extra))


def _problem(vector: Vector) -> str:
    """What is wrong with a codec; empty when it decodes what is known."""
    try:
        found = decoded(vector)
    except Exception as error:  # noqa: BLE001 - whatever a codec does wrong is what is looked for
        return (
            f"fails on a chunk that is right ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        )
    return "" if np.array_equal(found, vector.values) else "decodes a known chunk to other values"


def decoded(vector: Vector) -> np.ndarray[Any, Any]:
    """Read a chunk as the only one of an array."""
    register_named(vector.codecs)
    values = vector.values
    is_text = values.dtype.kind == "T"
    shape = list(values.shape)
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "string" if is_text else values.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "" if is_text else 0,
        "codecs": list(vector.codecs),
    }
    files = {
        "zarr.json": json.dumps(document).encode(),
        f"c{'/0' * len(shape)}": base64.b64decode(vector.chunk),
    }
    buffer = default_buffer_prototype().buffer
    store = MemoryStore({name: buffer.from_bytes(data) for name, data in files.items()})
    return np.asarray(zarr.open_array(store, mode="r")[...])
