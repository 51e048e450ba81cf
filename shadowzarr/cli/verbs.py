"""Which verbs there are, with what help and Ctrl-C say of each; none is imported for that."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_AGAIN: Final = "the same command begins anew"


@dataclass(frozen=True)
class Verb:
    """A verb.

    Attributes
    ----------
    line : str
        What it does: the first line of its own help too.
    examples : tuple of str
        Commands as they are typed.
    stopped : str
        What there is after Ctrl-C, and what to do to go on; empty where the verb says it.
    """

    line: str
    examples: tuple[str, ...]
    stopped: str


VERBS: Final = {
    "generate": Verb(
        "Write references for an HDF5 or TIFF file, or a recording that NEO reads.",
        (
            "shadowzarr generate session.nwb session.shadowzarr",
            "shadowzarr generate session.nwb session.shadowzarr.json --json",
            "shadowzarr generate dandi://dandi/000001/sub-01/a.nwb a.shadowzarr",
            "shadowzarr generate https://example.org/b.nwb b.shadowzarr --local-path b.nwb",
        ),
        f"OUT is as it was before; {_AGAIN}",
    ),
    "info": Verb(
        "Show what references hold, and where its bytes are.",
        (
            "shadowzarr info session.shadowzarr",
            "shadowzarr info session.shadowzarr acquisition/ElectricalSeries/data",
            "shadowzarr info session.shadowzarr --json",
        ),
        f"nothing is written by info; {_AGAIN}",
    ),
    "verify": Verb(
        "Compare references with the file that they describe.",
        (
            "shadowzarr verify session.shadowzarr",
            "shadowzarr verify session.shadowzarr --against session.nwb --full --json",
        ),
        f"what was compared so far is not told; {_AGAIN}",
    ),
    "convert": Verb(
        "Write references in another form, or by VirtualiZarr's parsers.",
        (
            "shadowzarr convert a.shadowzarr a.kerchunk.json --from rfs --to kerchunk",
            "shadowzarr convert sample.lindi.json sample.shadowzarr --from lindi",
            "shadowzarr convert c.nc c.shadowzarr --from virtualizarr --parser netcdf3",
        ),
        f"OUT is as it was before; {_AGAIN}",
    ),
    "relocate": Verb(
        "Point references at files that were moved.",
        (
            "shadowzarr relocate a.shadowzarr --from /data/old --to /data/new --dry-run",
            "shadowzarr relocate a.shadowzarr --from /data/old --to https://example.org",
        ),
        f"the document is either the old one or the new one; {_AGAIN}",
    ),
    "to-hdf5": Verb(
        "Write the HDF5 file that references describe.",
        (
            "shadowzarr to-hdf5 session.shadowzarr again.nwb",
            "shadowzarr to-hdf5 session.shadowzarr again.nwb --force --json",
        ),
        f"OUT is as it was before; {_AGAIN}",
    ),
    "icechunk": Verb(
        "Write references into an Icechunk repository.",
        (
            "shadowzarr icechunk session.shadowzarr repository --group sub-01/session-1",
            "shadowzarr icechunk session.shadowzarr s3://bucket/repository --branch main",
        ),
        f"nothing is committed, unless the snapshot was named; {_AGAIN}",
    ),
    "materialize": Verb(
        "Write the values that references point at into an ordinary Zarr store.",
        (
            "shadowzarr materialize session.shadowzarr session.zarr --verify",
            "shadowzarr materialize session.shadowzarr session.zip --layout ephys --json",
        ),
        "",
    ),
    "cache": Verb(
        "Show what the cache of remote files' bytes holds, or empty it.",
        ("shadowzarr cache info --json", "shadowzarr cache clear"),
        f"the cache is whole; {_AGAIN}",
    ),
    "doctor": Verb(
        "Look for what is wrong with this machine, and say what to do.",
        (
            "shadowzarr doctor",
            "shadowzarr doctor --offline --json",
            "shadowzarr doctor --archive dandi-sandbox --s3 s3://bucket/references",
        ),
        f"doctor changes nothing; {_AGAIN}",
    ),
    "archive": Verb(
        "Serve a folder of NWB files as a DANDI archive, on this machine only, until Ctrl-C.",
        ("shadowzarr archive folder --api-port 8777 --store-port 8778",),
        "",
    ),
}


def tell_stopped(arguments: Sequence[str]) -> None:
    """Say after Ctrl-C, on the standard error stream, what there is and how to go on."""
    verb = VERBS.get(arguments[0]) if arguments else None
    if verb is None or not verb.stopped or sys.stderr is None:
        return
    with contextlib.suppress(OSError):  # there is nowhere to say it
        print(f"shadowzarr: interrupted; {verb.stopped}", file=sys.stderr, flush=True)
