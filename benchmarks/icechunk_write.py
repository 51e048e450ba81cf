"""How long virtual chunks take into an Icechunk session and its commit, beside VirtualiZarr's writer.

    python -m benchmarks.icechunk_write [--chunks 2000000] [--rounds 3]

Both are given the same offsets and lengths, in memory: this library a document with a chunk index,
VirtualiZarr a ManifestArray. Each round writes both into repositories of their own, in turns that change, and
prints seconds of writing and of committing, seconds of CPU of both, and the bytes of the repository.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import icechunk
import numpy as np
import xarray as xr
from virtualizarr.manifests import ChunkManifest, ManifestArray
from virtualizarr.writers.icechunk import virtual_dataset_to_icechunk
from zarr.core.metadata.v3 import ArrayV3Metadata

from shadowzarr.icechunk import open_repository, rfs_to_icechunk
from shadowzarr.refs.document import Rfs
from shadowzarr.refs.zarr_metadata import array_metadata, group_metadata

CHUNK = 1000
"""Values of a chunk, compressed to a number of bytes that differs from chunk to chunk."""


def places(count: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Offsets and lengths of compressed chunks that follow each other with gaps: uint64, in bytes."""
    lengths = np.random.default_rng(0).integers(500, 2000, count, dtype=np.uint64)
    gaps = np.random.default_rng(1).integers(0, 64, count, dtype=np.uint64)
    return np.cumsum(lengths + gaps) - lengths, lengths


def metadata_of(count: int) -> dict[str, Any]:
    """Metadata of the array: int16, one axis, zlib."""
    return array_metadata(
        shape=(count * CHUNK,),
        data_type="int16",
        chunk_shape=(CHUNK,),
        codecs=[
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "numcodecs.zlib", "configuration": {"level": 4}},
        ],
        fill_value=0,
        dimension_names=("time",),
    )


def document(path: Path, offsets: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any]) -> Rfs:
    """The references, with the chunk index in memory."""
    return {
        "version": 2,
        "format": 1,
        "requires": ["indexes"],
        "refs": {
            "zarr.json": json.dumps(group_metadata()),
            "data/zarr.json": json.dumps(metadata_of(len(offsets))),
        },
        "indexes": {"data": {"url": str(path), "index": np.stack([offsets, lengths], axis=1)}},
        "sources": {str(path): {"size": path.stat().st_size}},
    }


def dataset(path: Path, offsets: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any]) -> xr.Dataset:
    """The virtual dataset that VirtualiZarr writes."""
    paths = np.full(len(offsets), path.as_uri(), dtype=np.dtypes.StringDType())
    manifest = ChunkManifest.from_arrays(paths=paths, offsets=offsets, lengths=lengths)
    metadata = ArrayV3Metadata.from_dict(metadata_of(len(offsets)))
    array = ManifestArray(metadata=metadata, chunkmanifest=manifest)
    return xr.Dataset({"data": xr.Variable(("time",), array)})


def ours(path: Path, rfs: Rfs, session: icechunk.Session) -> None:
    """Write by this library."""
    rfs_to_icechunk(rfs, session)


def theirs(path: Path, vds: xr.Dataset, session: icechunk.Session) -> None:
    """Write by VirtualiZarr."""
    virtual_dataset_to_icechunk(vds, session.store)


def theirs_unchecked(path: Path, vds: xr.Dataset, session: icechunk.Session) -> None:
    """Write by VirtualiZarr, which does not look whether there are containers."""
    virtual_dataset_to_icechunk(vds, session.store, validate_containers=False)


def timed(write: Any, path: Path, given: Any, folder: Path) -> tuple[float, float, float, int]:
    """Seconds of writing and of committing into a new repository, of CPU for both, and its bytes."""
    repo = open_repository(folder, [path.as_uri()])
    session = repo.writable_session("main")
    gc.collect()
    cpu, start = time.process_time(), time.perf_counter()
    write(path, given, session)
    between = time.perf_counter()
    session.commit("virtual chunks")
    end, cpu = time.perf_counter(), time.process_time() - cpu
    nbytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return between - start, end - between, cpu, nbytes


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--chunks", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    icechunk.set_logs_filter("error")
    offsets, lengths = places(options.chunks)
    totals: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "data.bin"
        with path.open("wb") as file:
            file.truncate(int(offsets[-1] + lengths[-1]))  # sparse: nothing of it is read but one byte
        rfs, vds = document(path, offsets, lengths), dataset(path, offsets, lengths)
        contenders: list[tuple[str, Any, Any]] = [
            ("shadowzarr", ours, rfs),
            ("VirtualiZarr", theirs, vds),
            ("VirtualiZarr, containers not checked", theirs_unchecked, vds),
        ]
        for number in range(options.rounds):
            for name, write, given in contenders[number % 3 :] + contenders[: number % 3]:
                folder = Path(scratch) / f"{number}-{name}"
                writing, committing, cpu, nbytes = timed(write, path, given, folder)
                totals.setdefault(name, []).append((writing + committing, cpu))
                print(
                    f"round {number + 1}: {name}: writing {writing:.2f} s, commit {committing:.2f} s, "
                    f"CPU {cpu:.2f} s, {nbytes:,} bytes",
                    flush=True,
                )
    medians = {
        name: [statistics.median(column) for column in zip(*each, strict=True)]
        for name, each in totals.items()
    }
    own = medians.pop("shadowzarr")
    for name, theirs_took in medians.items():
        wall, cpu = (mine / other for mine, other in zip(own, theirs_took, strict=True))
        print(
            f"{options.chunks:,} chunks: shadowzarr takes {wall:.2f} of the time and {cpu:.2f} of the CPU "
            f"of {name}"
        )


if __name__ == "__main__":
    main()
