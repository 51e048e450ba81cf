"""A night's run over an archive of three dandisets whose assets are small, some of them bad in ten ways.

    python -m benchmarks.mixed_archive [ASSETS]

It runs ``python -m flows run`` three times: over all, over the unchanged, and after one asset in a hundred
was replaced. It prints what each took, and ends with an error when a run did not do exactly what it should.
Linux only: CPU times and memory are read from ``/proc`` while the runs last.
"""

from __future__ import annotations

import io
import random
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

from shadowzarr.catalog.records import IndexRecord, read_record
from shadowzarr.testing import Archive, ArchiveServer
from shadowzarr.testing.faults import Fault

DANDISETS = ("000001", "000002", "000003")

Damage = Callable[[bytes], bytes]

DAMAGED: dict[str, tuple[Damage, str]] = {
    "cut": (lambda content: content[:3000], "DamagedSourceError"),
    "signature": (lambda content: content[:8], "DamagedSourceError"),
    "zeros": (lambda content: bytes(len(content)), "NotHDF5Error"),
    "text": (lambda content: b"this is text, whatever its name says\n" * 50, "NotHDF5Error"),
    "zip": (lambda content: _zipped(content), "NotHDF5Error"),
    "header": (lambda content: content[:8] + b"\xff" * 200 + content[208:], "DamagedSourceError"),
}
"""Bad files: what is done to a good one, and the error that it must end in. They stay as they are."""

SERVED: dict[str, tuple[dict[str, object], str]] = {
    "denied": ({"status": 403}, "AccessDeniedError"),
    "lost": ({"status": 404}, "SourceNotFoundError"),
    "other": ({"etag": '"0123456789abcdef0123456789abcdef-1"'}, "SourceChangedError"),
    "short": ({"short_by": 7, "declare_short": True}, "ShortReadError"),
}
"""Good files that are served badly: the fault, and the error. Another run may find them well."""

EXPECTED = {name: error for kinds in (DAMAGED, SERVED) for name, (_, error) in kinds.items()}


