"""``shadowzarr verify``: compare references with the file that they describe."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from ..access.watched import allow
from ..formatting import format_count
from .stall import TIMEOUT, Timeout


def verify(
    refs: str,
    *,
    against: str | None = None,
    full: Annotated[bool, Parameter(negative="")] = False,
    seed: int = 0,
    strict: Annotated[bool, Parameter(negative="")] = False,
    allow_external: Annotated[bool, Parameter(negative="")] = False,
    allow_local_files: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
    timeout: Timeout = TIMEOUT,
) -> int:
    """Compare references with the file that they describe.

    Ends with 1 when anything differs. What the references leave out by name is listed and does not
    count, unless --strict is given.

    Parameters
    ----------
    refs
        A document (.json), a directory of one, or a URL.
    against
        The HDF5 or TIFF file, a path or a URL, or the recording. Left out, what the references name.
    full
        Compare all values, rather than those of chosen chunks.
    seed
        What chooses the chunks; the same seed chooses the same ones.
    strict
        End with 1 also when something is left out.
    allow_external
        HDF5: read other files that the file names, also outside its folder.
    allow_local_files
        Let references at a URL name files of this machine.
    json
        Print the whole report as JSON.
    timeout
        Seconds that one object may take without a byte being read, before the command gives up; 0 for ever.
    """
    allow(timeout)
    from ..verify import verify_rfs

    report = verify_rfs(
        refs,
        against,
        mode="full" if full else "sample",
        seed=seed,
        allow_external=allow_external,
        allow_local_files=allow_local_files,
    )
    print(report.to_json() if json else report.summary())
    if report.equal and strict and report.left_out:
        left_out = format_count(len(report.left_out), "object")
        print(f"shadowzarr: exit code 1: {left_out} left out (--strict)", file=sys.stderr, flush=True)
        return 1
    return 0 if report.equal else 1
