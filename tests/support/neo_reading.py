"""What references give of a recording, beside what NEO reads of it: raw integers, and in units."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from shadowzarr.attributes import decode_attributes
from shadowzarr.builder import RfsBuilder
from shadowzarr.formats.neo_rawio.generate import generate_rfs_neo
from shadowzarr.formats.neo_rawio.virtual_arrays import virtual_arrays_neo
from shadowzarr.store.open_rfs import open_rfs


def streams_of(reader: Any) -> Iterator[tuple[str, int, int, int, str]]:
    """Prefix of paths, block, segment, index and id of every stream of every segment."""
    is_one = sum(reader.segment_count(b) for b in range(reader.block_count())) == 1
    for block in range(reader.block_count()):
        for segment in range(reader.segment_count(block)):
            prefix = "" if is_one else f"block{block}/segment{segment}/"
            for index, stream in enumerate(reader.header["signal_streams"]):
                yield prefix, block, segment, index, str(stream["id"])


def read_by_neo(reader: Any, block: int, segment: int, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Raw values, and values in units."""
    if reader.get_signal_size(block, segment, index) == 0:
        empty = np.zeros((0, reader.signal_channels_count(index)))
        return empty, empty
    raw = np.asarray(reader.get_analogsignal_chunk(block, segment, stream_index=index))
    return raw, reader.rescale_signal_raw_to_float(raw, dtype="float64", stream_index=index)


def columns(entry: Any) -> Any:
    """What selects an array's columns for a stream."""
    taken = entry["columns"]
    return slice(taken["start"], taken["stop"]) if isinstance(taken, dict) else taken


def in_units(raw: np.ndarray, entry: Any) -> np.ndarray:
    """Values in units by a stream's attributes, computed in the order in which NEO computes them."""
    values = raw.astype("float64")
    if np.any(np.asarray(entry["gain"]) != 1):
        values *= np.asarray(entry["gain"])
    if np.any(np.asarray(entry["offset"]) != 0):
        values += np.asarray(entry["offset"])
    return values


def assert_same(reader: Any, *, left_out: int | None = 0, **options: Any) -> dict[str, Any]:
    """All of a recording equals NEO's read, through references and through virtual arrays.

    ``left_out`` is the number of arrays that are left out by name; None for any number.
    """
    rfs: dict[str, Any] = generate_rfs_neo(reader, **options)
    skipped = {entry["path"].strip("/"): entry["reason"] for entry in rfs.get("skipped", [])}
    assert left_out is None or len(skipped) == left_out, skipped
    found = dict(_found(open_rfs(rfs), rfs))
    arrays = virtual_arrays_neo(reader)
    virtual = _opened(arrays)
    for prefix, block, segment, index, stream_id in streams_of(reader):
        if prefix + stream_id not in found:
            assert _is_named(reader, prefix, index, stream_id, skipped), (prefix, stream_id)
            assert prefix + stream_id in arrays.left_out
            continue
        array, entry = found[prefix + stream_id]
        raw, scaled = read_by_neo(reader, block, segment, index)
        _assert_equal(array[:][:, columns(entry)], raw, scaled, entry)
        _assert_about(reader, block, segment, index, entry)
        about = arrays[prefix + stream_id].attributes
        _assert_equal(virtual[prefix + stream_id][:], raw, scaled, about)
    return rfs


def _assert_equal(got: np.ndarray, raw: np.ndarray, scaled: np.ndarray, entry: Any) -> None:
    assert got.shape == raw.shape
    if raw.size:
        assert got.dtype == raw.dtype.newbyteorder("="), (got.dtype, raw.dtype)
    assert np.array_equal(got, raw)
    assert np.array_equal(in_units(got, entry), scaled)


def _assert_about(reader: Any, block: int, segment: int, index: int, entry: Any) -> None:
    header = reader.header["signal_channels"]
    own = header[header["stream_id"] == reader.header["signal_streams"][index]["id"]]
    ids = entry["channel_ids"]
    if isinstance(ids, dict):
        ids = [ids["prefix"] + name for name in entry["channel_names"]]
    assert ids == [str(each) for each in own["id"]]
    assert entry["channel_names"] == [str(each) for each in own["name"]]
    for name, field in (("units", "units"), ("gain", "gain"), ("offset", "offset")):
        values = entry[name] if isinstance(entry[name], list) else [entry[name]] * len(own)
        assert values == list(own[field])
    assert entry["sampling_rate"] == reader.get_signal_sampling_rate(index)
    assert entry["t_start"] == reader.get_signal_t_start(block, segment, index)
    assert entry["name"] == str(reader.header["signal_streams"][index]["name"])


def _is_named(reader: Any, prefix: str, index: int, stream_id: str, skipped: dict[str, str]) -> bool:
    buffer_id = str(reader.header["signal_streams"][index]["buffer_id"])
    return prefix + stream_id in skipped or prefix + buffer_id in skipped


def _found(root: Any, rfs: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for key, text in rfs["refs"].items():
        path, _, name = key.rpartition("/")
        if name != "zarr.json" or not path or '"array"' not in text:
            continue
        prefix = path.rpartition("/")[0] + "/" if "/" in path else ""
        for entry in decode_attributes(json.loads(text)["attributes"])["neo"]["streams"]:
            yield prefix + entry["id"], (root[path], entry)


def _opened(arrays: dict[str, Any]) -> Any:
    """Virtual arrays in one document, opened."""
    builder = RfsBuilder()
    for name, array in arrays.items():
        array.add_to(builder, name)
    return open_rfs(builder.build())
