"""An archive, and what uploaders, owners and curators do to it.

How it is served is left to the API and the object store, what it is made from to
`shadowzarr.testing.archive.folder`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ..digests import FileMemo
from .contents import (
    DRAFT,
    Asset,
    Blob,
    Dandiset,
    EmbargoStatus,
    User,
    Version,
    ZarrFile,
    ZarrStore,
    stable_uuid,
)
from .holdings import Holdings
from .zarr_checksum import zarr_checksum

START = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
_TICK = timedelta(seconds=1)
_IDENTIFIER = re.compile(r"\d{6}", re.ASCII)
_VERSION = re.compile(r"0\.\d{6}\.\d{4}", re.ASCII)


class Archive(Holdings):
    """An archive in memory whose bytes are files on disk.

    Ids are made from content and path, and time advances by a second with each change, so the same
    calls give the same archive. All methods may be called while it is served.

    Parameters
    ----------
    start : datetime
        Time of the first change, in UTC.

    Examples
    --------
    >>> archive = Archive()
    >>> archive.add_dandiset("000001").identifier
    '000001'
    """

    def __init__(self, *, start: datetime = START) -> None:
        super().__init__()
        self._same: Counter[tuple[str, str, str]] = Counter()
        self._now = start

    # Users and dandisets

    def add_user(self, name: str, *, key: str, is_admin: bool = False) -> User:
        """Give somebody a key."""
        user = self.users[key] = User(name, key, is_admin)
        return user

    def add_dandiset(
        self,
        identifier: str,
        *,
        title: str | None = None,
        embargo: EmbargoStatus = "OPEN",
        owners: Iterable[str] = (),
    ) -> Dandiset:
        """Create a dandiset with an empty draft.

        Parameters
        ----------
        identifier : str
            Six digits.
        title : str, optional
            Name for people.
        embargo : str
            ``OPEN``, ``EMBARGOED`` or ``UNEMBARGOING``.
        owners : iterable of str
            Names of users.

        Raises
        ------
        UsageError
            When the identifier is not six digits or is taken.
        """
        if not _IDENTIFIER.fullmatch(identifier):
            raise UsageError(f"a dandiset is named by six digits, not {identifier!r}")
        with self.lock:
            if identifier in self.dandisets:
                raise UsageError(f"dandiset {identifier} exists already")
            now = self.tick()
            dandiset = Dandiset(identifier, title or f"Dandiset {identifier}", now, set(owners), embargo)
            dandiset.versions[DRAFT] = Version(DRAFT, now, now)
            self.dandisets[identifier] = dandiset
        return dandiset

    def set_embargo(self, identifier: str, embargo: EmbargoStatus) -> None:
        """Change whether a dandiset is open."""
        with self.lock:
            self.dandiset(identifier).embargo = embargo

    def publish(self, identifier: str, *, version: str | None = None) -> str:
        """Publish the draft as it stands.

        Parameters
        ----------
        identifier : str
            The dandiset.
        version : str, optional
            Name of the version; by default made from the time, bumped by a minute where it is taken.

        Returns
        -------
        str
            Name of the version.
        """
        with self.lock:
            draft = self.dandiset(identifier).draft
            name = self.add_version(identifier, dict(draft.assets), version=version)
            draft.status = "Published"
        return name

    def add_version(self, identifier: str, assets: Mapping[str, str], *, version: str | None = None) -> str:
        """Publish a version that holds certain assets.

        Parameters
        ----------
        identifier : str
            The dandiset.
        assets : mapping of str to str
            Asset ids by path.
        version : str, optional
            As for `publish`.
        """
        with self.lock:
            dandiset, now = self.dandiset(identifier), self.tick()
            name = version or _free_name(dandiset, now)
            if not _VERSION.fullmatch(name) or name in dandiset.versions:
                raise UsageError(f"{name!r} is taken or not of the form 0.YYMMDD.HHMM")
            for asset_id in assets.values():
                asset = self._assets[asset_id]
                self._assets[asset_id] = replace(asset, published=asset.published or now)
            dandiset.versions[name] = Version(name, now, now, dict(assets), "Published")
        return name

    # Contents

    def add_blob(self, file: Path) -> Blob:
        """Make a file's bytes known; the same bytes are the same blob.

        Raises
        ------
        UsageError
            When the file is empty, which the archive does not accept.
        """
        size = file.stat().st_size
        if not size:
            raise UsageError(f"{file.name} is empty; the archive takes no empty files")
        etag = self.etag_of(file)
        blob = Blob(stable_uuid("blob", etag, str(size)), file, size, etag)
        with self.lock:
            known = self._blobs.get(blob.blob_id)
            if known is None or not _holds(known, self.etag_of):
                self._blobs[blob.blob_id] = known = blob
        return known

    def add_zarr(self, identifier: str, path: str, folder: Path) -> ZarrStore:
        """Ingest a Zarr store, again if it is known: it keeps its id."""
        files = [self._zarr_file(folder, file) for file in sorted(folder.rglob("*")) if file.is_file()]
        files.sort(key=lambda file: file.path)
        checksum = zarr_checksum((file.path, file.etag, file.size) for file in files)
        zarr_id = stable_uuid("zarr", identifier, path)
        store = ZarrStore(zarr_id, identifier, path, folder, tuple(files), checksum)
        with self.lock:
            self._zarrs[zarr_id] = store
        return store

    def add_asset(
        self,
        identifier: str,
        path: str,
        content: Path | Blob | ZarrStore,
        *,
        metadata: Mapping[str, Any] | None = None,
        created: datetime | None = None,
    ) -> Asset:
        """Add an asset to a draft.

        Parameters
        ----------
        identifier : str
            The dandiset.
        path : str
            Path in the dandiset.
        content : Path, Blob or ZarrStore
            A file, a folder that is a Zarr store, or what is known already.
        metadata : mapping, optional
            Fields beyond those that the archive computes.
        created : datetime, optional
            By default the archive's time.

        Raises
        ------
        UsageError
            When the path is taken.
        """
        with self.lock:
            draft = self.dandiset(identifier).draft
            if path in draft.assets:
                raise UsageError(f"{path} is in dandiset {identifier} already")
            blob_id, zarr_id = self._content(identifier, path, content)
            now = self.tick()
            asset = Asset(
                self._asset_id(identifier, path, blob_id or zarr_id or ""),
                path,
                blob_id,
                zarr_id,
                created or now,
                created or now,
                dict(metadata or {}),
            )
            self._put(draft, asset, identifier)
        return asset

    def replace_asset(
        self,
        identifier: str,
        path: str,
        content: Path | Blob | ZarrStore | None = None,
        *,
        new_path: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Asset:
        """Change an asset's bytes, path or metadata: the draft gets a new asset instead of the old one.

        Raises
        ------
        NotInArchiveError
            When the draft has no asset of this path.
        UsageError
            When the new path is taken.
        """
        with self.lock:
            old = self.asset_at(identifier, path)
            kept = self._zarrs[old.zarr_id] if old.zarr_id else self._blobs[old.blob_id or ""]
            self.remove_asset(identifier, path)
            return self.add_asset(
                identifier,
                new_path or path,
                content or kept,
                metadata=old.metadata if metadata is None else metadata,
            )

    def rename_asset(self, identifier: str, path: str, new_path: str) -> Asset:
        """Move an asset of a draft; its blob stays, its id does not."""
        if new_path in self.dandiset(identifier).draft.assets:
            raise UsageError(f"{new_path} is in dandiset {identifier} already")
        return self.replace_asset(identifier, path, new_path=new_path)

    def remove_asset(self, identifier: str, path: str) -> None:
        """Take an asset out of a draft; it stays known under its id.

        Raises
        ------
        NotInArchiveError
            When the draft has no asset of this path.
        """
        with self.lock:
            self.asset_at(identifier, path)
            draft = self.dandiset(identifier).draft
            del draft.assets[path]
            self.touch(draft)

    # Time

    def tick(self) -> datetime:
        """Advance the archive's time by a second and give it."""
        with self.lock:
            self._now += _TICK
            return self._now

    def touch(self, version: Version) -> None:
        """Note that a version was changed: `modified` always moves."""
        version.modified = max(version.modified + _TICK, self.tick())
        version.status = "Valid"

    # Below

    def _put(self, draft: Version, asset: Asset, identifier: str) -> None:
        self._assets[asset.asset_id] = asset
        draft.assets[asset.path] = asset.asset_id
        self._homes[asset.blob_id or asset.zarr_id or ""].add(identifier)
        self.touch(draft)

    def _content(
        self, identifier: str, path: str, content: Path | Blob | ZarrStore
    ) -> tuple[str | None, str | None]:
        """Give blob id and Zarr id, one of them None."""
        if isinstance(content, Path):
            is_zarr = content.is_dir()
            content = self.add_zarr(identifier, path, content) if is_zarr else self.add_blob(content)
        if isinstance(content, ZarrStore):
            return None, content.zarr_id
        return content.blob_id, None

    def _asset_id(self, identifier: str, path: str, content_id: str) -> str:
        """Make an id that the same asset, added again after a change, does not get twice."""
        self._same[identifier, path, content_id] += 1
        number = self._same[identifier, path, content_id]
        return stable_uuid("asset", identifier, path, content_id, str(number))

    def _zarr_file(self, folder: Path, file: Path) -> ZarrFile:
        stat = file.stat()
        modified = datetime.fromtimestamp(stat.st_mtime, UTC)
        return ZarrFile(file.relative_to(folder).as_posix(), file, stat.st_size, self.md5_of(file), modified)


def _holds(blob: Blob, etag_of: FileMemo[str]) -> bool:
    """Whether the file of a blob still has its bytes."""
    return blob.file.is_file() and blob.file.stat().st_size == blob.size and etag_of(blob.file) == blob.etag


def _free_name(dandiset: Dandiset, time: datetime) -> str:
    while (name := time.strftime("0.%y%m%d.%H%M")) in dandiset.versions:
        time += timedelta(minutes=1)
    return name