@dataclass
class MixedArchive:
    """An archive, and what is wrong with some of its assets.

    Attributes
    ----------
    server : ArchiveServer
        Not started.
    bad : dict
        Kind of damage by dandiset and path.
    good : list
        Dandiset and path of all others.
    """

    server: ArchiveServer
    bad: dict[tuple[str, str], str] = field(default_factory=dict)
    good: list[tuple[str, str]] = field(default_factory=list)

    def replace(self, count: int, folder: Path) -> list[tuple[str, str]]:
        """Give some of the good assets other bytes, evenly chosen."""
        step = max(1, len(self.good) // count)
        chosen = self.good[::step][:count]
        for number, (dandiset, path) in enumerate(chosen):
            file = write_file(folder / f"new-{number}.nwb", seed=1_000_000 + number)
            self.server.archive.replace_asset(dandiset, path, file)
        return chosen


def build(folder: Path, assets: int, *, bad: int, dandisets: Sequence[str] = DANDISETS) -> MixedArchive:
    """Write files and put them into an archive.

    Parameters
    ----------
    folder : Path
        For the files.
    assets : int
        All assets, good and bad, divided over the dandisets.
    bad : int
        Assets that are bad, in each way about as many.
    dandisets : sequence of str, optional
        Names of the dandisets.
    """
    archive = Archive()
    for dandiset in dandisets:
        archive.add_dandiset(dandiset)
    made = MixedArchive(ArchiveServer(archive))
    kinds = list(EXPECTED)
    places = random.Random(1).sample(range(assets), bad)
    kind_at = {place: kinds[number % len(kinds)] for number, place in enumerate(places)}
    for number in range(assets):
        kind = kind_at.get(number)
        dandiset = dandisets[number % len(dandisets)]
        path = f"sub-{number // 30:03d}/{kind or 'good'}-{number:04d}.nwb"
        file = write_file(folder / f"{number:04d}.nwb", seed=number)
        if kind in DAMAGED:
            # The number makes each file one of its own: files with one blob are read once.
            damaged = DAMAGED[kind][0](file.read_bytes())
            file.write_bytes(damaged + str(number).encode())
        asset = archive.add_asset(dandiset, path, file)
        if kind in SERVED:
            fault = Fault(path=made.server.object_path(asset), **SERVED[kind][0])  # type: ignore[arg-type]
            made.server.store.faults.add(fault)
        if kind is None:
            made.good.append((dandiset, path))
        else:
            made.bad[dandiset, path] = kind
    return made


def write_file(path: Path, *, seed: int) -> Path:
    """Write a small file of its own content, laid out as NWB files are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file.attrs["neurodata_type"] = "NWBFile"
        data = np.arange(2_000) + seed
        file.create_dataset("acquisition/series/data", data=data, chunks=(500,), compression="gzip")
        file["acquisition/series/timestamps"] = np.linspace(0, seed + 1, 500)
        file["identifier"] = f"file {seed}"
    return path


def read_records(output: Path) -> dict[tuple[str, str], IndexRecord]:
    """Read all records of an output, by dandiset and path."""
    found = map(read_record, sorted(output.glob("dandisets/**/*.record.json")))
    return {(record.dandiset, record.path): record for record in found}


def wrong_causes(made: MixedArchive, output: Path) -> list[str]:
    """Say which assets ended otherwise than they should, a line for each."""
    records = read_records(output)
    wrong = []
    for place, kind in made.bad.items():
        record = records.get(place)
        found = record.error.kind if record is not None and record.error is not None else "no error"
        if found != EXPECTED[kind]:
            wrong.append(f"{'/'.join(place)}: {found}, expected {EXPECTED[kind]}")
    for place in made.good:
        record = records.get(place)
        if record is None or record.outcome != "indexed" or not record.verification:
            wrong.append(f"{'/'.join(place)}: {'no record' if record is None else record.outcome}")
    return wrong


def config_text(
    api_url: str, output: Path, *, concurrency: int = 2, dandisets: Sequence[str] = DANDISETS
) -> str:
    """The configuration of a run over all dandisets."""
    names = ", ".join(f"'{dandiset}'" for dandiset in dandisets)
    return (
        f"flow: index_dandisets\narchive: {api_url}\ndandisets: [{names}]\noutput: {output}\n"
        f"run: {{concurrency: {concurrency}, retries: 1, timeout: 120}}\n"
    )


def main() -> int:
    """Run, check and print."""
    assets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = build(folder / "files", assets, bad=max(len(EXPECTED), assets * 3 // 100))
        with made.server:
            return _three_runs(made, folder, assets)


def _three_runs(made: MixedArchive, folder: Path, assets: int) -> int:
    config, output = folder / "config.yaml", folder / "output"
    config.write_text(config_text(made.server.api_url, output))
    wrong = []
    _run("first run", made, config, assets)
    wrong += wrong_causes(made, output)
    report = (output / "report.html").read_text()
    wrong += [f"the report does not name {path}" for _, path in made.bad if path not in report]
    before = read_records(output)
    asked = _run("second run, nothing changed", made, config, assets)
    passing = sum(kind in SERVED for kind in made.bad.values())
    print(f"  requests per unchanged asset: {asked / (assets - passing):.4f}")
    wrong += [f"{place} was done again" for place in _done_again(before, output) if place in made.good]
    before = read_records(output)
    changed = made.replace(max(1, assets // 100), folder / "files")
    _run(f"third run, {len(changed)} changed", made, config, assets)
    again = {place for place in _done_again(before, output) if place in made.good}
    if again != set(changed):
        wrong.append(f"done again: {sorted(again)}, changed: {sorted(changed)}")
    print("\n".join(wrong) or "every asset ended as it should, and every bad one is named with its cause")
    return 1 if wrong else 0


def _done_again(before: dict[tuple[str, str], IndexRecord], output: Path) -> list[tuple[str, str]]:
    return [place for place, record in read_records(output).items() if record != before.get(place)]


def _run(name: str, made: MixedArchive, config: Path, assets: int) -> int:
    """Run the command, print what it took, and give the number of requests for listings."""
    from .prefect_share import show, watch

    api, store = made.server.api.log, made.server.store.log
    at_api, at_store = len(api), len(store)
    found = watch(["-m", "flows", "run", str(config)], config.parent / "output", codes=(0, 1, 3))
    listings = [entry for entry in api.entries[at_api:] if entry.path.startswith("/api/dandisets/")]
    show(name, found, assets)
    print(
        f"  {len(listings)} requests for listings, {len(api) - at_api - len(listings)} to find files, "
        f"{len(store) - at_store} for bytes; most memory in MiB: "
        + ", ".join(f"{kind} {most / 2**20:.0f}" for kind, most in sorted(found.memory.items()))
    )
    return len(listings)


def _zipped(content: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("a.nwb", content)
    return target.getvalue()


if __name__ == "__main__":
    sys.exit(main())
