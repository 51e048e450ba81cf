"""What h5py itself finds in a local file, which everybody's answer is compared with."""

from __future__ import annotations

import json
from pathlib import Path

from .found import found
from .remfile import walk


def truth_of(path: Path, dataset: str | None) -> dict[str, int | str]:
    """Read it, or what was read before; kept beside the file."""
    kept = path.with_name(f"{path.name}.truth.json")
    if not kept.exists() or kept.stat().st_mtime < path.stat().st_mtime:
        kept.write_text(json.dumps(found(*walk(str(path), dataset))))
    known: dict[str, int | str] = json.loads(kept.read_text())
    return known
