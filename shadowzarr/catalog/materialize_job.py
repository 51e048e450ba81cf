"""What a child process does to materialize one asset; small values in and out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .archive_address import ArchiveAddress
from .bucket_output import BucketOutput
from .materialize_record import StoreFacts
from .records import SkippedObject

FUNCTION = "shadowzarr.catalog.materialize_job:write_store"
PRELOAD = ("shadowzarr.catalog.materialize_job", "shadowzarr.export.materialize")


@dataclass(frozen=True)
class MaterializeJob:
    """What is needed to write one store.

    Attributes
    ----------
    references : Path
    out : Path
        A local folder or zip file, when there is no bucket.
    layout : str
    verify : bool
        Whether it is read back and compared.
    max_memory : int
        Bytes of data to hold at a time.
    archive : ArchiveAddress
    bucket : BucketOutput, optional
        Whose prefix is the store's own.
    scratch : Path, optional
        Where what does not fit into the memory lies meanwhile; beside a local output by default.
    """

    references: Path
    out: Path
    layout: Literal["default", "ephys", "imaging"]
    verify: bool
    max_memory: int
    archive: ArchiveAddress
    bucket: BucketOutput | None = None
    scratch: Path | None = None


def write_store(job: MaterializeJob) -> StoreFacts:
    """Write the store, or go on where an earlier run of the same ended.

    Raises
    ------
    ShadowzarrError
        As `materialize` raises them.
    """
    from zarr.storage import ObjectStore

    from ..export.materialize import materialize

    job.archive.register()
    if job.scratch is not None:
        job.scratch.mkdir(parents=True, exist_ok=True)
    report = materialize(
        job.references,
        job.out if job.bucket is None else ObjectStore(job.bucket.client),
        layout=job.layout,
        verify=job.verify,
        max_memory=job.max_memory,
        scratch=job.scratch,
    )
    return StoreFacts(
        arrays=len(report.arrays),
        copied=report.copied,
        value_bytes=report.nbytes,
        stored_bytes=report.stored_nbytes,
        verified=report.verified,
        left_out=[SkippedObject(*each) for each in report.left_out],
    )
