"""How long references for 100 GB of recording take beside NEO's own parsing, and what reading a second costs.

    python -m benchmarks.neo_recordings [--gigabytes 100] [--channels 384] [--rounds 5] [--latency 0.03]

The recording is a sparse file of interleaved int16, so that it takes no room on disk. Prints the time that
NEO takes for its header, the time of references beyond that, their size, and the requests and bytes of a
read of one second of all channels from a server that answers after ``--latency`` seconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from neo.rawio import RawBinarySignalRawIO

from shadowzarr import generate_rfs_neo, open_rfs, write_rfs
from shadowzarr.testing import RangeServer

RATE = 30_000


def write_recording(path: Path, nbytes: int, channels: int) -> None:
    """A file of so many bytes, about, in whole samples, of which nothing is stored.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    nbytes, channels : int
        Its size, and int16 channels of a sample.
    """
    path.touch()
    os.truncate(path, nbytes // (2 * channels) * (2 * channels))


def measure(path: Path, channels: int, rounds: int, **options: Any) -> tuple[list[float], list[float], Any]:
    """Seconds that NEO takes for the header, seconds of the references after it, in turns, and these."""
    parsing, making, rfs = [], [], None
    for _ in range(rounds):
        reader = RawBinarySignalRawIO(str(path), sampling_rate=float(RATE), nb_channel=channels)
        start = time.perf_counter()
        reader.parse_header()
        between = time.perf_counter()
        rfs = generate_rfs_neo(reader, **options)
        parsing.append(between - start)
        making.append(time.perf_counter() - between)
    return parsing, making, rfs


def main() -> None:
    """Write the file, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=100)
    parser.add_argument("--channels", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.03)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.raw"
        write_recording(path, int(options.gigabytes * 1e9), options.channels)
        with RangeServer(folder, latency=options.latency, etag=None) as server:
            parsing, making, rfs = measure(
                path, options.channels, options.rounds, url_for=lambda _: server.url("a.raw")
            )
            out = Path(folder) / "a.shadowzarr"
            write_rfs(rfs, out)
            nbytes = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
            array: Any = open_rfs(out)["0"]
            begin = array.shape[0] // 2
            start = time.perf_counter()
            array[begin : begin + RATE]
            seconds = time.perf_counter() - start
            requests, sent = server.log.count(status=206), server.log.bytes_sent
    print(f"NEO parses the header in {statistics.median(parsing) * 1000:.2f} ms (median of {options.rounds})")
    print(f"references take {statistics.median(making) * 1000:.2f} ms more, and have {nbytes:,} bytes")
    print(f"one second of {options.channels} channels: {requests} requests, {sent:,} bytes, {seconds:.2f} s")


if __name__ == "__main__":
    main()
