"""Who makes references: of remote files, and of local ones, which are written as well."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure.run_contender import Contender
from shadowzarr.access.http_reader import IN_FLIGHT

from .environments import LIMIT, OURS, lindi, own

_PACKAGE = "benchmarks.contenders.generate"
_NO_REFERENCES = "makes no references"


def remote(scratch: Path) -> list[Contender]:
    """Contenders that read over HTTP and keep the references in memory."""
    return [
        Contender(OURS, f"{_PACKAGE}.shadowzarr", own(), {"is_written": False}, IN_FLIGHT),
        Contender("h5py + remfile, walk alone", f"{_PACKAGE}.remfile", own(), {}, aside=_NO_REFERENCES),
        Contender("kerchunk", f"{_PACKAGE}.kerchunk", own(), {"is_written": False}),
        Contender("VirtualiZarr", f"{_PACKAGE}.virtualizarr", own(), {}),
        Contender("LINDI", f"{_PACKAGE}.lindi", lindi(scratch), {"is_written": False}),
    ]


def local(scratch: Path) -> list[Contender]:
    """Contenders that read a local file and write the references."""
    written = {"is_written": True}
    return [
        Contender(OURS, f"{_PACKAGE}.shadowzarr", own(), written),
        Contender("h5py, walk alone", f"{_PACKAGE}.remfile", own(), {}, aside=_NO_REFERENCES),
        Contender("kerchunk JSON", f"{_PACKAGE}.kerchunk", own(), {**written, "form": "json"}),
        Contender("kerchunk Parquet", f"{_PACKAGE}.kerchunk", own(), {**written, "form": "parquet"}),
        Contender("VirtualiZarr + Icechunk", f"{_PACKAGE}.virtualizarr_icechunk", own(), written),
        Contender("LINDI", f"{_PACKAGE}.lindi", lindi(scratch), written),
    ]


def limit() -> Contender:
    """The client that is told where everything is."""
    return Contender(LIMIT, "benchmarks.contenders.limit", own(), {})
