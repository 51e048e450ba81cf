"""Dandisets named by people → the assets of one version each, as the catalogue needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..access.dandi_api import Asset, DandiArchive, Dandiset
from ..errors import ArchiveError, NotInArchiveError
from .archive_address import ArchiveAddress
from .asset_names import printable_text
from .assets import CatalogAsset

DRAFT = "draft"
LATEST = "latest"

_PUBLISHED = re.compile(r"0\.\d{6}\.\d{4}", re.ASCII)


@dataclass(frozen=True)
class ResolvedVersion:
    """One version of one dandiset, found in the archive; or one folder or manifest.

    Attributes
    ----------
    dandiset : str
        Six digits; or the name of a folder or manifest.
    version : str
        ``draft`` or a published version; ``current`` for a folder or manifest.
    is_open : bool
        False while the dandiset is embargoed or being unembargoed.
    kind : str
        ``dandiset``, ``folder`` or ``manifest``.
    """

    dandiset: str
    version: str
    is_open: bool
    kind: Literal["dandiset", "folder", "manifest"] = "dandiset"

    @property
    def title(self) -> str:
        """How messages call it."""
        of_version = f" ({self.version})" if self.kind == "dandiset" else ""
        return f"{self.kind} {self.dandiset}{of_version}"


def open_archive(address: ArchiveAddress) -> DandiArchive:
    """Return a client of an archive, whose key is known to this process from here on."""
    address.register()
    return DandiArchive(address.api_url)


def resolve_version(archive: DandiArchive, dandiset: str, version: str) -> ResolvedVersion:
    """Find a dandiset, and what ``latest`` means for it: the newest published version.

    Raises
    ------
    NotInArchiveError
        When there is no such dandiset, or ``latest`` is asked for and nothing was published.
    ArchiveError
        When the newest version has a name that versions do not have.
    ShadowzarrError
        As `DandiArchive.dandiset` raises them.
    """
    found = archive.dandiset(dandiset)
    name = _latest(found) if version == LATEST else version
    return ResolvedVersion(dandiset, name, found.is_open)


def resolve_assets(archive: DandiArchive, version: ResolvedVersion) -> Iterator[CatalogAsset]:
    """List the assets of a version; one request per thousand.

    Raises
    ------
    ShadowzarrError
        As `DandiArchive.list_assets` raises them.
    """
    for asset in archive.list_assets(version.dandiset, version.version):
        yield catalog_asset(asset, version)


def catalog_asset(asset: Asset, version: ResolvedVersion) -> CatalogAsset:
    """Take from an archive's asset what the catalogue needs.

    All assets of a dandiset that is not open count as embargoed, whatever they say themselves.
    """
    return CatalogAsset(
        dandiset=version.dandiset,
        version=version.version,
        asset_id=asset.asset_id,
        path=printable_text(asset.path),
        size=asset.size,
        etag=(asset.etag or "").strip('"'),
        kind="zarr" if asset.zarr else "blob",
        embargoed=asset.embargoed or not version.is_open,
        download_url=asset.download_url,
        blob_url=asset.blob_url or "",
        modified=asset.modified,
    )


def _latest(dandiset: Dandiset) -> str:
    if dandiset.most_recent_published_version is None:
        raise NotInArchiveError(
            f"dandiset {dandiset.identifier} has no published version, so there is no latest one; "
            f"ask for version: {DRAFT}"
        )
    version = dandiset.most_recent_published_version.version
    if not _PUBLISHED.fullmatch(version):  # it becomes a folder's name
        raise ArchiveError(
            f"dandiset {dandiset.identifier}: the archive names its newest version {version!r}, "
            "expected a name such as 0.240101.1200"
        )
    return version
