"""What was done with one asset: `IndexRecord`, and its form on disk.

A record is one JSON file beside the references it describes. It is written last, so a record that
exists describes references that are whole. Everything that differs between two runs with the same
outcome (times, worker numbers) stands under ``stages``. Where records lie, and what their names
say, is the subject of `shadowzarr.catalog.layout`.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from ..errors import InvalidReferencesError
from .atomic_files import write_whole
from .output_store import OutputStore

Outcome = Literal["indexed", "partial", "failed"]
"""``partial``: indexed and verified, but objects that cannot be represented are left out by name."""

Stage = Literal["index", "verify", "publish", "record"]
STAGES: tuple[Stage, ...] = ("index", "verify", "publish", "record")


@dataclass(frozen=True)
class StageTime:
    """When one stage of an asset ran.

    Attributes
    ----------
    stage : str
        ``index``, ``verify`` or ``publish``; ``record`` when a failure was recorded.
    started : str
        UTC, ``2026-01-02T03:04:05.678Z``.
    seconds : float
        Duration of the last attempt.
    worker : int, optional
        Number of the child process that did it, from 0; none for stages that need none.
    """

    stage: str
    started: str
    seconds: float
    worker: int | None = None


@dataclass(frozen=True)
class RecordCounts:
    """What the references of one asset hold.

    Attributes
    ----------
    groups, arrays : int
        Zarr nodes.
    chunks : int
        Chunks of all arrays that are stored anywhere: in the source, or inline.
    inline_chunks : int
        Those of them that the document itself holds.
    indexed_arrays : int
        Arrays whose chunks are in a chunk index.
    array_bytes : int
        Bytes of all arrays as numpy would hold them; text counts as nothing.
    converted : int
        Objects whose values were copied or whose type was changed.
    """

    groups: int = 0
    arrays: int = 0
    chunks: int = 0
    inline_chunks: int = 0
    indexed_arrays: int = 0
    array_bytes: int = 0
    converted: int = 0


@dataclass(frozen=True)
class SkippedObject:
    """An object of the source that the references leave out."""

    path: str
    kind: str
    reason: str


@dataclass(frozen=True)
class VerificationSummary:
    """What the verification of one asset compared.

    Attributes
    ----------
    mode : str
        ``sample``, ``full`` or ``none`` (not verified).
    seed : int
        Seed of the sample.
    equal : bool
        Whether no difference was found. False when nothing was compared.
    objects : int
        Groups, arrays, attributes and links compared.
    bytes : int
        Bytes of values compared.
    differences : list of str
        The first differences, one line each.
    difference_count : int
        All of them.
    left_out : int
        Objects left out by name, which were not compared.
    retries : int
        Requests that were tried again.
    """

    mode: str
    seed: int = 0
    equal: bool = False
    objects: int = 0
    bytes: int = 0
    differences: list[str] = field(default_factory=list)
    difference_count: int = 0
    left_out: int = 0
    retries: int = 0


@dataclass(frozen=True)
class ErrorSummary:
    """Why an asset failed.

    Attributes
    ----------
    stage : str
        Where it failed.
    kind : str
        Name of the error's class.
    message : str
        What was found, what was expected, what to do. Holds no query string and no key.
    transient : bool
        Whether trying again later, with nothing changed, may help.
    permanent : bool
        Whether the same file gives it again, so that later runs pass it over for a while.
    retries : int
        Requests that were tried again before, in the stage that failed.
    """

    stage: str
    kind: str
    message: str
    transient: bool = False
    permanent: bool = False
    retries: int = 0


@dataclass(frozen=True)
class IndexRecord:
    """One asset, and what came of indexing it.

    Attributes
    ----------
    asset_id, dandiset, version, path : str
        Which asset; ``version`` is ``draft`` or a published version.
    etag : str
        ``dandi:dandi-etag`` of its blob, without quotes.
    size : int
        Bytes of the source file.
    private : bool
        Whether the asset is embargoed; its record lies in the private output.
    url : str
        The URL that references point into.
    options : dict
        Options that decide what the references look like; ``options_digest`` is their digest.
    format_version : int
        Version of shadowzarr's document format.
    outcome : str
        ``indexed``, ``partial`` or ``failed``.
    references : str, optional
        Where the references are, relative to the output folder, with ``/``; none when it failed.
    references_bytes, references_files : int
        What they take on disk.
    repointed_from : str, optional
        Asset whose references, of the same blob, these were made from.
    counts : RecordCounts
    skipped : list of SkippedObject
    verification : VerificationSummary, optional
    error : ErrorSummary, optional
        Only when it failed.
    statistics : dict of str to number
        Cost of generating: ``requests``, ``bytes_read`` and the like, as generation reports it; ``retries``
        of all stages, also of an asset that failed.
    stages : list of StageTime
    libraries : dict of str to str
        Versions of the libraries that decide the outcome.
    remarks : list of str
        What somebody should know of a recording that was converted: which data were copied and why, and
        what was found in it that is no error.
    """

    asset_id: str
    dandiset: str
    version: str
    path: str
    etag: str
    size: int
    url: str
    options: dict[str, Any]
    options_digest: str
    format_version: int
    outcome: Outcome
    private: bool = False
    references: str | None = None
    references_bytes: int = 0
    references_files: int = 0
    repointed_from: str | None = None
    counts: RecordCounts = field(default_factory=RecordCounts)
    skipped: list[SkippedObject] = field(default_factory=list)
    verification: VerificationSummary | None = None
    error: ErrorSummary | None = None
    statistics: dict[str, float] = field(default_factory=dict)
    stages: list[StageTime] = field(default_factory=list)
    libraries: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def failure_text(self) -> str:
        """Where and why it failed; without the file's address, which the path says better."""
        if self.error is None:
            return "no reason was recorded"
        address = rf"(?<!\w){re.escape(self.url)}(?!\w)" if self.url else "(?!)"
        message = re.sub(address, "the file", self.error.message)
        return f"{self.error.stage}: {message}"

    @property
    def seconds(self) -> float:
        """Time of all stages together."""
        return sum(stage.seconds for stage in self.stages)


