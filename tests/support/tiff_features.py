"""Features of TIFF, one small file each, and how a document stores them, in words."""

import json
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import tifffile
from tiff_by_hand import LONG, Page, gray, write

LAYOUTS, VALUES, COMPRESSIONS, SERIES = "Layouts", "Values", "Compressions", "Series"
COPIED, LEFT = "Copied", "Left out"

Write = Callable[[Path], Any]


@dataclass(frozen=True)
class Feature:
    """A file with one feature.

    ``starts`` is how the words of how it is stored begin, for readers of the test; the page has all of them.
    """

    topic: str
    name: str
    write: Write
    starts: str


def smooth(*shape: int, dtype: Any = "u2") -> np.ndarray:
    """Values that compress, and differ from their neighbours."""
    return np.asarray(np.indices(shape).sum(axis=0) * 3 % 200).astype(dtype)


def imwrite(values: np.ndarray, **options: Any) -> Write:
    return lambda path: tifffile.imwrite(path, values, **options)


def by_hand(*pages: Page, **options: Any) -> Write:
    return lambda path: path.write_bytes(write(pages, **options))


def strips(
    values: np.ndarray, rows: int, tags: dict[int, Any], gap: bytes = b"", encode: Any = bytes
) -> Page:
    """A page of these rows to a strip."""
    parts = [values[start : start + rows].tobytes() for start in range(0, len(values), rows)]
    counts = [len(encode(part)) for part in parts]
    return Page({**tags, 278: rows}, [encode(part) + gap for part in parts], counts=counts)


