"""The demonstration: sample files, an archive that serves them, a run over it, and a look at the results.

It runs the command that a user types, as a process of its own, and then reads the references as a user
would. Nothing leaves this machine; everything is written to ``demo/`` in the working directory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from shadowzarr.errors import ShadowzarrError, UsageError
from shadowzarr.formatting import format_bytes, format_count, format_seconds, format_share

if TYPE_CHECKING:
    from shadowzarr.catalog.records import IndexRecord
    from shadowzarr.testing.archive import ArchiveServer

CONFIG = Path(__file__).resolve().parents[1] / "configs" / "demo.yaml"
FOLDER = Path("demo")
ARCHIVE_PORT = 8777
"""The port that the configuration names; when it is taken, another is given on the command line."""

RECORDING = "sub-01/sub-01_ses-20260302_ecephys.nwb"
MANY_CHUNKS = "sub-02/sub-02_ses-longterm_ecephys.nwb"
BEHAVIOR = "sub-04/sub-04_ses-20260302_behavior.nwb"


def main() -> int:
    """Run the demonstration.

    Returns
    -------
    int
        0, or 1 when anything failed; the message is then on the standard error stream.
    """
    started = time.monotonic()
    try:
        written = write_archive(FOLDER / "archive")
        with closing(serve(FOLDER / "archive")) as server:
            api_url = server.api_url
            code = run_pipeline(server)
            if code:
                return failed(f"the run ended with exit code {code}; the lines above say why")
            show_results(server, FOLDER / "output")
    except (ShadowzarrError, OSError) as error:
        return failed(str(error))
    say("")
    show_page(FOLDER / "output" / "index.html", api_url)
    say(f"Report:     {(FOLDER / 'output' / 'report.html').absolute()}")
    say(f"References: {(FOLDER / 'output' / 'dandisets').absolute()}")
    say(f"{format_count(len(written), 'file')}, {format_seconds(time.monotonic() - started)} in all.")
    return 0


def write_archive(folder: Path) -> list[Path]:
    """Write the sample files, and clear what an earlier demonstration left.

    Returns
    -------
    list of Path
        The NWB files.
    """
    from shadowzarr.testing.sample_nwb import write_sample_dandisets

    heading("1", f"Sample NWB files, written by pynwb to {folder}")
    for old in (folder, folder.parent / "output"):
        shutil.rmtree(old, ignore_errors=True)
    written = write_sample_dandisets(folder)
    for path in written:
        say(f"   {format_bytes(path.stat().st_size):>8}  {path.relative_to(folder)}")
    return written


def serve(folder: Path) -> ArchiveServer:
    """Serve the files as an archive, on the configuration's port or, when that is taken, on another.

    Raises
    ------
    UsageError
        When no port can be had.
    """
    from shadowzarr.testing.archive import ArchiveServer

    for port in (ARCHIVE_PORT, 0):
        try:
            return ArchiveServer(folder, api_port=port).start()
        except OSError:
            continue  # somebody else listens there
    raise UsageError("cannot listen on any port of 127.0.0.1")


def run_pipeline(server: ArchiveServer) -> int:
    """Index the archive by the command that a user types, and return its exit code."""
    arguments = run_arguments(server.api_url)
    heading("2", f"An archive that serves them: {server.api_url}")
    heading("3", f"python -m flows {' '.join(arguments)}")
    say("   Prefect starts first, which takes most of the time.")
    return run_flows(arguments)


def run_flows(arguments: Sequence[str]) -> int:
    """Run ``python -m flows`` as a user does, and return its exit code."""
    root = str(Path(__file__).resolve().parents[1])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "flows", *arguments]
    return subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": paths}).returncode  # noqa: S603


def run_arguments(api_url: str) -> list[str]:
    """Return what follows ``python -m flows``; the archive's address only when it is not the usual one."""
    usual = f"http://127.0.0.1:{ARCHIVE_PORT}/api"
    changes = [] if api_url == usual else ["--set", f"archive={api_url}"]
    return ["run", os.path.relpath(CONFIG), *changes]


def show_results(server: ArchiveServer, output: Path) -> None:
    """Open some of the results as a user would, and say what that cost.

    Raises
    ------
    UsageError
        When an asset has no references.
    """
    records = read_records(output)
    heading("4", "What was made")
    for record in records.values():
        say(f"   {_made(record)}")
    heading("5", "Reading through the references (bytes are what the object store sent)")
    _show_zarr(server, output, _record(records, MANY_CHUNKS))
    _show_nwb(server, output, _record(records, RECORDING))
    _show_nan(server, output, _record(records, BEHAVIOR))


