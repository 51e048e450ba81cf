"""How long references for a TIFF of many pages take, beside the time that tifffile takes to list its pages.

    python -m benchmarks.tiff_pages [--pages 100000] [--rounds 5]

Writes a stack whose pages are evenly spaced, each behind its directory, as microscopes do, and prints both
times of each round, their ratio, and the size of the references.
"""

from __future__ import annotations

import argparse
import statistics
import struct
import tempfile
import time
from pathlib import Path

import tifffile

from shadowzarr import generate_rfs_tiff, write_rfs

WIDTH, ROWS = 32, 32
_SHORT, _LONG = 3, 4


def write_stack(path: Path, pages: int) -> None:
    """A classic TIFF of 8-bit pages of 32 by 32 pixels, each in one strip behind its directory.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    pages : int
        How many.
    """
    tags = 10
    directory = 2 + 12 * tags + 4
    stride = directory + WIDTH * ROWS
    with path.open("wb") as file:
        file.write(b"II" + struct.pack("<HL", 42, 8))
        for number in range(pages):
            start = 8 + number * stride
            following = start + stride if number + 1 < pages else 0
            values = [
                (256, _SHORT, WIDTH), (257, _SHORT, ROWS), (258, _SHORT, 8), (259, _SHORT, 1),
                (262, _SHORT, 1), (273, _LONG, start + directory), (277, _SHORT, 1), (278, _SHORT, ROWS),
                (279, _LONG, WIDTH * ROWS), (339, _SHORT, 1),
            ]  # fmt: skip
            entries = b"".join(struct.pack("<HHLL", code, kind, 1, value) for code, kind, value in values)
            pixels = struct.pack("<L", number) * (WIDTH * ROWS // 4)
            file.write(struct.pack("<H", tags) + entries + struct.pack("<L", following) + pixels)


def list_pages(path: Path) -> int:
    """Let tifffile list all pages and series; gives the number of pages."""
    with tifffile.TiffFile(path) as tif:
        list(tif.series)
        return len(tif.pages)


def measure(path: Path, rounds: int) -> tuple[list[float], list[float], int]:
    """Seconds of listing and of making references, in turns, and bytes of the references."""
    listing, making = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        list_pages(path)
        between = time.perf_counter()
        rfs = generate_rfs_tiff(path)
        listing.append(between - start)
        making.append(time.perf_counter() - between)
    out = path.with_suffix(".shadowzarr")
    write_rfs(rfs, out)
    return listing, making, sum(file.stat().st_size for file in out.rglob("*") if file.is_file())


def main() -> None:
    """Write the file, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stack.tif"
        write_stack(path, options.pages)
        listing, making, nbytes = measure(path, options.rounds)
    for number, (listed, made) in enumerate(zip(listing, making, strict=True), start=1):
        print(f"round {number}: tifffile lists in {listed:.2f} s, references in {made:.2f} s")
    ratio = statistics.median(making) / statistics.median(listing)
    print(f"{options.pages:,} pages: ratio of the medians {ratio:.2f}; references have {nbytes:,} bytes")


if __name__ == "__main__":
    main()
