"""The headers of a recording, read: whether its interfaces can be made, and its metadata are whole."""

from __future__ import annotations

from .assemble import Session
from .jobs import HeaderFacts, RecordingJob


def read_headers(job: RecordingJob) -> HeaderFacts:
    """Open the files of a recording, and check what is asked for; nothing is built.

    Raises
    ------
    ShadowzarrError
        As `Session` raises them.
    """
    session = Session(job.recording, identifier=job.identifier)
    start = session.metadata["NWBFile"].get("session_start_time", "")
    return HeaderFacts(
        str(start if isinstance(start, str) else start.isoformat()),
        {key: each.name for key, each in job.recording.interfaces.items()},
    )