def show_page(page: Path, api_url: str) -> None:
    """Say where the page of the catalogue is, and how it is looked at; nothing when it was not written."""
    if not page.exists():
        return
    folder = Path(os.path.relpath(sys.executable)).parent
    port = urlsplit(api_url).port
    say(f"Catalogue:  {page.absolute()}; to look at it, in two terminals:")
    say(f"            {folder}/python -m flows catalog serve {page.parent}")
    say(f"            {folder}/shadowzarr archive {FOLDER / 'archive'} --api-port {port}    # what it plots")


def read_records(output: Path, *, room: str = "dandisets") -> dict[str, IndexRecord]:
    """Read the records of an output folder, by the paths of their assets."""
    from shadowzarr.catalog.records import read_record

    records = [read_record(path) for path in sorted(output.glob(f"{room}/**/*.record.json"))]
    return {record.path: record for record in records}


def _record(records: dict[str, IndexRecord], path: str) -> IndexRecord:
    record = records.get(path)
    if record is None or record.references is None:
        raise UsageError(f"the run made no references for {path}")
    return record


def _made(record: IndexRecord) -> str:
    counts, read = record.counts, record.statistics.get("bytes_read", 0)
    how = "not verified"
    if record.verification is not None and record.verification.equal:
        how = f"all {format_count(record.verification.objects, 'object')} equal"
    return (
        f"{record.path.rpartition('/')[2]}: {format_count(counts.arrays, 'array')}, "
        f"{format_count(counts.chunks, 'chunk')}; read {format_bytes(read)} of {format_bytes(record.size)} "
        f"({format_share(read, record.size)}); {how}"
    )


def _show_zarr(server: ArchiveServer, output: Path, record: IndexRecord) -> None:
    from shadowzarr import open_rfs

    server.store.log.clear()
    root = open_rfs(output / str(record.references))
    data = root["acquisition/ElectricalSeries/data"]
    values = data[31_000:31_005, 17]  # type: ignore[index]
    say(f"   zarr: {record.path.rpartition('/')[2]} has {data.shape} samples, in chunks of {data.chunks}")  # type: ignore[union-attr]
    say(f"         data[31000:31005, 17] = {values.tolist()}")  # type: ignore[union-attr]
    say(f"         {_cost(server, record)}")


def _show_nwb(server: ArchiveServer, output: Path, record: IndexRecord) -> None:
    from hdmf_zarr import NWBZarrIO

    from shadowzarr import RfsStore, load_rfs

    server.store.log.clear()
    with NWBZarrIO(RfsStore(load_rfs(output / str(record.references))), mode="r") as io:
        nwbfile = io.read()
        say(f"   NWBZarrIO: {nwbfile.session_description}")
        spikes = nwbfile.units[0, "spike_times"][:3]
        units = format_count(len(nwbfile.units), "unit")
        trials = format_count(len(nwbfile.trials), "trial")
        electrodes = format_count(len(nwbfile.electrodes), "electrode")
        say(f"         {units}; the first one's spikes: {spikes.round(4).tolist()} s")
        say(f"         {trials}, {electrodes}")
    say(f"         {_cost(server, record)}")


def _show_nan(server: ArchiveServer, output: Path, record: IndexRecord) -> None:
    from hdmf_zarr import NWBZarrIO

    from shadowzarr import RfsStore, load_rfs

    server.store.log.clear()
    with NWBZarrIO(RfsStore(load_rfs(output / str(record.references))), mode="r") as io:
        series = io.read().processing["behavior"]["Position"]["SpatialSeries"]
        say(f"   NWBZarrIO: {series.description}")
        say(f"         resolution = {series.resolution} (a number again, from strict JSON)")
    say(f"         {_cost(server, record)}")


def _cost(server: ArchiveServer, record: IndexRecord) -> str:
    sent, requests = server.store.log.bytes_sent, len(server.store.log)
    return f"read {format_bytes(sent)} of {format_bytes(record.size)} in {format_count(requests, 'request')}"


def heading(number: str, text: str) -> None:
    """Print the heading of a step."""
    say(f"\n{number}. {text}")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def failed(reason: str) -> int:
    """Say why the demonstration failed, and return its exit code."""
    print(f"demo: error: {reason}", file=sys.stderr)
    return 1
