"""One small HDF5 file with a bit of everything that references can get wrong."""

import h5py
import numpy as np

SLAB = 4096
"""Bytes of a slab of the contiguous dataset, for ``contiguous_chunk_bytes``."""

MANY = 30
"""Number of chunks above which an array has an index, for ``chunk_index_threshold``."""


def write_sample(path):
    random = np.random.default_rng(1)
    with h5py.File(path, "w") as file:
        group = file.create_group("group")
        group.attrs["kind"] = "a group"
        group["inner"] = np.arange(400.0)
        packed = file.create_dataset(
            "packed",
            data=random.integers(0, 99, (20, 30), dtype="i4"),
            chunks=(8, 10),
            shuffle=True,
            compression="gzip",
        )
        packed.attrs["unit"] = "mV"
        packed.attrs["count"] = 3
        packed.attrs["large"] = np.uint64(2**64 - 1)
        packed.attrs["scale"] = 2.0
        packed.attrs["one"] = np.array([7])
        packed.attrs["resolution"] = np.nan
        packed.attrs["digest"] = np.void(b"\x00\xff\x01")
        packed.attrs["target"] = group.ref
        file.create_dataset("plain", data=random.integers(0, 9999, 3000, dtype="i2"), chunks=(1000,))
        file.create_dataset("square", data=random.random((20, 20)))
        file.create_dataset("slabs", data=random.random(4000))
        file.create_dataset("many", data=np.arange(6400, dtype="u2"), chunks=(100,))
        sparse = file.create_dataset("sparse", shape=(900,), dtype="f8", chunks=(300,), fillvalue=-1.0)
        sparse[300:600] = random.random(300)
        bits = np.array([0x7FF8000000000001, 0, 1 << 63], "u8").view("f8")
        file.create_dataset("odd_floats", data=np.resize(bits, 300), chunks=(300,))
        file["text"] = ["alpha", "βeta", ""]
        file["word"] = "only"
        file["one_word"] = np.array(["only"], dtype=object)
        file["number"] = np.float64(2.5)
        file["flags"] = np.array([True, False, True])
        references = file.create_dataset("references", shape=(3,), dtype=h5py.ref_dtype)
        references[0], references[1] = group.ref, packed.ref
        row = np.dtype([("start", "<i4"), ("weight", "<f8"), ("series", h5py.ref_dtype)])
        table = file.create_dataset("table", shape=(2,), dtype=row)
        table[0], table[1] = (1, 0.5, group.ref), (2, 1.5, packed.ref)
        file["same_group"] = group
        file["link"] = h5py.SoftLink("/packed")
        regions = file.create_dataset("regions", shape=(1,), dtype=h5py.regionref_dtype)
        regions[0] = packed.regionref[0:2]
        file.create_dataset("swapped", (1,), h5py.vlen_dtype(np.dtype(">i4")))  # what h5py misreads
    return path
