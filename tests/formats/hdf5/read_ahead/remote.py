"""Generating over a server with small blocks, with and without reading ahead."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shadowzarr.formats.hdf5 import opening
from shadowzarr.formats.hdf5.generate import generate_rfs
from shadowzarr.formats.hdf5.opening import RemoteReading

SMALL = RemoteReading(block_size=512, head_bytes=512, tail_bytes=512)
"""So small that a file is not at hand by chance, as most would be in blocks of ordinary size."""

WITHOUT = RemoteReading(block_size=512, head_bytes=512, tail_bytes=512, is_ahead=False)


@dataclass
class Run:
    """What a generation took.

    Attributes
    ----------
    rfs : dict
        The document.
    depth : int
        Rounds of requests that had to wait for each other.
    requests, bytes_read : int
        In all.
    late : int
        Requests that h5py made for itself.
    """

    rfs: dict[str, Any]
    depth: int
    requests: int
    bytes_read: int
    late: int


def run(monkeypatch, url, remote=SMALL, **options):
    """Generate references for a remote file."""
    events, streams = [], []
    with monkeypatch.context() as patch:
        patch.setattr(opening, "REMOTE", remote)
        patch.setattr(opening, "Remfile", lambda *a, **k: streams.append(Kept(*a, **k)) or streams[-1])
        rfs = generate_rfs(url, progress=events.append, **options)
    done = events[-1]
    ahead = max((each.requests for each in events if each.stage == "read_ahead"), default=1)
    return Run(rfs, streams[0].serial_depth, done.requests, done.bytes_read, streams[0].requests - ahead)


Kept = opening.Remfile


def comparable(rfs):
    """A document with arrays in forms that compare."""
    indexes = {
        path: {**entry, "index": np.asarray(entry["index"]).tolist()}
        for path, entry in rfs.get("indexes", {}).items()
    }
    return {**rfs, "indexes": indexes}
