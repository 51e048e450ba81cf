"""The nouns of an archive: users, blobs, Zarr stores, assets, versions, dandisets (no behaviour)."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

EmbargoStatus = Literal["OPEN", "EMBARGOED", "UNEMBARGOING"]

DRAFT = "draft"


def stable_uuid(*parts: str) -> str:
    """Make a UUID that looks like one of version 4 and is the same for the same parts."""
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


@dataclass(frozen=True)
class User:
    """Somebody with a key.

    Attributes
    ----------
    name : str
        Name by which dandisets list their owners.
    key : str
        What follows ``token`` in the ``Authorization`` header.
    is_admin : bool
        Whether `/assets/{id}/` shows this user embargoed assets of others.
    """

    name: str
    key: str = field(repr=False)
    is_admin: bool = False


@dataclass(frozen=True)
class Blob:
    """The bytes of an asset; assets with the same bytes share one.

    Attributes
    ----------
    blob_id : str
        UUID, made from ETag and size.
    file : Path
        Where the bytes are.
    size : int
        Number of bytes.
    etag : str
        ``dandi:dandi-etag``, without quotes.
    """

    blob_id: str
    file: Path
    size: int
    etag: str

    @property
    def key(self) -> str:
        """Key in the object store."""
        return f"blobs/{self.blob_id[:3]}/{self.blob_id[3:6]}/{self.blob_id}"


@dataclass(frozen=True)
class ZarrFile:
    """One file of a Zarr store: its path inside, the file, its size, plain MD5 and time."""

    path: str
    file: Path
    size: int
    etag: str
    modified: datetime


@dataclass(frozen=True)
class ZarrStore:
    """A Zarr store as it was when it was last ingested.

    Attributes
    ----------
    zarr_id : str
        UUID; stays when the content changes.
    dandiset : str
        The dandiset it belongs to.
    name : str
        The path under which it was added.
    folder : Path
        Where its files are.
    files : tuple of ZarrFile
        Sorted by path.
    checksum : str
        ``dandi:dandi-zarr-checksum``.
    """

    zarr_id: str
    dandiset: str
    name: str
    folder: Path
    files: tuple[ZarrFile, ...]
    checksum: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Asset:
    """A path with its content and metadata; any change makes a new asset.

    Attributes
    ----------
    asset_id : str
        UUID.
    path : str
        Path in the dandiset.
    blob_id, zarr_id : str or None
        Exactly one is set.
    created, modified : datetime
        UTC.
    metadata : mapping
        What the uploader said beyond what the archive computes.
    published : datetime or None
        When it first became part of a published version.
    """

    asset_id: str
    path: str
    blob_id: str | None
    zarr_id: str | None
    created: datetime
    modified: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict)
    published: datetime | None = None


@dataclass
class Version:
    """A version of a dandiset.

    Attributes
    ----------
    name : str
        ``draft`` or ``0.YYMMDD.HHMM``.
    created, modified : datetime
        UTC.
    assets : dict of str to str
        Asset ids by path.
    status : str
        As the archive names it: ``Valid``, ``Published`` and so on.
    """

    name: str
    created: datetime
    modified: datetime
    assets: dict[str, str] = field(default_factory=dict)
    status: str = "Valid"


@dataclass
class Dandiset:
    """A dandiset.

    Attributes
    ----------
    identifier : str
        Six digits.
    title : str
        Name for people.
    owners : set of str
        Names of users.
    embargo : str
        ``OPEN``, ``EMBARGOED`` or ``UNEMBARGOING``.
    created : datetime
        UTC.
    versions : dict of str to Version
        The draft first, then in the order of publication.
    """

    identifier: str
    title: str
    created: datetime
    owners: set[str] = field(default_factory=set)
    embargo: EmbargoStatus = "OPEN"
    versions: dict[str, Version] = field(default_factory=dict)

    @property
    def draft(self) -> Version:
        """The version that can change."""
        return self.versions[DRAFT]

    @property
    def latest(self) -> Version | None:
        """The most recent published version."""
        published = [version for version in self.versions.values() if version.name != DRAFT]
        return published[-1] if published else None
