"""``shadowzarr to-hdf5``: the HDF5 file that references describe."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ..access.watched import allow
from .exit_codes import DONE, LEFT_OUT
from .stall import TIMEOUT, Timeout


def to_hdf5(
    refs: str,
    out: str,
    *,
    force: Annotated[bool, Parameter(negative="")] = False,
    allow_local_files: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
    timeout: Timeout = TIMEOUT,
) -> int:
    """Write the HDF5 file that references describe.

    Values are read through the references. Ends with 3 when something is left out of the new file.

    Parameters
    ----------
    refs
        A document (.json), a directory of one, or a URL.
    out
        The file to write.
    force
        Replace OUT when it is an HDF5 file that the references do not point into. Nothing else is replaced.
    allow_local_files
        Let references at a URL name files of this machine.
    json
        Print the whole report as JSON.
    timeout
        Seconds that one object may take without a byte being read, before the command gives up; 0 for ever.
    """
    allow(timeout)
    from ..export.to_hdf5 import to_hdf5 as write

    report = write(refs, out, overwrite=force, allow_local_files=allow_local_files)
    print(report.to_json() if json else report.summary())
    return DONE if report.is_whole else LEFT_OUT
