"""Converting recordings to NWB by references, beside NeuroConv's own conversion, which copies.

    python -m benchmarks.nwb_conversion [--seconds 20] [--frames 2000] [--rounds 3]

A SpikeGLX session and a TIFF stack are written (`shadowzarr.testing.sample_recordings`) and converted with
the same interfaces and metadata, each way in a process of its own, in turns. Printed are bytes written, CPU
time and wall time, without the import of NeuroConv, which both need, and the ratios. Both read the recording
from the cache of the system. The samples are synthetic: how far a copy is compressed is that of these.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

WAYS = ("copied", "referenced")


def recordings_in(folder: Path) -> dict[str, Any]:
    """The recordings of the sample, by name, as the library's conversion takes them."""
    from shadowzarr.conversion.request import Interface, Recording

    session = Interface(
        "SpikeGLXRecordingInterface", {"folder_path": str(folder / "noise_g0"), "stream_id": "imec0.ap"}
    )
    stack = Interface(
        "TiffImagingInterface",
        {"file_paths": [str(folder / "imaging" / "stack.tif")], "sampling_frequency": 30.0},
    )
    metadata = (folder / "metadata.yaml",)
    return {
        "SpikeGLX": Recording("ecephys", {"ap": session}, metadata),
        "TIFF": Recording("ophys", {"imaging": stack}, metadata),
    }


def convert(way: str, recording: Any, out: Path) -> dict[str, float]:
    """Convert one recording in this process; CPU and wall seconds, and bytes written."""
    from shadowzarr.conversion.assemble import Session
    from shadowzarr.conversion.jobs import RecordingJob
    from shadowzarr.conversion.write_file import write_file

    start, cpu = time.perf_counter(), time.process_time()
    if way == "referenced":
        write_file(RecordingJob(recording, "an id", out / "a.nwb.shadowzarr"))
    else:
        from neuroconv.tools.nwb_helpers import configure_and_write_nwbfile

        nwbfile = Session(recording, identifier="an id").build()
        configure_and_write_nwbfile(nwbfile, nwbfile_path=out / "a.nwb", backend="hdf5")
    took = {"wall": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    return took | {"bytes": float(sum(f.stat().st_size for f in out.rglob("*") if f.is_file()))}


def measure(folder: Path, name: str, way: str) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.nwb_conversion"]
    command += ["--one", name, way, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Write the recordings, convert them in turns, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=3, metavar=("NAME", "WAY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, way, place = options.one
        with tempfile.TemporaryDirectory() as out:
            import_module("shadowzarr.conversion.write_file")  # which lets NeuroConv be imported
            import_module("neuroconv.datainterfaces")
            print(json.dumps(convert(way, recordings_in(Path(place))[name], Path(out))))
        return
    from shadowzarr.testing.sample_recordings import write_sample_recordings

    with tempfile.TemporaryDirectory() as place:
        written = write_sample_recordings(place, seconds=options.seconds, frames=options.frames)
        sizes = {"SpikeGLX": written[0].stat().st_size, "TIFF": written[2].stat().st_size}
        print("| recording | bytes of it | | written | CPU | wall |\n|---|---:|---|---:|---:|---:|")
        for name, size in sizes.items():
            rounds: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
            for _ in range(options.rounds):
                for way in WAYS:
                    rounds[way].append(measure(Path(place), name, way))
            best = {
                way: {key: statistics.median(each[key] for each in found) for key in ("bytes", "cpu", "wall")}
                for way, found in rounds.items()
            }
            _print_rows(name, size, best)


def _print_rows(name: str, size: int, found: dict[str, dict[str, float]]) -> None:
    for way in WAYS:
        nbytes, cpu, wall = (found[way][key] for key in ("bytes", "cpu", "wall"))
        print(f"| {name} | {size:,} | {way} | {nbytes:,.0f} | {cpu:.2f} s | {wall:.2f} s |")
    copied, referenced = found["copied"], found["referenced"]
    ratios = [f"{copied[key] / referenced[key]:,.1f}" for key in ("bytes", "cpu", "wall")]
    print(f"| {name} | | copied ÷ referenced | {' | '.join(ratios)} |")


if __name__ == "__main__":
    main()
