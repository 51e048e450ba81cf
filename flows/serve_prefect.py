"""What the process of `flows.temporary_server` runs: Prefect's API, until its parent ends."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence

from shadowzarr.catalog.child_main import end_with_parent


def main(arguments: Sequence[str]) -> None:
    """Serve; arguments are descriptors, of a listening socket and of the parent's life line."""
    listener, life_line = (int(number) for number in arguments)
    end_with_parent(life_line)
    import uvicorn

    config = uvicorn.Config(
        "prefect.server.api.server:create_app", factory=True, lifespan="on", log_level="error"
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=listener)])


if __name__ == "__main__":
    main(sys.argv[1:])
