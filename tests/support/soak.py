"""A long indexing run that says what its process and its children hold; run as a program of its own.

``python soak.py API_URL OUTPUT ASSETS`` prints a line of JSON before the run, after every twentieth part of
the assets, and after the run.
"""

import gc
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from work_to_kill import index_request

from shadowzarr.catalog import index_run
from shadowzarr.catalog.child_pool import resident_bytes
from shadowzarr.catalog.records import IndexRecord


def children() -> list[int]:
    """Processes whose parent this one is, ended ones too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):  # no process, or one that has ended meanwhile
            continue
        found += [int(entry.name)] * (parent == os.getpid())
    return found


def held() -> dict[str, Any]:
    """What is held now: memory, open files and connections, threads, processes."""
    gc.collect()
    processes = children()
    return {
        "memory": resident_bytes(os.getpid()),
        "memory of children": sum(map(resident_bytes, processes)),
        "open": len(list(Path("/proc/self/fd").iterdir())),
        "open of children": sum(len(list(Path(f"/proc/{each}/fd").iterdir())) for each in processes),
        "threads": threading.active_count(),
        "children": len(processes),
    }


def main(api_url: str, output: str, assets: int) -> None:
    run_assets = index_run.run_assets

    def say(done: int, **more: object) -> None:
        print(json.dumps({"done": done, **held(), **more}), flush=True)

    def told(*arguments: Any, **options: Any) -> Iterator[IndexRecord]:
        for done, record in enumerate(run_assets(*arguments, **options), 1):
            if done % (assets // 20) == 0 and done < assets:
                say(done)
            yield record

    index_run.run_assets = told  # type: ignore[assignment]
    say(0)
    start = time.perf_counter()
    summary = index_run.index_dandisets(index_request(api_url, Path(output)))
    say(assets, outcomes=summary.outcome_counts, seconds=round(time.perf_counter() - start))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
