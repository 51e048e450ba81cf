"""The ``dandi:dandi-zarr-checksum`` of a Zarr store (pure).

A tree of MD5 sums: the checksum of a folder is made from those of its folders and files, so it tells
any change below. Written ``{md5}-{files}--{bytes}``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class _Folder:
    files: dict[str, tuple[str, int]] = field(default_factory=dict)
    folders: dict[str, _Folder] = field(default_factory=dict)


def zarr_checksum(files: Iterable[tuple[str, str, int]]) -> str:
    """Compute the checksum of a store.

    Parameters
    ----------
    files : iterable of (str, str, int)
        Path inside the store, MD5 in hex, number of bytes.
    """
    root = _Folder()
    for path, md5, size in files:
        *parents, name = path.split("/")
        folder = root
        for parent in parents:
            folder = folder.folders.setdefault(parent, _Folder())
        folder.files[name] = (md5, size)
    return _checksum(root)[0]


def _checksum(folder: _Folder) -> tuple[str, int, int]:
    """Give checksum, number of files and of bytes of a folder."""
    below = {name: _checksum(child) for name, child in sorted(folder.folders.items())}
    files = [
        {"digest": md5, "name": name, "size": size} for name, (md5, size) in sorted(folder.files.items())
    ]
    folders = [{"digest": text, "name": name, "size": size} for name, (text, _, size) in below.items()]
    text = json.dumps({"directories": folders, "files": files}, separators=(",", ":"))
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    count = len(files) + sum(number for _, number, _ in below.values())
    size = sum(nbytes for _, nbytes in folder.files.values()) + sum(nbytes for *_, nbytes in below.values())
    return f"{digest}-{count}--{size}", count, size
