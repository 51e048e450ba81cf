"""The files by name, in the sizes that are published and in small ones."""

from __future__ import annotations

from . import chunk_indexes, nwb, small_objects
from .written_file import BenchmarkFile

WARM_UP = BenchmarkFile(
    "warm",
    "warming up",
    nwb.write_nwb_recording,
    {"samples": 2_000, "channels": 2, "chunk": [500, 1]},
    nwb.RECORDING,
    ".nwb",
)
"""A small file that every contender reads once before its time is taken."""


def files(*, is_quick: bool) -> dict[str, BenchmarkFile]:
    """Give the files by name.

    Parameters
    ----------
    is_quick : bool
        Small sizes, for seeing that everything works; their figures mean little.
    """
    listed = [*_index_files(is_quick), *_nwb_files(is_quick), *_other_files(is_quick)]
    return {each.name: each for each in listed}


def _count(number: int) -> str:
    return f"{number:,}"


def _index_files(is_quick: bool) -> list[BenchmarkFile]:
    rows, samples = (16, 4096) if is_quick else (512, 65_536)
    found = [
        BenchmarkFile(
            "scattered",
            f"v1 B-tree, {_count(rows * 384)} chunks scattered over {rows * 384 * samples * 2 / 1e9:.3g} GB",
            chunk_indexes.write_scattered,
            {"rows": rows, "channels": 384, "samples": samples},
            "data",
        )
    ]
    chunks, nbytes = (2_000, 4096) if is_quick else (50_000, 16_384)
    kinds = ("fixed array", "extensible array", "v2 B-tree")
    for growing, kind in enumerate(kinds):
        found.append(
            BenchmarkFile(
                kind.replace(" ", "-").lower(),
                f"{kind}, {_count(chunks)} chunks",
                chunk_indexes.write_index,
                {"growing": growing, "chunks": chunks, "nbytes": nbytes},
                "data",
            )
        )
    return found


def _nwb_files(is_quick: bool) -> list[BenchmarkFile]:
    found = []
    for objects, nbytes in ((100, 296_000_000), (400, 296_000_000)):
        size = nbytes // (40 if is_quick else 1)
        found.append(
            BenchmarkFile(
                f"nwb-{objects}",
                f"NWB file by pynwb, {objects} objects, {size / 1e6:.0f} MB",
                nwb.write_nwb_objects,
                {"objects": objects, "nbytes": size},
                "acquisition/series000/data",
                ".nwb",
            )
        )
    samples = 43_008 if is_quick else 781_312
    found.append(
        BenchmarkFile(
            "recording",
            f"NWB recording, {samples * 256 / 1e6:.0f} MB before gzip",
            nwb.write_nwb_recording,
            {"samples": samples, "channels": 128, "chunk": [7_168, 8]},
            nwb.RECORDING,
            ".nwb",
        )
    )
    rows = 125 if is_quick else 12_500
    found.append(
        BenchmarkFile(
            "nwb-tiny",
            f"NWB recording, {_count(rows * 160)} chunks",
            nwb.write_nwb_tiny,
            {"rows": rows, "channels": 160, "samples": 8},
            nwb.RECORDING,
            ".nwb",
        )
    )
    return found


def _other_files(is_quick: bool) -> list[BenchmarkFile]:
    rows = 125 if is_quick else 12_500
    objects = 300 if is_quick else 3_000
    return [
        BenchmarkFile(
            "tiny",
            f"{_count(rows * 160)} chunks of 16 bytes",
            chunk_indexes.write_tiny,
            {"rows": rows, "channels": 160, "samples": 8},
            "data",
        ),
        BenchmarkFile(
            "objects",
            f"{_count(objects)} small objects with strings and attributes",
            small_objects.write_small_objects,
            {"objects": objects},
        ),
        BenchmarkFile(
            "neighbours",
            "chunks of 2 kB",
            chunk_indexes.write_neighbours,
            {"chunks": 3_000, "samples": 1_024},
            "data",
        ),
        BenchmarkFile(
            "slab",
            "one contiguous slab of 4 MiB",
            chunk_indexes.write_contiguous,
            {"samples": 16_384, "channels": 128},
            "data",
        ),
    ]
