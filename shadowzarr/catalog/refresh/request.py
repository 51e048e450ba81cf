"""What a refresh of Icechunk repositories is asked to do; nothing heavy imported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...access.locations import canonical
from ..archive_address import ArchiveAddress
from ..layout import OutputLayout
from ..request import DandisetRequest

PLACE_NAME = "icechunk"
"""Folder of an output in which repositories lie when no other place is named."""

Versions = Literal["all", "latest", "none"]
"""Which published versions become tags."""


@dataclass(frozen=True)
class RefreshRequest:
    """What a refresh is asked to do.

    Attributes
    ----------
    archive : ArchiveAddress
        What is followed.
    public : OutputLayout
        Where published references are; the private output is never looked at.
    place : str
        Where repositories lie, each in a folder that is named by its dandiset: a local folder, or
        ``s3://<bucket>/<prefix>``.
    dandisets : tuple of DandisetRequest
        What is followed; all dandisets that the output holds, in their drafts, when there are none.
    branch : str
        The branch that follows the archive.
    versions : {"all", "latest", "none"}
        Which published versions become tags.
    keep_days : float, optional
        Days for which snapshots stay in the history; none for ever.
    grace_days : float
        Days for which objects stay that no snapshot needs: a run that is writing has not committed yet.
    copy_selections : bool
        Whether data of arrays that cannot be virtual are copied into the repository.
    force : bool
        Whether all groups are written anew.
    endpoint, region : str, optional
        Service of an ``s3://`` place, and region of its bucket; those of the ``AWS_`` variables by default.
    """

    archive: ArchiveAddress
    public: OutputLayout
    place: str
    dandisets: tuple[DandisetRequest, ...] = ()
    branch: str = "main"
    versions: Versions = "all"
    keep_days: float | None = 30.0
    grace_days: float = 1.0
    copy_selections: bool = False
    force: bool = False
    endpoint: str | None = None
    region: str | None = None

    def repository(self, dandiset: str) -> str:
        """The place of a dandiset's repository."""
        return f"{self.place.rstrip('/')}/{dandiset}"

    @property
    def folder(self) -> Path | None:
        """The place when it is a local folder."""
        location = canonical(self.place)
        return None if "://" in location else Path(location)
