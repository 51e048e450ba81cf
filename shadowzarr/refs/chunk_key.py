"""Zarr v3 keys: ``"a/b/c/0/3"`` ↔ ``("a/b", (0, 3))``.

The default chunk key encoding with separator ``/`` is the only one the generators write; other
encodings are found by their keys in ``refs`` and never reach an index or a gen entry.
"""

from __future__ import annotations

METADATA_NAME = "zarr.json"


def metadata_key(path: str) -> str:
    """Key of a node's metadata document; ``path`` is ``""`` for the root."""
    return f"{path}/{METADATA_NAME}" if path else METADATA_NAME


def chunk_key(path: str, coordinates: tuple[int, ...]) -> str:
    """Key of a chunk; a zero-dimensional array has the one chunk ``c``."""
    head = f"{path}/c" if path else "c"
    return "/".join((head, *map(str, coordinates)))


def parse_chunk_key(key: str) -> tuple[str, tuple[int, ...]] | None:
    """Split a chunk key into the array's path and the chunk's coordinates.

    Returns None for a key that is no chunk key. A path may itself end in parts that look like
    coordinates (an array named ``c/0``), so the last ``c`` part decides.
    """
    parts = key.split("/")
    position = len(parts) - 1
    coordinates: list[int] = []
    while position >= 0 and parts[position] != "c":
        part = parts[position]
        if not (part.isascii() and part.isdigit()) or (len(part) > 1 and part[0] == "0"):
            return None
        coordinates.append(int(part))
        position -= 1
    if position < 0:
        return None
    return "/".join(parts[:position]), tuple(reversed(coordinates))
