"""What goes to child processes and comes back: small values only, and nothing heavy imported.

The work itself is in `shadowzarr.catalog.index_asset` and `shadowzarr.catalog.verify_asset`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..recognition import Format
from .archive_address import ArchiveAddress
from .options import ReferenceOptions
from .output_store import OutputStore
from .records import RecordCounts, SkippedObject

INDEX_FUNCTION = "shadowzarr.catalog.index_asset:index_asset"
VERIFY_FUNCTION = "shadowzarr.catalog.verify_asset:verify_asset"
PRELOAD = (
    "shadowzarr.catalog.index_asset",
    "shadowzarr.catalog.verify_asset",
    "shadowzarr.formats.hdf5.generate",  # the dispatcher imports generators when a file needs them
)
"""What children import before their first job."""


@dataclass(frozen=True)
class IndexJob:
    """What a child process needs to index one asset.

    Attributes
    ----------
    url : str
        What the references will point into.
    staged : Path
        Where they are written.
    size, etag
        Of the asset, as it is listed; the ETag is the one that references hold, without quotes.
    options : ReferenceOptions
    archive : ArchiveAddress
    twin : str, optional
        Record of an asset with the same blob, whose references may be pointed at this one; relative to the
        output.
    output : OutputStore, optional
        The output in which the twin lies.
    local : str
        A local copy to read in place of the URL; empty when there is none.
    likely : {"hdf5"}, optional
        What the file is by its name; its content decides.
    is_recording : bool
        Whether it may be several files; the size is that of all of them then.
    requests : int, optional
        Requests for bytes that may be under way at once.
    """

    url: str
    staged: Path
    size: int
    etag: str
    options: ReferenceOptions
    archive: ArchiveAddress
    twin: str | None = None
    output: OutputStore | None = None
    local: str = ""
    likely: Format | None = None
    is_recording: bool = False
    requests: int | None = None


@dataclass(frozen=True)
class IndexResult:
    """What came of it, beside the references themselves; attributes as in `IndexRecord`."""

    counts: RecordCounts
    skipped: list[SkippedObject] = field(default_factory=list)
    statistics: dict[str, float] = field(default_factory=dict)
    repointed_from: str | None = None


@dataclass(frozen=True)
class IndexNews:
    """How far the indexing of an asset is: chunks, bytes that they are, requests made."""

    chunks: int
    bytes: int
    requests: int = 0


@dataclass(frozen=True)
class VerificationOptions:
    """How references are verified: ``sample``, ``full`` or ``none``, and the seed of the sample."""

    mode: Literal["sample", "full", "none"] = "sample"
    seed: int = 0


@dataclass(frozen=True)
class VerifyJob:
    """What a child process needs to verify one asset.

    Attributes
    ----------
    url : str
        The original.
    staged : Path
        The references.
    options : VerificationOptions
    archive : ArchiveAddress
    local : str
        A local copy to compare with in place of the original; empty when there is none.
    requests : int, optional
        Requests for bytes that may be under way at once.
    """

    url: str
    staged: Path
    options: VerificationOptions
    archive: ArchiveAddress
    local: str = ""
    requests: int | None = None
