"""What random files found: each a file that read wrong, or was lost, and its right values."""

import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

from shadowzarr.verify import verify_rfs


@pytest.mark.parametrize("shape", [(), (3,)])
def test_never_allocated_behind_a_user_block(path: Path, generate: Callable, shape: tuple) -> None:
    with h5py.File(path, "w", userblock_size=2048) as f:
        f.create_dataset("d", shape, "<i2", fillvalue=7)
        f.create_dataset("long", (5000,), "<i2")
    made = generate()
    assert made["d"].tolist() == np.full(shape, 7).tolist()
    assert made.chunks("d") == made.chunks("long") == {}
    assert verify_rfs(made.rfs, mode="full").equal


def test_an_array_of_arrays(path: Path, generate: Callable, add_low_level: Callable) -> None:
    tid = h5t.array_create(h5t.array_create(h5t.STD_U8LE, (2,)), (3,))
    add_low_level("d", tid, (2,), raw=bytes(range(12)))
    filtered = h5p.create(h5p.DATASET_CREATE)
    filtered.set_chunk((2,))
    filtered.set_deflate(4)
    add_low_level("filtered", tid, (2,), raw=bytes(range(12)), dcpl=filtered)
    made = generate()
    for name in ("d", "filtered"):
        np.testing.assert_array_equal(made[name], np.arange(12, dtype="u1").reshape(2, 3, 2))
    assert verify_rfs(made.rfs, mode="full").equal


def test_opaque_values_with_a_tag_in_a_compound(path: Path, generate: Callable) -> None:
    opaque = h5t.create(h5t.OPAQUE, 3)
    opaque.set_tag(b"tag")
    tid = h5t.create(h5t.COMPOUND, 4)
    tid.insert(b"o", 0, opaque)
    tid.insert(b"n", 3, h5t.STD_U8LE)
    with h5py.File(path, "w") as f:
        dataset = h5d.create(f.id, b"d", tid, h5s.create_simple((2,)))
        dataset.write(h5s.ALL, h5s.ALL, np.frombuffer(b"abc\1def\2", "V4").copy(), tid)
    made = generate()
    assert made["d"]["n"].tolist() == [1, 2]
    assert made["d"]["o"].tobytes() == b"abcdef"
    assert verify_rfs(made.rfs, mode="full").equal


@pytest.mark.parametrize("name", ["\\", "a\\", "\\b", "a\\\\b", "..\\b", "group\\b"])
def test_backslashes_that_zarr_takes_for_something_else(path: Path, generate: Callable, name: str) -> None:
    with h5py.File(path, "w") as f:
        f["group/b"] = [1]
        f[name] = [2]
    made = generate()
    assert "backslash" in made.skipped()[f"/{name}"]
    assert made["group/b"].tolist() == [1]
    assert verify_rfs(made.rfs, mode="full").equal


def test_an_attribute_with_a_reference_to_what_has_no_path(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f["\\"] = [1]
        f.attrs["to"] = f["\\"].ref
        f.attrs["list"] = np.array([f["\\"].ref, h5py.Reference()], h5py.ref_dtype)
    made = generate()
    assert made.attributes() == {}
    assert {"/@to", "/@list"} <= set(made.skipped())
    assert verify_rfs(made.rfs, mode="full").equal


def test_long_doubles_that_are_no_numbers(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        f.attrs["x"] = np.array([np.nan, 1, -np.inf], np.longdouble)
    made = generate()
    assert np.isnan(made.attributes()["x"][0])
    assert verify_rfs(made.rfs, mode="full").equal


def test_chunks_that_no_codec_of_the_chain_decodes(path: Path, generate: Callable) -> None:
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_chunk((4,))
    properties.set_fletcher32()
    properties.set_deflate(4)  # an unusual order, so that codecs are tried on a chunk
    with h5py.File(path, "w") as f:
        made = h5py.Dataset(h5d.create(f.id, b"d", h5t.STD_I64LE, h5s.create_simple((4,)), properties))
        made.id.write_direct_chunk((0,), zlib.compress(bytes(range(32)))[::-1], 0)
        f["left"] = 1
    made = generate()
    assert made["left"] == 1
    assert "does not decode by the filters fletcher32, gzip" in made.skipped()["/d"]


def test_a_null_dataspace_of_sequences_that_h5py_would_misread(path: Path, generate: Callable) -> None:
    with h5py.File(path, "w") as f:
        h5d.create(f.id, b"d", h5t.vlen_create(h5t.STD_U32BE), h5s.create(h5s.NULL))
    made = generate()
    assert made.attributes("d")["_NULL_DATASPACE"] is True
    assert verify_rfs(made.rfs, mode="full").equal
