"""How long a gzip'd recording takes into an ordinary Zarr store, beside `h5py` and `zarr` in one process.

    python -m benchmarks.materialize [--megabytes 1024] [--quick] [--rounds 3] [--layout ephys]

The file lies on the local disk, with 16-bit samples that compress as recordings do. Theirs reads with h5py
and writes with zarr, about 64 MB of whole chunks of the output at a time, with a chunk cache for h5py that
holds as much, so that hardly a chunk is decompressed twice.
Each makes the same layout in a process of its own, in turns that change; both stores are compared once.
Prints seconds, the ratio, and the most memory of a process (its libraries counted).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import zarr

from shadowzarr import generate_rfs, materialize, write_rfs
from shadowzarr.export.materialize import LAYOUTS

PATH = "acquisition/data"
CHANNELS = 384
CHUNK = (15_000, 32)
"""Half a second at 30 kHz of 32 channels, about 1 MB."""

SLAB_BYTES = 64 * 2**20
MEBIBYTE = 2**20


def write_recording(path: Path, nbytes: int) -> None:
    """Noise around slow waves, as 16-bit numbers: gzip makes about two thirds of it."""
    rng = np.random.default_rng(0)
    samples = max(CHUNK[0], nbytes // (2 * CHANNELS))
    with h5py.File(path, "w") as file:
        data = file.create_dataset(PATH, (samples, CHANNELS), "i2", chunks=CHUNK, compression="gzip")
        for start in range(0, samples, CHUNK[0]):
            count = min(CHUNK[0], samples - start)
            waves = 200 * np.sin((start + np.arange(count)[:, None]) / 500 + np.arange(CHANNELS))
            data[start : start + count] = (waves + rng.normal(0, 20, (count, CHANNELS))).astype("i2")


def ours(refs: Path, out: Path, layout: str) -> None:
    """Materialize."""
    materialize(refs, out, layout=layout)


def theirs(source: Path, out: Path, layout: str) -> None:
    """Read slabs with h5py, and write them with zarr."""
    with h5py.File(source, rdcc_nbytes=SLAB_BYTES) as file:
        data = file[PATH]
        made: Any = zarr.create_array(
            zarr.open_group(out, mode="w").store,
            name=PATH,
            shape=data.shape,
            dtype=data.dtype,
            **(LAYOUTS[layout](PATH, data) or {}),
        )
        rows = _slab_rows(made.chunks[0], data.chunks[0], data.shape[1] * data.dtype.itemsize)
        for start in range(0, data.shape[0], rows):
            made[start : start + rows] = data[start : start + rows]


def _slab_rows(ours: int, theirs: int, row_nbytes: int) -> int:
    """Rows of whole chunks of the output, as near to those of the source as there is room."""
    even = math.lcm(ours, theirs)
    room = max(1, SLAB_BYTES // row_nbytes)
    return even if even <= room else max(1, room // ours) * ours


def run(kind: str, source: Path, out: Path, layout: str) -> dict[str, float]:
    """Do it in a new process, which tells how long it took and how much memory."""
    shutil.rmtree(out, ignore_errors=True)
    os.sync()
    command = [sys.executable, "-m", "benchmarks.materialize", "--child", kind, str(source), str(out), layout]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def child(kind: str, source: Path, out: Path, layout: str) -> None:
    """What the process does."""
    started = time.perf_counter()
    (ours if kind == "ours" else theirs)(source, out, layout)
    used = resource.getrusage(resource.RUSAGE_SELF)
    result = {
        "seconds": time.perf_counter() - started,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss * 1024,
    }
    print(json.dumps(result))


def compare(one: Path, other: Path) -> None:
    """See that both have the same cut and values."""
    a: Any = zarr.open_group(one, mode="r")[PATH]
    b: Any = zarr.open_group(other, mode="r")[PATH]
    if a.chunks != b.chunks or a.shape != b.shape:
        raise SystemExit(f"the stores differ: {a.shape} in {a.chunks}, {b.shape} in {b.chunks}")
    step = max(1, SLAB_BYTES // (a.shape[1] * a.dtype.itemsize))
    for start in range(0, a.shape[0], step):
        if not np.array_equal(a[start : start + step], b[start : start + step]):
            raise SystemExit(f"the stores differ from row {start:,} on")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1024, help="MiB of values")
    parser.add_argument("--quick", action="store_true", help="32 MiB, one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layout", choices=sorted(LAYOUTS), default="ephys")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        kind, source, out, layout = arguments.child
        child(kind, Path(source), Path(out), layout)
        return 0
    rounds = 1 if arguments.quick else arguments.rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, refs = folder / "recording.h5", folder / "recording.shadowzarr"
        write_recording(source, (32 if arguments.quick else arguments.megabytes) * MEBIBYTE)
        write_rfs(generate_rfs(source), refs)
        with h5py.File(source) as file:
            stored = file[PATH].id.get_storage_size()
            print(f"{file[PATH].size * 2:,} bytes of values, {stored:,} as they are stored")
        given = {"ours": refs, "theirs": source}
        results: dict[str, list[dict[str, float]]] = {"ours": [], "theirs": []}
        for turn in range(rounds):
            for kind in sorted(given, reverse=bool(turn % 2)):
                result = run(kind, given[kind], folder / kind, arguments.layout)
                results[kind].append(result)
                print(
                    f"{kind:6}: {result['seconds']:6.1f} s, {result['cpu']:6.1f} s of CPU, "
                    f"peak {result['peak'] / MEBIBYTE:,.0f} MiB"
                )
        compare(folder / "ours", folder / "theirs")
    show(results)
    return 0


def show(results: dict[str, list[dict[str, float]]]) -> None:
    """Print the medians and their ratio."""
    seconds = {kind: statistics.median(each["seconds"] for each in results[kind]) for kind in results}
    peak = max(each["peak"] for each in results["ours"]) / MEBIBYTE
    print(
        f"median {seconds['ours']:.1f} s against {seconds['theirs']:.1f} s: "
        f"{seconds['theirs'] / seconds['ours']:.2f} times as fast, peak {peak:,.0f} MiB"
    )


if __name__ == "__main__":
    sys.exit(main())