def write_record(record: IndexRecord, path: Path, *, scratch: Path) -> None:
    """Write a record whole or not at all; ``scratch`` as in `write_whole`.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    write_whole(path, record_bytes(record), scratch=scratch)


def record_bytes(record: IndexRecord) -> bytes:
    """Return the content of a record's file."""
    return orjson.dumps(dataclasses.asdict(record), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def read_record(path: Path) -> IndexRecord:
    """Read one record from a file on this machine.

    Raises
    ------
    InvalidReferencesError
        When the file is no record, or one of a version with other fields.
    """
    return _parsed(path.read_bytes(), str(path))


def load_record(store: OutputStore, name: str) -> IndexRecord:
    """Read one record of an output; ``name`` is relative to it.

    Raises
    ------
    InvalidReferencesError
        As for `read_record`.
    OSError
        When it cannot be read, or is not there any more.
    """
    return _parsed(store.read(name), store.location(name))


def record_from_json(values: dict[str, Any]) -> IndexRecord:
    """Build a record from its JSON form."""
    return IndexRecord(
        **{
            **values,
            "counts": RecordCounts(**values["counts"]),
            "skipped": [SkippedObject(**item) for item in values["skipped"]],
            "verification": _optional(VerificationSummary, values["verification"]),
            "error": _optional(ErrorSummary, values["error"]),
            "stages": [StageTime(**item) for item in values["stages"]],
        }
    )


def _parsed(content: bytes, name: str) -> IndexRecord:
    try:
        return record_from_json(orjson.loads(content))
    except (orjson.JSONDecodeError, TypeError, KeyError) as error:
        raise InvalidReferencesError(f"{name} is not a record that this version reads: {error}") from error


def _optional[T](kind: type[T], values: dict[str, Any] | None) -> T | None:
    return None if values is None else kind(**values)
