"""What a run is asked to do, in the library's words; nothing heavy imported."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from .archive_address import ArchiveAddress
from .bucket_output import BucketOutput
from .budget import Budget
from .file_assets import Identity
from .jobs import VerificationOptions
from .layout import OutputLayout, layout_at
from .limits import Limits
from .options import ReferenceOptions
from .plan import SelectionRules
from .redo import RedoRules
from .run_summary import Fate

FILE_INCLUDE = ("**/*.nwb", "**/*.h5", "**/*.hdf5", "**/*.nc", "**/*.mat", "**/*.tif", "**/*.tiff")
"""What is wanted of a folder when nothing else is said, beside recordings that NEO reads."""

SPARE_ASSETS = 2
"""Assets in flight beyond the processes, so that none waits while others are published."""


@dataclass(frozen=True)
class DandisetRequest:
    """One dandiset: six digits, ``draft``, ``latest`` or a published version, and what is wanted of it."""

    dandiset: str
    version: str = "draft"
    rules: SelectionRules = field(default_factory=SelectionRules)


@dataclass(frozen=True)
class FolderRequest:
    """A folder of files, and what is wanted of it.

    Attributes
    ----------
    name : str
        What its results are called.
    path : Path
        The folder, absolute.
    rules : SelectionRules
        Over paths below it.
    url_prefix : str
        Where the folder is hosted, so that references name files there; empty for the local files.
    identity : {"time", "digest"}
        How it is noticed that a file has changed.
    """

    name: str
    path: Path
    rules: SelectionRules = field(
        default_factory=lambda: SelectionRules(FILE_INCLUDE, is_include_own=False, recordings=True)
    )
    url_prefix: str = ""
    identity: Identity = "time"


@dataclass(frozen=True)
class ManifestRequest:
    """A list of files, and what is wanted of it.

    Attributes
    ----------
    name : str
        What its results are called.
    file : str
        The list: a local path or a URL.
    rules : SelectionRules
        Over the names of its entries.
    identity : {"time", "digest"}
        How it is noticed that a local file has changed.
    """

    name: str
    file: str
    rules: SelectionRules = field(default_factory=lambda: SelectionRules(include=("**",)))
    identity: Identity = "time"


type Wanted = DandisetRequest | FolderRequest | ManifestRequest
"""Where assets come from."""


@dataclass(frozen=True)
class IndexRequest:
    """What a run is asked to do.

    Attributes
    ----------
    archive : ArchiveAddress
    dandisets : tuple of DandisetRequest
    folders : tuple of FolderRequest
    manifests : tuple of ManifestRequest
    output : Path or BucketOutput
        Where results about open assets go.
    private_output : Path or BucketOutput, optional
        Where those about embargoed assets go, which are passed over without it.
    options : ReferenceOptions
    verification : VerificationOptions
    concurrency : int
        Child processes.
    timeout : float, optional
        Seconds that one stage of one asset may take.
    memory_limit : int, optional
        Bytes of memory that a child process may take.
    stop_on_error : bool
        Whether to start no further asset after one failed.
    redo : RedoRules
        What is done that was done or tried before.
    gone : str
        What becomes of results whose assets left their version.
    budget : Budget, optional
        What the run may take; the oldest assets come first then, and elsewhere dandisets take turns.
    limits : Limits
        What may be asked of servers at once.
    in_parts : bool
        Whether others do parts of it, see `shadowzarr.catalog.parts`.
    part : str
        The name of what it is about, when it is a part of another run.
    """

    archive: ArchiveAddress
    dandisets: tuple[DandisetRequest, ...]
    output: Path | BucketOutput
    private_output: Path | BucketOutput | None = None
    options: ReferenceOptions = field(default_factory=ReferenceOptions)
    verification: VerificationOptions = field(default_factory=VerificationOptions)
    concurrency: int = 2
    timeout: float | None = None
    memory_limit: int | None = None
    stop_on_error: bool = False
    folders: tuple[FolderRequest, ...] = ()
    manifests: tuple[ManifestRequest, ...] = ()
    redo: RedoRules = field(default_factory=RedoRules)
    gone: Fate = "kept"
    budget: Budget | None = None
    limits: Limits = field(default_factory=Limits)
    in_parts: bool = False
    part: str = ""

    @property
    def processes(self) -> int:
        """Child processes that the limits leave."""
        return self.limits.processes(self.concurrency)

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """All that assets come from, in the order in which they are listed."""
        return (*self.dandisets, *self.folders, *self.manifests)

    @property
    def names(self) -> list[str]:
        """What the results of all that is wanted are called: dandisets, folders and manifests."""
        folders, manifests = [each.name for each in self.folders], [each.name for each in self.manifests]
        return [*(each.dandiset for each in self.dandisets), *folders, *manifests]

    @property
    def window(self) -> int:
        """Assets in flight at once."""
        return self.processes + SPARE_ASSETS

    @property
    def public(self) -> OutputLayout:
        """Places of open assets."""
        return replace(layout_at(self.output, self.options), part=self.part)

    @property
    def private(self) -> OutputLayout | None:
        """Places of embargoed assets."""
        if self.private_output is None:
            return None
        return replace(layout_at(self.private_output, self.options), part=self.part)

    @property
    def layouts(self) -> list[OutputLayout]:
        """Both outputs, or the one there is."""
        return [self.public] if self.private is None else [self.public, self.private]
