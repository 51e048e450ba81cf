"""The limit: a client that is told what our own run has fetched, and fetches it, 64 requests at a time.

It waits for nothing but its places and looks at nothing. For a local file it reads the file once and
writes the index as plain bytes.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import numpy as np
import obstore
from obstore.store import HTTPStore

from benchmarks.measure.prepared import Prepared

IN_FLIGHT = 64


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Warm up with one request."""
    if "ranges" not in arguments:
        return _local(arguments)
    store = HTTPStore.from_url(arguments["address"], client_options={"allow_http": True})
    ranges = [(path.lstrip("/"), offset, length) for path, offset, length in arguments["ranges"] if length]
    asyncio.run(_fetch_all(store, ranges[:1]))
    return Prepared(lambda: asyncio.run(_fetch_all(store, ranges)), lambda sizes: sum(sizes))


async def _fetch_all(store: HTTPStore, ranges: list[tuple[str, int, int]]) -> list[int]:
    places = asyncio.Semaphore(IN_FLIGHT)

    async def fetch(path: str, offset: int, length: int) -> int:
        async with places:
            result = await obstore.get_async(store, path, options={"range": (offset, offset + length)})
            return len(await result.bytes_async())

    return await asyncio.gather(*(fetch(*each) for each in ranges))


def _local(arguments: dict[str, Any]) -> Prepared:
    source, output = Path(arguments["source"]), Path(arguments["output"])
    entries = np.zeros((arguments["chunks"], 2), dtype=np.uint64)

    def run() -> int:
        nbytes = sum(_read_stored(source))
        entries.tofile(output)
        return nbytes

    return Prepared(run, lambda nbytes: nbytes)


def _read_stored(path: Path, block: int = 4 * 2**20) -> list[int]:
    """Read what a sparse file really holds."""
    sizes, place = [], 0
    with path.open("rb", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        while place < end:
            try:
                place = file.seek(place, os.SEEK_DATA)
            except OSError:
                break  # holes to the end
            stop = file.seek(place, os.SEEK_HOLE)
            file.seek(place)
            sizes.append(len(file.read(min(block, stop - place))))
            place += sizes[-1]
    return sizes
