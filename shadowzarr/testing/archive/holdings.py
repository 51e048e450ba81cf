"""What an archive holds, and looking it up.

Changing it is left to `shadowzarr.testing.archive.archive`.
"""

from __future__ import annotations

import threading
from collections import defaultdict

from ...errors import NotInArchiveError
from ..digests import FileMemo, dandi_etag, md5, sha256
from .contents import DRAFT, Asset, Blob, Dandiset, User, ZarrStore

_SHA256_LIMIT = 64 * 2**20


class Holdings:
    """Users, dandisets, assets, blobs and Zarr stores of an archive.

    Attributes
    ----------
    lock : threading.RLock
        Held while a request is answered; hold it to make several changes at once.
    users : dict of str to User
        By key.
    dandisets : dict of str to Dandiset
        By identifier.
    tagged_blobs : set of str
        Ids of blobs that the store refuses to unsigned requests although their dandiset is open:
        it has happened that an embargo tag stayed on a blob.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users: dict[str, User] = {}
        self.dandisets: dict[str, Dandiset] = {}
        self.tagged_blobs: set[str] = set()
        self.etag_of = FileMemo(dandi_etag)
        self.md5_of = FileMemo(md5)
        self._sha256_of = FileMemo(sha256)
        self._assets: dict[str, Asset] = {}
        self._blobs: dict[str, Blob] = {}
        self._zarrs: dict[str, ZarrStore] = {}
        self._homes: defaultdict[str, set[str]] = defaultdict(set)

    def dandiset(self, identifier: str) -> Dandiset:
        """Give a dandiset.

        Raises
        ------
        NotInArchiveError
            When there is none of this identifier.
        """
        try:
            return self.dandisets[identifier]
        except KeyError:
            raise NotInArchiveError(f"no dandiset {identifier} in the archive") from None

    def asset(self, asset_id: str) -> Asset:
        """Give an asset, also one that has left every version."""
        try:
            return self._assets[asset_id]
        except KeyError:
            raise NotInArchiveError(f"no asset {asset_id} in the archive") from None

    def asset_at(self, identifier: str, path: str, *, version: str = DRAFT) -> Asset:
        """Give the asset at a path of a version."""
        versions = self.dandiset(identifier).versions
        if version not in versions or path not in versions[version].assets:
            raise NotInArchiveError(f"no asset {path} in {identifier}/{version}")
        return self._assets[versions[version].assets[path]]

    def assets(self, identifier: str, version: str = DRAFT) -> list[Asset]:
        """Give the assets of a version, in the order of their addition."""
        return [
            self._assets[asset_id] for asset_id in self.dandiset(identifier).versions[version].assets.values()
        ]

    def blob(self, blob_id: str) -> Blob:
        """Give a blob."""
        try:
            return self._blobs[blob_id]
        except KeyError:
            raise NotInArchiveError(f"no blob {blob_id} in the archive") from None

    def blobs(self) -> list[Blob]:
        """Give all blobs."""
        with self.lock:
            return list(self._blobs.values())

    def zarr(self, zarr_id: str) -> ZarrStore:
        """Give a Zarr store."""
        try:
            return self._zarrs[zarr_id]
        except KeyError:
            raise NotInArchiveError(f"no zarr {zarr_id} in the archive") from None

    def size(self, asset: Asset) -> int:
        """Give the bytes of an asset."""
        return self._zarrs[asset.zarr_id].size if asset.zarr_id else self._blobs[asset.blob_id or ""].size

    def sha256(self, blob: Blob) -> str | None:
        """Give the SHA-256 of a blob; None above 64 MiB or without its file, as for one not computed yet."""
        if blob.size > _SHA256_LIMIT:
            return None
        try:
            return self._sha256_of(blob.file)
        except FileNotFoundError:
            return None

    def has_bytes(self, asset: Asset) -> bool:
        """Whether the file of an asset's blob is there; that of a Zarr store is not looked for."""
        return asset.blob_id is None or self._blobs[asset.blob_id].file.is_file()

    def homes(self, content_id: str) -> list[Dandiset]:
        """Give the dandisets that a blob or Zarr store is or was in."""
        return [self.dandisets[identifier] for identifier in sorted(self._homes[content_id])]

    def is_embargoed(self, content_id: str) -> bool:
        """Whether a blob or Zarr store is in embargoed dandisets only."""
        homes = self.homes(content_id)
        return bool(homes) and all(dandiset.embargo != "OPEN" for dandiset in homes)
