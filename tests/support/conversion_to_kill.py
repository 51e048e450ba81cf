"""Conversions that are killed, and a reader that looks on; run by `other_processes`.

Version n of the recording is a stack of its own whose pixels are all n, with a session that says so: what is
of one version is told from what is of another, and from what is half written.
"""

from __future__ import annotations

import json
import mmap
import pickle
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tifffile
import zarr
from archive_trees import tree
from other_processes import count_steps, find

from shadowzarr import open_rfs
from shadowzarr.catalog.archive_address import ArchiveAddress
from shadowzarr.catalog.child_pool import JobResult
from shadowzarr.catalog.clock import utc_now
from shadowzarr.catalog.jobs import VerificationOptions
from shadowzarr.catalog.records import read_record
from shadowzarr.catalog.request import IndexRequest
from shadowzarr.conversion import run, stages, validate_file, verify_file, write_file, write_store  # noqa: F401 - the jobs' imports, before a fork
from shadowzarr.conversion.jobs import RecordingJob
from shadowzarr.conversion.request import (
    STORE_SUFFIXES,
    ConversionRequest,
    ConversionRules,
    Interface,
    Recording,
    StoreForm,
)
from shadowzarr.conversion.stages import publish_nwb
from shadowzarr.errors import ShadowzarrError
from shadowzarr.testing.sample_recordings import METADATA
from shadowzarr.write import DOCUMENT_NAME

FRAMES, SHAPE = 30, (16, 24)
GONE = (ShadowzarrError, OSError, KeyError)
"""What reading raises of a file that another takes the place of meanwhile; all else is a fault."""
SESSION = "Spontaneous activity in the dark"


class Here:
    """Runs jobs in this process, so that a kill hits them as it hits all of a run's processes."""

    def run(self, function: str, job: RecordingJob, **_: object) -> JobResult:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return JobResult(find(function)(job), 0, utc_now(), 0.0)