def packed(bits: int, width: int = 12, rows: int = 10, **options: Any) -> Write:
    """A page of values of so many bits."""
    nbytes = -(-width * bits // 8) * rows
    return by_hand(
        Page(gray(width, rows, bits), [(np.arange(nbytes) * 37 % 251).astype("u1").tobytes()]), **options
    )


def reversed_bits(data: bytes) -> bytes:
    return bytes(imagecodecs.bitorder_encode(data))


def in_turns(*written: tuple[np.ndarray, dict[str, Any]], **writer: Any) -> Write:
    def run(path: Path) -> None:
        with tifffile.TiffWriter(path, **writer) as file:
            for values, options in written:
                file.write(values, **options)

    return run


def pages(count: int, **options: Any) -> Write:
    """Pages written one by one, without tifffile's metadata."""
    plain = {"metadata": None, "contiguous": False, **options}
    return in_turns(*((smooth(20, 30) + number, plain) for number in range(count)))


def pyramid(*, reduced: bool) -> Write:
    base = smooth(2, 64, 80, dtype="u1")
    tiles: dict[str, Any] = {"tile": (16, 16), "compression": "zlib"}
    first = (
        {**tiles} if reduced else {**tiles, "subifds": 2, "metadata": {"axes": "CYX", "PhysicalSizeX": 0.5}}
    )
    levels = [(base[:, ::step, ::step], {**tiles, "subfiletype": 1}) for step in (2, 4)]
    return in_turns((base, first), *levels, **({} if reduced else {"ome": True}))


def ome_set(path: Path, count: int = 3, other: dict[str, Any] | None = None) -> None:
    """An OME-TIFF of several files; the first is the one that is opened, others may be stored otherwise."""
    names = [path.name, *(f"other{number}.ome.tif" for number in range(1, count))]
    for number, name in enumerate(names):
        options: dict[str, Any] = {"description": ome_xml(names, number), "metadata": None}
        options |= other or {} if number else {}
        tifffile.imwrite(path.with_name(name), smooth(20, 30) + number, **options)


def ome_xml(names: list[str], own: int) -> str:
    uuid = "urn:uuid:00000000-0000-0000-0000-{:012d}"
    data = "".join(
        f'<TiffData FirstT="{n}" IFD="0" PlaneCount="1">'
        f'<UUID FileName="{name}">{uuid.format(n)}</UUID></TiffData>'
        for n, name in enumerate(names)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="{uuid.format(own)}">'
        f'<Image ID="Image:0"><Pixels DimensionOrder="XYZCT" ID="P:0" SizeC="1" SizeT="{len(names)}" '
        f'SizeX="30" SizeY="20" SizeZ="1" Type="uint16"><Channel ID="C:0" SamplesPerPixel="1"/>{data}'
        "</Pixels></Image></OME>"
    )


def virtual_stack(path: Path) -> None:
    """An ImageJ stack whose pages have no directory of their own, as ImageJ writes those above 4 GiB."""
    tifffile.imwrite(path, smooth(5, 20, 30), imagej=True)
    data = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as tif:
        link = tif.pages[0].offset + 2 + 12 * len(tif.pages[0].tags)
    data[link : link + 4] = bytes(4)
    path.write_bytes(bytes(data))


def stk(planes: int) -> Write:
    """A MetaMorph stack: planes behind each other, counted by a tag."""
    values = smooth(planes, 10, 12)
    about_planes = np.array([1, 1, 0, 0, 0, 0] * planes, "<u4").tobytes()  # distance, dates and times
    tags = {**gray(12, 10, 16), 33628: (LONG, [0, 0]), 33629: (5, planes, about_planes)}
    return by_hand(Page(tags, [values.tobytes()], counts=[240]))


def lsm(planes: int) -> Write:
    """A Zeiss LSM stack: every other page is a thumbnail."""
    info = np.zeros((), tifffile.TIFF.CZ_LSMINFO)
    info["MagicNumber"], info["StructureSize"] = 67127628, info.dtype.itemsize
    info["DimensionX"], info["DimensionY"], info["DimensionZ"] = 12, 10, planes
    info["DimensionChannels"] = info["DimensionTime"] = 1
    listed = []
    for number in range(planes):
        tags = gray(12, 10, 16) if number else {**gray(12, 10, 16), 34412: (1, info.tobytes())}
        listed.append(Page(tags, [(smooth(10, 12) + number).tobytes()]))
        listed.append(Page({**gray(4, 4), 254: (LONG, 1)}, [bytes(range(16))]))
    return by_hand(*listed)


def scanimage(count: int) -> Write:
    text = "frames = 1\nscanimage.SI.VERSION_MAJOR = 5\n"
    listed = [Page({**gray(12, 10, 16), 270: text}, [(smooth(10, 12) + n).tobytes()]) for n in range(count)]
    return by_hand(*listed)


def tables_of_their_own(path: Path) -> None:
    """JPEG pages of different quality, whose quantization tables are in a tag of each page."""
    listed = []
    for quality in (60, 90):
        stream = imagecodecs.jpeg_encode(smooth(16, 16, dtype="u1"), level=quality)
        tables, rest = stream[: stream.index(b"\xff\xc0")], stream[stream.index(b"\xff\xc0") :]
        listed.append(Page({**gray(16, 16), 259: 7, 347: tables + b"\xff\xd9"}, [b"\xff\xd8" + rest]))
    path.write_bytes(write(listed))


def gel(path: Path) -> None:
    """A Molecular Dynamics gel scan, whose values are square roots."""
    tags = {
        **gray(12, 10, 16),
        33445: (LONG, 2),
        33446: (5, 1, np.array([1, 4], "<u4").tobytes()),
        33449: "lab",
    }
    path.write_bytes(write([Page(tags, [smooth(10, 12).tobytes()])]))


def broken_chain(path: Path) -> None:
    """Three pages, the last of which leads out of the file."""
    path.write_bytes(
        write([Page(gray(12, 10), [bytes(range(n, n + 120))], next=10**6 * (n == 2)) for n in range(3)])
    )


class Words:
    """How a document stores the arrays of a file."""

    def __init__(self, rfs: dict[str, Any]) -> None:
        self._rfs = rfs
        self._nodes = {
            key.removesuffix("/zarr.json"): json.loads(value)
            for key, value in rfs["refs"].items()
            if key.endswith("/zarr.json")
        }

    def stored(self) -> str:
        arrays = {path: node for path, node in self._nodes.items() if node["node_type"] == "array"}
        parts = dict.fromkeys(self._array(path, node) for path, node in arrays.items())
        paths = f"arrays {', '.join(f'`{path}`' for path in arrays)}; each " if len(arrays) > 1 else ""
        changes = [each["what"] for each in self._rfs.get("converted", [])]
        left = [f"{each['path']} left out: {each['reason']}" for each in self._rfs.get("skipped", [])]
        return "; ".join([paths + " / ".join(parts), *changes, *left])

    def readers(self) -> str:
        names = {codec["name"] for node in self._nodes.values() for codec in node.get("codecs", [])}
        if "shadowzarr.tiff_segment" in names:
            return "zarr-python with shadowzarr (extra tiff)"
        if any(name.startswith("imagecodecs_") for name in names):
            return "zarr-python with imagecodecs-zarr (extra tiff)"
        if any(name.startswith("numcodecs.") for name in names):
            return "zarr-python, and readers with this codec"
        if any(self._is_short(path, node) for path, node in self._nodes.items()):
            return "any Zarr v3 reader, by the `.json` form"
        return "any Zarr v3 reader"

    def _is_short(self, path: str, node: dict[str, Any]) -> bool:
        """Whether a chunk has fewer bytes than its array's chunks, which a store has to fill up."""
        if node["node_type"] != "array":
            return False
        nbytes = (
            math.prod(node["chunk_grid"]["configuration"]["chunk_shape"])
            * np.dtype(node["data_type"]).itemsize
        )
        chunks = [v for k, v in self._rfs["refs"].items() if k.startswith(f"{path}/c/")]
        return any(isinstance(chunk, list) and chunk[2] < nbytes for chunk in chunks)

    def _array(self, path: str, node: dict[str, Any]) -> str:
        endian = {codec.get("configuration", {}).get("endian") for codec in node["codecs"]}
        codecs = [f"`{codec['name']}`" for codec in node["codecs"] if codec["name"] != "bytes"]
        shape = node["chunk_grid"]["configuration"]["chunk_shape"]
        words = [
            f"`{node['data_type']}`",
            *(["big-endian"] if "big" in endian and not node["data_type"].endswith("8") else []),
            *codecs,
            *([f"fill value `{json.dumps(node['fill_value'])}`"] if node["fill_value"] else []),
            f"`{'×'.join(node['dimension_names'])}` of {tuple(node['shape'])} in chunks of {tuple(shape)}",
            self._places(path),
        ]
        return ", ".join(words)

    def _places(self, path: str) -> str:
        if any(entry["key"].startswith(f"{path}/c/") for entry in self._rfs.get("gen", [])):
            return "one rule"
        if path in self._rfs.get("indexes", {}):
            return "a chunk index"
        chunks = [v for k, v in self._rfs["refs"].items() if k.startswith(f"{path}/c/")]
        where = " in the document" if any(isinstance(value, str) for value in chunks) else ""
        return f"{len(chunks)} chunk{'s' * (len(chunks) != 1)}{where}"


def bits(text: str) -> bytes:
    """Zeros and ones as bytes."""
    whole = text + "0" * (-len(text) % 8)
    return bytes(int(whole[start : start + 8], 2) for start in range(0, len(whole), 8))


def deflated(data: bytes) -> bytes:
    return zlib.compress(data)
