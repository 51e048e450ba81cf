"""A recording → references: NeuroConv assembles the NWB file, its data are swapped, and it is written.

An NWB file in memory never leaves the process, so that building and writing are one job.
"""

from __future__ import annotations

import math
import time

from ..catalog.index_asset import count_objects
from ..neuroconv_bridge import virtualize
from ..nwb import write_virtual_nwb
from .assemble import Session
from .jobs import RecordingJob, WrittenFacts


def write_file(job: RecordingJob) -> WrittenFacts:
    """Convert a recording; the references name local files.

    Raises
    ------
    NotVirtualizable
        When data cannot be referenced, and that is not allowed.
    ShadowzarrError
        As `Session`, `virtualize` and `write_virtual_nwb` raise them.
    """
    start = time.perf_counter()
    nwbfile = Session(job.recording, identifier=job.identifier).build()
    built = time.perf_counter()
    done = virtualize(nwbfile, strict=job.strict)
    rfs = write_virtual_nwb(nwbfile, job.staged)
    return WrittenFacts(
        counts=count_objects(rfs),
        virtual=sorted(done.virtual),
        copied=done.left,
        referenced_bytes=sum(math.prod(a.shape) * a.dtype.itemsize for a in done.virtual.values()),
        build_seconds=round(built - start, 4),
        write_seconds=round(time.perf_counter() - built, 4),
    )
