"""References of an NWB file, judged by NWB's own rules: `pynwb.validate`, and what nwbinspector has."""

from __future__ import annotations

import warnings

from .._optional import require
from ..errors import InvalidNWBError
from ..store.load_rfs import load_rfs
from ..store.rfs_store import RfsStore
from .jobs import RecordingJob

SHOWN = 5


def validate_file(job: RecordingJob) -> list[str]:
    """Validate staged references.

    Returns
    -------
    list of str
        What nwbinspector finds critical, where that is only told.

    Raises
    ------
    InvalidNWBError
        When a rule is broken.
    """
    pynwb = require("pynwb", extra="nwb")
    from hdmf_zarr import NWBZarrIO

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with NWBZarrIO(RfsStore(load_rfs(job.staged)), mode="r") as io:
            broken = [" ".join(str(each).split()) for each in pynwb.validate(io=io)]
            if broken:
                raise InvalidNWBError(_told("pynwb.validate", broken))
            critical = [] if job.critical == "off" else _critical(io.read())
    if critical and job.critical == "refuse":
        raise InvalidNWBError(
            f"{_told('nwbinspector', critical)}; correct the metadata, or set validation.critical to tell "
            "or off"
        )
    return critical


def _critical(nwbfile: object) -> list[str]:
    inspector = require("nwbinspector", extra="neuroconv")
    found = inspector.inspect_nwbfile_object(nwbfile, importance_threshold=inspector.Importance.CRITICAL)
    return [f"{each.location or '/'}: {each.message} ({each.check_function_name})" for each in found if each]


def _told(judge: str, found: list[str]) -> str:
    more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{judge} finds: {'; '.join(found[:SHOWN])}{more}"
