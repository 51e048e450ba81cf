"""The process of one contender: ``python -m benchmarks.measure.child JOB RESULT``, two JSON files.

It needs the standard library alone, since one of the contenders lives in an environment of its own.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.serving.server_process import clear_log, read_log

from .memory import peak_rss


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Import, warm up, take the time, and say what was found."""
    prepared = import_module(job["module"]).prepare(job["arguments"])
    rss_before = peak_rss()
    clear_log(job["address"])
    cpu, start = time.process_time(), time.perf_counter()
    result = prepared.run()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_rss()
    return {
        "seconds": seconds,
        "cpu": cpu,
        "rss_before": rss_before,
        "peak_rss": peak,
        "log": [asdict(each) for each in read_log(job["address"])],
        "answer": prepared.answer(result),
    }


def main(arguments: list[str]) -> int:
    """Read the job and write the result."""
    job, result = map(Path, arguments)
    result.write_text(json.dumps(measure(json.loads(job.read_text()))))
    return 0


if __name__ == "__main__":
    # at once: obstore's threads may abort a busy process that ends in order, and the result is written
    os._exit(main(sys.argv[1:]))
