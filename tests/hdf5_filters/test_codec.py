import json
import pickle
import subprocess
import sys

import h5py
import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from zarr.registry import get_codec_class
from zarr.storage import MemoryStore

from shadowzarr.errors import DamagedSourceError, InvalidReferencesError, UnsupportedError
from shadowzarr.hdf5_filters.codec import HDF5FiltersCodec
from shadowzarr.hdf5_filters.names import CODEC_NAME, codec_entry

LZF = ((2, (4,)), (32000, (4, 261, 240)))


def test_it_is_found_by_name():
    assert get_codec_class(CODEC_NAME) is HDF5FiltersCodec


def test_it_goes_to_json_and_back():
    codec = HDF5FiltersCodec(LZF)
    assert HDF5FiltersCodec.from_dict(json.loads(json.dumps(codec.to_dict()))) == codec
    assert codec.to_dict()["configuration"]["filters"][1] == {
        "id": 32000,
        "name": "lzf",
        "cd_values": [4, 261, 240],
    }
    assert pickle.loads(pickle.dumps(codec)) == codec
    assert len({codec, HDF5FiltersCodec(LZF), HDF5FiltersCodec(LZF[:1])}) == 2


@pytest.mark.parametrize(
    "configuration",
    [
        {},
        {"filters": 5},
        {"filters": [1]},
        {"filters": [{"id": 1}]},
        {"filters": [{"id": 1, "cd_values": [-1]}]},
        {"filters": [{"id": 1, "cd_values": [2**32]}]},
        {"filters": [{"id": 1, "cd_values": [1.5]}]},
        {"filters": [{"id": 0, "cd_values": []}]},
        {"filters": [{"id": 70000, "cd_values": []}]},
        {"filters": [{"id": "1", "cd_values": []}]},
    ],
)
def test_other_configurations_are_refused(configuration):
    with pytest.raises(InvalidReferencesError, match="list of filters"):
        HDF5FiltersCodec.from_dict({"name": CODEC_NAME, "configuration": configuration})


def test_zarr_writes_reads_and_copies():
    values = np.arange(23 * 17, dtype="int32").reshape(23, 17)
    store = MemoryStore()
    first = zarr.create_array(
        store, name="a", shape=(23, 17), chunks=(6, 10), dtype="int32", compressors=[HDF5FiltersCodec(LZF)]
    )
    first[...] = values
    assert (zarr.open_array(store, path="a")[...] == values).all()
    second = zarr.create_array(
        store, name="b", shape=(23, 17), chunks=(6, 10), dtype="int32", compressors=first.compressors
    )
    second[...] = first[...]
    assert (zarr.open_array(store, path="b")[5:20, 3:] == values[5:20, 3:]).all()


def test_a_damaged_chunk_is_an_error():
    store = MemoryStore()
    array = zarr.create_array(
        store, name="a", shape=(60,), chunks=(60,), dtype="int32", compressors=[HDF5FiltersCodec(LZF)]
    )
    array[...] = np.arange(60)
    buffer = store._store_dict["a/c/0"]
    store._store_dict["a/c/0"] = buffer[: len(buffer) // 2]
    with pytest.raises(DamagedSourceError, match="shuffle, lzf"):
        array[...]


def test_sizes_are_not_known_beforehand():
    with pytest.raises(UnsupportedError):
        HDF5FiltersCodec(LZF).compute_encoded_size(10, None)


def test_plain_zarr_in_a_new_process_reads_it(tmp_path):
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=(60,), chunks=(60,), dtype="int32", compressors=[HDF5FiltersCodec(LZF)]
    )
    array[...] = np.arange(60)
    code = f"import zarr; print(int(zarr.open_array({str(tmp_path / 'a.zarr')!r})[...].sum()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1770"]


DTYPES = ["|i1", "<u2", ">i2", "<i4", ">u4", "<i8", ">f4", "<f8"]
FILTERS = [
    {"compression": "lzf"},
    {"compression": "lzf", "shuffle": True, "fletcher32": True},
    {"compression": "szip", "compression_opts": ("nn", 8)},
    {"compression": "szip", "compression_opts": ("ec", 4), "shuffle": True},
    {"scaleoffset": 2},
    {"compression": "gzip", "shuffle": True, "fletcher32": True},
]


@given(
    dtype=st.sampled_from(DTYPES),
    options=st.sampled_from(FILTERS),
    shape=st.tuples(st.integers(1, 40), st.integers(1, 20)),
    chunks=st.tuples(st.integers(1, 16), st.integers(1, 16)),
    spread=st.sampled_from([1, 3, 120]),
    seed=st.integers(0, 1000),
)
def test_chunks_of_any_file_equal_h5py(dtype, options, shape, chunks, spread, seed):
    chunks = tuple(min(pair) for pair in zip(shape, chunks, strict=True))
    values = np.random.default_rng(seed).integers(0, spread, shape).astype(dtype)
    with h5py.File("chunks", "w", driver="core", backing_store=False) as f:
        try:
            dataset = f.create_dataset("d", data=values, chunks=chunks, **options)
        except (ValueError, OSError):
            return  # szip wants as many elements as it has pixels in a block
        f.flush()
        properties = dataset.id.get_create_plist()
        entries = [properties.get_filter(number) for number in range(properties.get_nfilters())]
        store = MemoryStore()
        array = zarr.create_array(
            store,
            name="a",
            shape=shape,
            chunks=chunks,
            dtype=values.dtype,
            serializer=zarr.codecs.BytesCodec(endian="big" if dtype[0] == ">" else "little"),
            compressors=[codec_entry([(entry[0], entry[2]) for entry in entries])],
        )
        infos = []
        dataset.id.chunk_iter(infos.append)
        for info in infos:
            mask, stored = dataset.id.read_direct_chunk(info.chunk_offset)
            if mask:
                return  # such chunks are encoded anew, which the generator's tests look at
            coordinates = [offset // edge for offset, edge in zip(info.chunk_offset, chunks, strict=True)]
            key = "a/c/" + "/".join(map(str, coordinates))
            store._store_dict[key] = zarr.core.buffer.cpu.Buffer.from_bytes(stored)
        np.testing.assert_array_equal(array[...], dataset[...])