class Remembering(Here):
    """Gives what the same job gave before, and the files that it wrote: only publishing takes time then."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def run(self, function: str, job: RecordingJob, **_: object) -> JobResult:
        kept = self._folder / function.rpartition(":")[2]
        written = {"write_file": job.staged, "write_store": job.store_path}.get(kept.name)
        if not kept.exists():
            result = super().run(function, job)
            if written is not None:
                _copy(written, kept.with_suffix(".written"))
            kept.write_bytes(pickle.dumps(result))
        elif written is not None:
            _copy(kept.with_suffix(".written"), written)
        found: JobResult = pickle.loads(kept.read_bytes())
        return found


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, target) if source.is_dir() else shutil.copyfile(source, target)


def write_version(source: Path, version: int) -> None:
    """Write the recording, and its metadata, in another version."""
    with tifffile.TiffWriter(source / f"stack-{version}.tif") as writer:
        for _ in range(FRAMES):
            page = np.full(SHAPE, version, "<u2")
            writer.write(page, contiguous=False, metadata=None, photometric="minisblack")
    metadata = METADATA.replace(SESSION, f"version {version}")
    (source / f"metadata-{version}.yaml").write_text(metadata)


def conversion_request(source: Path, version: int, output: Path, form: StoreForm) -> ConversionRequest:
    stack = {"file_paths": [str(source / f"stack-{version}.tif")], "sampling_frequency": 30.0}
    recording = Recording(
        "sub-1/one",
        {"images": Interface("TiffImagingInterface", stack)},
        (source / f"metadata-{version}.yaml",),
    )
    return ConversionRequest(
        IndexRequest(
            ArchiveAddress(""), dandisets=(), output=output / "out", concurrency=1,
            verification=VerificationOptions("full"),
        ),
        "lab",
        (recording,),
        ConversionRules(store=form, stores=output / "stores"),
    )  # fmt: skip


def convert(begin: Any, source: str, version: str, output: str, form: StoreForm) -> None:
    begin()
    _run(conversion_request(Path(source), int(version), Path(output), form), Here())


def publish(begin: Any, source: str, version: str, output: str, form: StoreForm, kill_before: str) -> None:
    """Convert what was converted before, and be killed before a step of publishing; 0 for none."""

    def counted(*arguments: Any) -> Any:
        count_steps(mmap.mmap(-1, 8), int(kill_before))
        return publish_nwb(*arguments)

    stages.FUNCTIONS["publish"] = counted
    begin()
    remembering = Remembering(Path(source) / f"remembered-{version}-{form}")
    _run(conversion_request(Path(source), int(version), Path(output), form), remembering)


def _run(request: ConversionRequest, pool: Any) -> None:
    for record in run.convert_recordings(request, pool=pool).records:  # none when it was done before
        assert record.outcome == "indexed", record.error


_seen: set[Path] = set()
"""What a reader has seen once."""


def look_at_converted(output: str) -> dict[str, int]:
    """Whatever has its name is whole, and of one version; what was there once is never away."""
    place, counts = Path(output), {"references": 0, "stores": 0, "records": 0, "replaced meanwhile": 0}
    stores = [path for path in (place / "stores" / "sub-1").glob("*") if path.name.startswith("one.nwb")]
    _seen.update([*stores, *place.glob("out/collections/**/*.nwb.shadowzarr")])
    for path in sorted(_seen):
        before = _state(path)
        try:
            versions = _versions(path)
        except GONE:
            if _state(path) == before:
                raise
            counts["replaced meanwhile"] += 1
            continue
        if _state(path) != before:
            counts["replaced meanwhile"] += 1
            continue
        assert len(versions) == 1, f"{path} is of versions {versions}"
        counts["references" if path.suffix == ".shadowzarr" else "stores"] += 1
    for path in place.glob("out/collections/**/*.record.json"):
        counts["records"] += _is_described(place / "out", path)
    return counts


def held(output: Path) -> tuple[list[str], set[int]]:
    """All names in an output, without what tells versions apart, and the versions of all that can be read."""
    stores = [output / f"stores/sub-1/one.nwb{suffix}" for suffix in STORE_SUFFIXES.values()]
    looks = [path for path in stores if path.exists()] + [*output.glob("out/collections/**/*.nwb.shadowzarr")]
    names = {f"{room}/{name}" for room in ("out", "stores") for name in tree(output / room)}
    digests = r"[0-9a-f]{32}-0\.[0-9a-f]{12}\."
    return sorted(re.sub(digests, "", name) for name in names), set().union(*map(_versions, looks))


def _state(path: Path) -> tuple[int, int]:
    """What tells that a file, a folder, or the document in it was replaced; it must be there."""
    inner = path / DOCUMENT_NAME
    return path.stat().st_ino, inner.stat().st_ino if inner.exists() else 0


def _versions(path: Path) -> set[int]:
    """What a session, and all pixels, say."""
    if path.suffix == ".nwb":
        with h5py.File(path) as file:
            return _read(file, file["session_description"][()].decode())
    root: Any = open_rfs(path) if path.suffix == ".shadowzarr" else zarr.open_group(path, mode="r")
    return _read(root, str(root["session_description"][()]))


def _read(root: Any, session: str) -> set[int]:
    pixels = root["acquisition/MicroscopySeries/data"][...]
    assert pixels.shape == (FRAMES, *SHAPE[::-1])
    return {int(session.split()[1]), *np.unique(pixels).tolist()}


def _is_described(output: Path, path: Path) -> bool:
    """Whether a record was there all the time, and then describes references, and an ordinary file."""
    try:
        record = read_record(path)
        references = output / str(record.references)
        sources = json.loads((references / DOCUMENT_NAME).read_bytes())["sources"]
        suffix = STORE_SUFFIXES[record.options["store"]]
        versions = _versions(output.parent / "stores" / f"{record.path}{suffix}")
    except GONE:
        assert not path.exists(), f"{path} describes nothing"
        return False
    if not path.exists():
        return False
    (version,) = versions
    assert [Path(name).name for name in sources] == [f"stack-{version}.tif"]
    assert [Path(name).name for name in record.options["metadata"]] == [f"metadata-{version}.yaml"]
    return True
