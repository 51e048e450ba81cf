"""Writes a folder of golden documents: for a new version of the format, never over a released one."""

import base64
import json
import math
import sys
import zlib
from pathlib import Path

import numpy as np

from shadowzarr import RfsBuilder, write_rfs
from shadowzarr.builder import columns_selection

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ZLIB = {"name": "numcodecs.zlib", "configuration": {"level": 9}}
ATTRIBUTES = {
    "nan": math.nan,
    "bounds": [1.5, -math.inf, math.inf],
    "text": "NaN",
    "digest": b"\xff\x00A",
    "count": 2**53 + 1,
    "nested": {"ö": [True, None]},
}


class Source:
    """The file that the documents point into."""

    def __init__(self, url):
        self.url = url
        self.data = b"golden source, 1\n"

    def add(self, data):
        offset = len(self.data)
        self.data += data
        return offset


def add_listed(builder, source):
    values = np.arange(-20, 20).astype("<i2").reshape(10, 4)
    builder.add_array("listed", shape=[10, 4], data_type="int16", chunk_shape=[4, 4])
    for row in (0, 4, 8):  # the last chunk is short
        part = values[row : row + 4].tobytes()
        builder.add_chunk("listed", (row // 4, 0), source.url, source.add(part), len(part))
    return values


def add_compressed(builder, source):
    values = (np.arange(24) * 1000).astype(">u4").reshape(4, 6)
    big = {"name": "bytes", "configuration": {"endian": "big"}}
    builder.add_array("compressed", shape=[4, 6], data_type="uint32", chunk_shape=[4, 3], codecs=[big, ZLIB])
    for column in (0, 3):
        part = zlib.compress(values[:, column : column + 3].tobytes())
        builder.add_chunk("compressed", (0, column // 3), source.url, source.add(part), len(part))
    return values


def add_indexed(builder, source):
    values = np.arange(120, dtype="<u2").reshape(20, 6)
    index = np.full((10, 3, 2), 2**64 - 1, dtype=np.uint64)
    for row, column in np.ndindex(10, 3):
        region = np.s_[row * 2 : row * 2 + 2, column * 2 : column * 2 + 2]
        if (row + column) % 4 == 3:
            values[region] = 9
            continue
        part = zlib.compress(values[region].tobytes())
        index[row, column] = source.add(part), len(part)
    builder.add_array(
        "group/indexed",
        shape=[20, 6],
        data_type="uint16",
        chunk_shape=[2, 2],
        codecs=[LITTLE, ZLIB],
        fill_value=9,
        dimension_names=["time", "channel"],
    )
    builder.add_index("group/indexed", source.url, index)
    return values


def add_columns(builder, source):
    stored = np.arange(30 * 5, dtype="<i2").reshape(30, 5)
    builder.add_array("columns", shape=[30, 3], data_type="int16", chunk_shape=[8, 3])
    builder.add_selection("columns", *columns_selection(n_columns=5, itemsize=2, columns=[3, 0, 1]))
    start = source.add(stored.tobytes())
    builder.add_contiguous_chunks(
        "columns", url=source.url, start=start, shape=[30, 3], chunk_shape=[8, 3], itemsize=2, row_bytes=10
    )
    return stored[:, [3, 0, 1]]


def add_inline(builder):
    letters = np.array([f"text {n} ü" for n in range(300)], dtype=object)
    items = [text.encode() for text in letters]
    data = len(items).to_bytes(4, "little") + b"".join(len(i).to_bytes(4, "little") + i for i in items)
    vlen = [{"name": "vlen-utf8", "configuration": {}}]
    builder.add_array("text", shape=[300], data_type="string", chunk_shape=[300], codecs=vlen)
    builder.add_inline_chunk("text", (0,), data)
    builder.add_array("scalar", shape=[], data_type="float64", chunk_shape=[])
    builder.add_inline_chunk("scalar", (), np.float64(-0.5).tobytes())
    order = [{"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE]
    turned = np.arange(6, dtype="<i4").reshape(2, 3)
    builder.add_array("turned", shape=[2, 3], data_type="int32", chunk_shape=[2, 3], codecs=order)
    builder.add_inline_chunk("turned", (0, 0), turned.T.tobytes())
    builder.add_array("empty", shape=[0, 2], data_type="float32", chunk_shape=[1, 2])
    builder.add_array("unwritten", shape=[3], data_type="float32", chunk_shape=[2], fill_value="NaN")
    builder.add_array(
        "names/100% #1 ?", shape=[2], data_type="bool", chunk_shape=[2], attributes={"a": math.nan}
    )
    builder.add_inline_chunk("names/100% #1 ?", (0,), b"\x01\x00")
    return {
        "text": letters,
        "scalar": np.float64(-0.5),
        "turned": turned,
        "empty": np.zeros((0, 2), dtype="f4"),
        "unwritten": np.full(3, np.nan, dtype="f4"),
        "names/100% #1 ?": np.array([True, False]),
    }


def add_slabs(builder, source):
    """Last in the file, which ends with the array in the middle of the last slab."""
    values = np.linspace(0, 1, 100)
    builder.add_array("slabs", shape=[100], data_type="float64", chunk_shape=[16])
    start = source.add(values.tobytes())
    builder.add_contiguous_chunks(
        "slabs", url=source.url, start=start, shape=[100], chunk_shape=[16], itemsize=8
    )
    return values


def document(url, *, selected):
    """A document with all kinds of arrays, the file it points into, and the values."""
    builder, source = RfsBuilder(), Source(url)
    builder.add_group("", ATTRIBUTES)
    builder.add_group("group", {"plain": "text"})
    values = {"listed": add_listed(builder, source), "compressed": add_compressed(builder, source)}
    values["group/indexed"] = add_indexed(builder, source)
    columns = add_columns(builder if selected else RfsBuilder(), source)
    if selected:
        values["columns"] = columns
    values |= add_inline(builder)
    values["slabs"] = add_slabs(builder, source)
    builder.add_source(url, len(source.data))
    return builder.build(), source.data, values


def write_relative(rfs, target, file, place):
    """Write a document, and let it name its source relative to itself, so that the folder can be moved."""
    write_rfs(rfs, target)
    written = target / "refs.json" if target.is_dir() else target
    written.write_text(written.read_text().replace(str(file), place))


def metadata(shape, data_type, chunk):
    """Metadata of an array as text."""
    builder = RfsBuilder()
    builder.add_array("a", shape=[shape], data_type=data_type, chunk_shape=[chunk])
    return builder.build()["refs"]["a/zarr.json"]


def kerchunk(size, slabs_start):
    """As other writers have it."""
    return {
        "version": 1,
        "templates": {"u": "raw.bin"},
        "refs": {
            "zarr.json": {"zarr_format": 3, "node_type": "group", "attributes": {"plain": "text"}},
            "slabs/zarr.json": metadata(100, "float64", 16),
            "plain/zarr.json": metadata(5, "uint8", 5),
            "plain/c/0": "hello",
            "whole/zarr.json": metadata(size, "uint8", size),
            "whole/c/0": ["{{u}}"],
        },
        "gen": [
            {
                "key": "slabs/c/{{ i }}",
                "url": "{{ u }}",
                "offset": f"{{{{ {slabs_start} + i * (16 * 8) }}}}",
                "length": "{{ 16 * 8 }}",
                "dimensions": {"i": {"stop": 7}},
            }
        ],
    }


BARE_NAN_ROOT = (
    '{"zarr_format":3,"node_type":"group",'
    '"attributes":{"nan":NaN,"bounds":[1.5,-Infinity,Infinity],"text":"NaN"}}'
)
BARE_NAN = {"version": 1, "refs": {"zarr.json": BARE_NAN_ROOT}, "note": math.nan}


def attribute(value):
    """An attribute as JSON can hold it."""
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value).replace("nan", "NaN").replace("inf", "Infinity")}
    if isinstance(value, list):
        return [attribute(item) for item in value]
    return {key: attribute(item) for key, item in value.items()} if isinstance(value, dict) else value


def array(values):
    """An array as JSON can hold it."""
    values = np.asarray(values)
    return {
        "shape": values.shape,
        "dtype": "string" if values.dtype == object else values.dtype.newbyteorder("=").name,
        "values": attribute(values.tolist()),
    }


def main(folder):
    """Write the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder.resolve() / "raw.bin"
    listed, data, values = document(str(file), selected=False)
    file.write_bytes(data)
    write_relative(listed, folder / "listed.shadowzarr.json", file, "raw.bin")
    selected, _, values = document(str(file), selected=True)
    write_relative(selected, folder / "selected.shadowzarr.json", file, "raw.bin")
    write_relative(selected, folder / "directory.shadowzarr", file, "../raw.bin")
    (folder / "kerchunk.json").write_text(json.dumps(kerchunk(len(data), len(data) - 800), indent=1) + "\n")
    (folder / "bare-nan.json").write_text(json.dumps(BARE_NAN) + "\n")
    values |= {"plain": np.frombuffer(b"hello", "u1"), "whole": np.frombuffer(data, "u1")}
    expected = {
        "attributes": {
            "": attribute(ATTRIBUTES),
            "group": {"plain": "text"},
            "names/100% #1 ?": {"a": attribute(math.nan)},
        },
        "arrays": {path: array(value) for path, value in values.items()},
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=None) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
