"""Start and stop the server's process, and read its log."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from .timed_request import TimedRequest

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def served(folder: Path, port: int, *, latency: float, bandwidth: float | None) -> Iterator[str]:
    """Serve a folder; gives its address without a slash at the end.

    Parameters
    ----------
    folder : Path
        What is served.
    port : int
        Fixed where prepared references hold the address; 0 for a free one.
    latency : float
        Seconds before every answer.
    bandwidth : float or None
        Bytes per second of all connections together.
    """
    signal.signal(signal.SIGTERM, _leave)
    command = [sys.executable, "-m", "benchmarks.serving.serve", str(folder), str(port), str(latency)]
    if bandwidth is not None:
        command.append(str(bandwidth))
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        if not line.startswith("listening "):
            raise SystemExit(f"the server did not start: {line or 'no reason given'}; choose another --port")
        try:
            yield f"http://127.0.0.1:{line.split()[1]}"
        finally:
            process.kill()


def _leave(number: int, _: object) -> None:
    """End in order when asked to, so that no process is left behind."""
    raise SystemExit(128 + number)


def clear_log(address: str) -> None:
    """Forget what was asked so far."""
    with urlopen(f"{address}/_log/clear") as answer:
        answer.read()


def read_log(address: str) -> list[TimedRequest]:
    """What was asked since."""
    with urlopen(f"{address}/_log") as answer:
        return [TimedRequest(**each) for each in json.load(answer)]
