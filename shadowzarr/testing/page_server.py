"""A server for pages in a folder: ranges, types that browsers want, and ``index.html`` for a folder.

It listens on the loopback interface and is for whoever sits at this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..access.content_types import content_type
from .cross_origin import CrossOrigin
from .http_messages import Request
from .range_server import RangeServer

INDEX = "index.html"
_EXPOSED = ("Content-Range", "Content-Length", "ETag")


class PageServer(RangeServer):
    """Serves the files below a folder to browsers on this machine.

    Hidden files and folders are not served. A request that names another host is refused, so that no page
    of another site reads the files by a name of its own for this machine.

    Parameters
    ----------
    folder : path
        What is served.
    port : int
        Of 127.0.0.1; 0 for a free one.
    origins : sequence of str
        Whose pages may read the files too, such as ``http://localhost:3000``; ``*`` for any. None by default.
    """

    def __init__(self, folder: Path, *, port: int = 0, origins: Sequence[str] = ()) -> None:
        allowed = CrossOrigin(origins=tuple(origins), exposed=_EXPOSED) if origins else None
        super().__init__(
            folder, port=port, etag=_state, cross_origin=allowed, find=self._find, content_type=_type
        )

    def wait(self) -> None:
        """Wait until the server is stopped from another thread, or Ctrl-C."""
        while not self.stopping.wait(0.5):
            pass

    def _find(self, request: Request) -> Path | None:
        name = request.path.lstrip("/")
        parts = name.split("/")
        host = request.headers.get("host", "").rpartition(":")[0]
        hidden = any(part.startswith(".") for part in parts)
        if "\0" in name or hidden or host not in ("127.0.0.1", "localhost"):
            return None
        path = self.folder / name
        try:
            if path.is_dir() and (name == "" or name.endswith("/")):
                path /= INDEX
            return path if path.is_file() else None
        except OSError:
            return None  # a name that no file can have, or one that may not be looked at: nothing is there


def _state(path: Path) -> str:
    """An ETag of the file's time and size: nothing is read for it."""
    status = path.stat()
    return f"{status.st_mtime_ns:x}-{status.st_size:x}"


def _type(path: Path) -> str:
    return content_type(path.name)
