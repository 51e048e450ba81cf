"""The demonstration of convert_recordings: recordings as a laboratory has them, converted, and read as NWB.

As `flows.demo` it runs the command that a user types; everything is written to ``demo/`` in the working
directory.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from shadowzarr.catalog.records import IndexRecord
from shadowzarr.errors import ShadowzarrError
from shadowzarr.formatting import format_bytes, format_seconds, format_share

from .demo import FOLDER, failed, heading, read_records, run_flows, say

CONFIG = Path(__file__).resolve().parents[1] / "configs" / "convert_recordings" / "demo.yaml"


def main() -> int:
    """Run the demonstration; returns 0, or 1 when anything failed."""
    started = time.monotonic()
    try:
        write_recordings(FOLDER / "recordings")
        arguments = ["run", os.path.relpath(CONFIG)]
        heading("2", f"python -m flows {' '.join(arguments)}")
        say("   Prefect and NeuroConv start first, which takes most of the time.")
        code = run_flows(arguments)
        if code:
            return failed(f"the run ended with exit code {code}; the lines above say why")
        show_results(FOLDER / "converted")
    except (ShadowzarrError, OSError) as error:
        return failed(str(error))
    say("")
    say(f"Report:    {(FOLDER / 'converted' / 'report.html').absolute()}")
    say(f"NWB files: {(FOLDER / 'converted' / 'collections').absolute()}")
    say(f"{format_seconds(time.monotonic() - started)} in all.")
    return 0


def write_recordings(folder: Path) -> list[Path]:
    """Write the recordings, and clear what an earlier demonstration left; gives the files."""
    from shadowzarr.testing.sample_recordings import write_sample_recordings

    heading("1", f"A SpikeGLX session, a TIFF stack and metadata, written to {folder}")
    for old in (folder, folder.parent / "converted"):
        shutil.rmtree(old, ignore_errors=True)
    written = write_sample_recordings(folder)
    for path in written:
        say(f"   {format_bytes(path.stat().st_size):>8}  {path.relative_to(folder)}")
    return written


def show_results(output: Path) -> None:
    """Open the NWB files as a user would, and say what they took."""
    heading("3", "What was written, beside what a copy would take")
    for record in read_records(output, room="collections").values():
        _show(output, record)


def _show(output: Path, record: IndexRecord) -> None:
    from shadowzarr.nwb import read_nwb

    copied, written = int(record.statistics["referenced_bytes"]), record.references_bytes
    share = format_share(written, copied)
    say(f"   {record.path}: {format_bytes(written)} refer to {format_bytes(copied)} ({share})")
    nwbfile = read_nwb(output / str(record.references))
    for name, series in nwbfile.acquisition.items():
        shape, values = series.data.shape, series.data[:2].ravel()[:5].tolist()
        say(f"      {name}: {shape} of {series.data.dtype}, the first values are {values}")
