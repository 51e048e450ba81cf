"""``shadowzarr materialize``: an ordinary Zarr store with the values that references point at."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ..formatting import format_bytes, format_count
from .exit_codes import DONE, LEFT_OUT
from .left_out import document_name, left_out_lines
from .status_line import StatusLine

if TYPE_CHECKING:
    from ..export.materialize import MaterializeProgress

MEBIBYTE = 2**20


def materialize(
    refs: str,
    out: str,
    *,
    layout: Literal["default", "ephys", "imaging"] = "default",
    verify: Annotated[bool, Parameter(negative="")] = False,
    max_memory: int = 1024,
    threads: int | None = None,
    scratch: str | None = None,
    cf_attributes: bool = True,
    allow_local_files: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Write the values that references point at into an ordinary Zarr store.

    The new store no longer needs the source files. When the command ended early, the same command goes on
    from there. Ends with 0, with 3 when the references leave something of their source out, and with 1 on
    failure.

    Parameters
    ----------
    refs
        A document (.json), a directory of one, or a URL.
    out
        A folder, a file that ends in .zip, or s3://BUCKET/PREFIX with the credentials of the AWS_ variables.
        Nothing may be there yet.
    layout
        How arrays are cut: chunks of 4 MiB along the first axis (default), time by 64 channels (ephys), or
        whole frames (imaging).
    verify
        Read back what was written, and compare it bit for bit with what was read.
    max_memory
        MiB of data to hold at a time.
    threads
        How many pieces to work on at the same time.
    scratch
        A folder for what does not fit into the memory meanwhile.
    cf_attributes
        Write _FillValue and scales of arrays with named axes as xarray reads them; --no-cf-attributes leaves
        them as they are stored.
    allow_local_files
        Let references at a URL name files of this machine.
    json
        Print the whole report as JSON.
    """
    from ..export.materialize import materialize as write

    start = time.monotonic()
    with _told(), _Progress() as progress:
        report = write(
            refs,
            out,
            layout=layout,
            verify=verify,
            max_memory=max_memory * MEBIBYTE,
            threads=threads,
            scratch=scratch,
            cf_attributes=cf_attributes,
            progress=progress,
            allow_local_files=allow_local_files,
        )
    if json:
        print(report.to_json())
    else:
        print(f"{report.summary()}\ntook {time.monotonic() - start:.1f} s")
        for line in left_out_lines(report.left_out, where=document_name(refs)):
            print(line)
    return LEFT_OUT if report.left_out else DONE


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Say after Ctrl-C what becomes of what was written."""
    try:
        yield
    except KeyboardInterrupt as error:
        left = next(filter(None, getattr(error, "__notes__", ())), "nothing was written")
        print(f"shadowzarr: interrupted; {left}", file=sys.stderr, flush=True)
        raise


class _Progress(StatusLine):
    """Shows on a terminal how far it is."""

    def __call__(self, event: MaterializeProgress) -> None:
        if self.is_due():
            done = f"{format_bytes(event.nbytes)} of {format_bytes(event.total)}"
            arrays = f"{event.arrays:,} of {format_count(event.array_count, 'array')}"
            self.show(f"{done}, {arrays}: /{event.path}")
