"""Serve a folder until the standard input ends.

python -m benchmarks.serving.serve FOLDER PORT LATENCY [BANDWIDTH]
"""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path

from .pacing import Link
from .range_protocol import RangeProtocol, Site
from .stored_files import StoredFiles

BACKLOG = 512


async def serve(folder: Path, port: int, latency: float, bandwidth: float | None) -> None:
    """Serve; says on the standard output when it listens."""
    loop = asyncio.get_running_loop()
    site = Site(StoredFiles(folder), latency, Link(bandwidth))
    server = await loop.create_server(lambda: RangeProtocol(site), "127.0.0.1", port, backlog=BACKLOG)
    gc.freeze()
    print(f"listening {server.sockets[0].getsockname()[1]}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def main(arguments: list[str]) -> int:
    """Read the arguments."""
    folder, port, latency, *bandwidth = arguments
    try:
        asyncio.run(
            serve(Path(folder), int(port), float(latency), float(bandwidth[0]) if bandwidth else None)
        )
    except OSError as error:
        print(f"port {port}: {error.strerror}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
