"""What is read: the patterns of the reading benchmark (pure)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from benchmarks.files.catalogue import files
from benchmarks.files.chunk_indexes import MEASURED_ROW
from benchmarks.files.written_file import BenchmarkFile

Selection = list[tuple[int, int]]
"""Start and stop of each axis."""

RATE = 30_000
"""Samples in a second."""


@dataclass(frozen=True)
class Pattern:
    """One row of the table.

    Attributes
    ----------
    name, title : str
        For the command line and for the table.
    file : BenchmarkFile
        What is read.
    selections : list of Selection
        What is read of its dataset, one after the other; nothing for the structure of an NWB file.
    is_local : bool
        Whether the file and its references are on local disk; otherwise the file is behind the server.
    is_served : bool
        Whether the references are behind the server too.
    """

    name: str
    title: str
    file: BenchmarkFile
    selections: list[Selection] = field(repr=False, default_factory=list)
    is_local: bool = False
    is_served: bool = False

    @property
    def is_nwb(self) -> bool:
        """Whether an NWB file's structure is read."""
        return not self.selections


def patterns(*, is_quick: bool) -> list[Pattern]:
    """Give all of them."""
    catalogue = files(is_quick=is_quick)
    tiny, scattered = catalogue["tiny"], catalogue["scattered"]
    recording, neighbours = catalogue["recording"], catalogue["neighbours"]
    one_chunk: Selection = [(0, tiny.parameters["samples"]), (7, 8)]
    start = MEASURED_ROW * scattered.parameters["samples"]
    second = (start, start + min(RATE, scattered.parameters["samples"]))
    step, width = recording.parameters["chunk"]
    grid = f"of {tiny.title.split()[0]} chunks"
    return [
        Pattern("open", f"open the file {grid}, read one chunk", tiny, [one_chunk]),
        Pattern("open-served", "the same, references behind the server", tiny, [one_chunk], is_served=True),
        Pattern(
            "channel",
            f"open, 1 s of one channel, {scattered.title.split(' scat')[0]}",
            scattered,
            [[second, (17, 18)]],
        ),
        Pattern("channels", "1 s of all 384 channels, as many chunks", scattered, [[second, (0, 384)]]),
        Pattern(
            "chunks-24", "NWB recording, 24 chunks of 100 kB", recording, [[(0, 3 * step), (0, 8 * width)]]
        ),
        Pattern(
            "chunks-82",
            f"NWB recording, {min(82, _rows(recording) * 2)} chunks of 100 kB",
            recording,
            [[(0, min(41, _rows(recording)) * step), (0, 2 * width)]],
        ),
        Pattern("whole", recording.title + ", all of it", recording, [_whole(recording)]),
        Pattern(
            "neighbours",
            "300 neighbouring chunks of 2 kB",
            neighbours,
            [[(0, 300 * neighbours.parameters["samples"])]],
        ),
        Pattern("slab", "100 samples out of a slab of 4 MiB", catalogue["slab"], [[(5_000, 5_100), (0, 1)]]),
        Pattern(
            "slices",
            f"{1_000 if is_quick else 10_000:,} random small slices, local disk",
            neighbours,
            random_slices(neighbours, 1_000 if is_quick else 10_000),
            is_local=True,
        ),
        Pattern("nwb", f"structure of the NWB file {grid}, local disk", catalogue["nwb-tiny"], is_local=True),
    ]


def random_slices(file: BenchmarkFile, count: int, length: int = 50) -> list[Selection]:
    """Short slices all over a dataset of one axis, the same on every run."""
    draw = random.Random(9)
    end: Any = file.parameters["chunks"] * file.parameters["samples"] - length
    starts = [draw.randrange(end) for _ in range(count)]
    return [[(start, start + length)] for start in starts]


def _rows(recording: BenchmarkFile) -> int:
    return int(recording.parameters["samples"]) // int(recording.parameters["chunk"][0])


def _whole(recording: BenchmarkFile) -> Selection:
    return [(0, recording.parameters["samples"]), (0, recording.parameters["channels"])]
