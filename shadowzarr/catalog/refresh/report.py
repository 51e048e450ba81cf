"""What a refresh did, as its summary and its exit code see it; facts only."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..run_summary import EXIT_ALL_WELL, EXIT_FAILURE, EXIT_LEFT_OUT
from .contents import MissingAsset
from .decide import RepositoryChange


@dataclass(frozen=True)
class VersionTag:
    """A published version, and what became of its tag.

    Attributes
    ----------
    version : str
        Its name, which is that of the tag.
    snapshot : str, optional
        What the tag is at; none when it could not be made, or was not yet.
    is_of_branch : bool
        Whether that is a snapshot of the branch's history, rather than one beside it.
    reason : str
        Why it was not made.
    """

    version: str
    snapshot: str | None = None
    is_of_branch: bool = False
    reason: str = ""


@dataclass
class RepositoryReport:
    """What was done, or would be, about the repository of one dandiset.

    Attributes
    ----------
    dandiset, version : str
        What is followed; the version is empty when it was not found.
    place : str
        Where the repository is.
    change : RepositoryChange
        Against what it held.
    assets : int
        Assets that it holds in the end.
    snapshot : str, optional
        The commit; none when nothing was changed.
    tags : list of VersionTag
        Of the published versions that had none.
    expired : int
        Snapshots that left the history.
    deleted_bytes : int
        Bytes of objects that nothing needed any more.
    embargoed : int
        Assets that are left out because they are not public.
    error : str
        Why nothing, or not all, was done.
    """

    dandiset: str
    place: str
    version: str = ""
    change: RepositoryChange = field(default_factory=RepositoryChange)
    assets: int = 0
    snapshot: str | None = None
    tags: list[VersionTag] = field(default_factory=list)
    expired: int = 0
    deleted_bytes: int = 0
    embargoed: int = 0
    error: str = ""

    @property
    def missing(self) -> list[MissingAsset]:
        """What the repository should hold and does not."""
        return self.change.missing

    @property
    def is_left_out(self) -> bool:
        """Whether something is not in the repository that the archive has."""
        return bool(self.missing) or any(tag.reason for tag in self.tags)


@dataclass
class RefreshSummary:
    """All repositories of a run."""

    repositories: list[RepositoryReport] = field(default_factory=list)

    @property
    def failures(self) -> list[RepositoryReport]:
        """Those that failed."""
        return [each for each in self.repositories if each.error]

    @property
    def exit_code(self) -> int:
        """1 when a repository failed, 3 when something is left out by name, else 0."""
        if self.failures:
            return EXIT_FAILURE
        left_out = any(each.is_left_out for each in self.repositories)
        return EXIT_LEFT_OUT if left_out else EXIT_ALL_WELL
