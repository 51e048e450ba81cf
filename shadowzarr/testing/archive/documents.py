"""The records and metadata documents of the API, made from the archive's state (pure).

Records are the short rows of listings; documents are the JSON-LD that uploaders and the archive wrote.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from .archive import Archive
from .contents import DRAFT, Asset, Dandiset, Version, ZarrFile, ZarrStore

SCHEMA_VERSION = "0.7.0"
_CONTEXT = f"https://raw.githubusercontent.com/dandi/schema/master/releases/{SCHEMA_VERSION}/context.json"
_SCHEMA = f"https://raw.githubusercontent.com/dandi/schema/master/releases/{SCHEMA_VERSION}/dandiset.json"
_EMBARGO_TIME = timedelta(days=730)
_CONTACT = "Stand-in, Archive"


@dataclass(frozen=True)
class Origins:
    """Where a client reaches the two servers.

    Attributes
    ----------
    api : str
        ``http://host:port/api``.
    store : str
        ``http://host:port/dandiarchive``.
    """

    api: str
    store: str

    @property
    def web(self) -> str:
        """Where the archive's pages would be."""
        return self.api.removesuffix("/api")

    def download_url(self, asset: Asset) -> str:
        """Give the address that redirects to an asset's bytes."""
        return f"{self.api}/assets/{asset.asset_id}/download/"

    def object_url(self, key: str) -> str:
        """Give the address of an object, without a signature."""
        return f"{self.store}/{quote(key)}"


def timestamp(time: datetime) -> str:
    """Write a time as the API does: ``2025-01-02T03:04:05.000006Z``."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def server_document(origins: Origins) -> dict[str, Any]:
    """Give ``/info/``."""
    return {
        "schema_version": SCHEMA_VERSION,
        "schema_url": _SCHEMA,
        "allowed_schema_versions": ["0.6.8", "0.6.9", "0.6.10", SCHEMA_VERSION],
        "version": "0.0.0+shadowzarr",
        "cli-minimal-version": "0.74.0",
        "cli-bad-versions": [],
        "cli-requires-python": ">=3.10",
        "instance_config": {"instance_name": "DANDI", "instance_identifier": None},
        "services": {"api": {"url": origins.api}, "webui": {"url": origins.web}, "jupyterhub": None},
    }


def dandiset_record(archive: Archive, dandiset: Dandiset) -> dict[str, Any]:
    """Give the record of a dandiset."""
    latest = dandiset.latest
    return {
        "identifier": dandiset.identifier,
        "created": timestamp(dandiset.created),
        "modified": timestamp(dandiset.draft.modified),
        "contact_person": _CONTACT,
        "embargo_status": dandiset.embargo,
        "star_count": 0,
        "is_starred": False,
        "draft_version": _short_version(archive, dandiset, dandiset.draft),
        "most_recent_published_version": latest and _short_version(archive, dandiset, latest),
    }


def version_record(archive: Archive, dandiset: Dandiset, version: Version) -> dict[str, Any]:
    """Give the record of a version as in listings."""
    return {**_short_version(archive, dandiset, version), "dandiset": dandiset_record(archive, dandiset)}


def version_info(archive: Archive, dandiset: Dandiset, version: Version, origins: Origins) -> dict[str, Any]:
    """Give the record of a version with metadata and validation errors."""
    return {
        **version_record(archive, dandiset, version),
        "contact_person": _CONTACT,
        "metadata": version_document(archive, dandiset, version, origins),
        "asset_validation_errors": [],
        "version_validation_errors": [],
    }


def asset_record(archive: Archive, asset: Asset) -> dict[str, Any]:
    """Give the record of an asset."""
    return {
        "asset_id": asset.asset_id,
        "blob": asset.blob_id,
        "zarr": asset.zarr_id,
        "path": asset.path,
        "size": archive.size(asset),
        "created": timestamp(asset.created),
        "modified": timestamp(asset.modified),
    }


def asset_document(archive: Archive, asset: Asset, origins: Origins) -> dict[str, Any]:
    """Give the metadata document of an asset: the uploader's fields and those of the archive."""
    document = {
        "schemaKey": "Asset",
        "schemaVersion": SCHEMA_VERSION,
        "@context": _CONTEXT,
        "repository": origins.api,
        "encodingFormat": content_type(asset),
        "dateModified": timestamp(asset.modified),
        "blobDateModified": timestamp(asset.created),
        **asset.metadata,
        "id": f"dandiasset:{asset.asset_id}",
        "identifier": asset.asset_id,
        "path": asset.path,
        "contentSize": archive.size(asset),
        "contentUrl": _content_urls(archive, asset, origins),
        "digest": _digest(archive, asset),
        "access": [
            _access(archive, asset.created, archive.is_embargoed(asset.blob_id or asset.zarr_id or ""))
        ],
    }
    if asset.zarr_id:
        document["encodingFormat"] = "application/x-zarr"
    if asset.published:
        document["datePublished"] = timestamp(asset.published)
        document["publishedBy"] = _published_by(asset.published)
    return document


def version_document(
    archive: Archive, dandiset: Dandiset, version: Version, origins: Origins
) -> dict[str, Any]:
    """Give the metadata document of a version."""
    name = f"{dandiset.identifier}/{version.name}"
    listing = f"{origins.api}/dandisets/{dandiset.identifier}/versions/{version.name}/assets/"
    assets = archive.assets(dandiset.identifier, version.name)
    document = {
        "schemaKey": "Dandiset",
        "schemaVersion": SCHEMA_VERSION,
        "@context": _CONTEXT,
        "repository": origins.api,
        "id": f"DANDI:{name}",
        "identifier": f"DANDI:{dandiset.identifier}",
        "name": dandiset.title,
        "version": version.name,
        "url": f"{origins.web}/dandiset/{name}",
        "description": "Files served by a local stand-in for the archive.",
        "license": ["spdx:CC-BY-4.0"],
        "citation": f"{dandiset.title} ({version.created.year}) (Version {version.name}) [Data set].",
        "contributor": [_contributor()],
        "assetsSummary": {
            "schemaKey": "AssetsSummary",
            "numberOfBytes": sum(archive.size(asset) for asset in assets),
            "numberOfFiles": len(assets),
        },
        "manifestLocation": [listing],
        "dateCreated": timestamp(dandiset.created),
        "access": [_access(archive, dandiset.created, dandiset.embargo != "OPEN")],
    }
    if version.name != DRAFT:
        document["manifestLocation"] = [origins.object_url(f"dandisets/{name}/assets.yaml")]
        document["datePublished"] = timestamp(version.created)
        document["publishedBy"] = _published_by(version.created)
    return document


def path_rows(
    archive: Archive, assets: Iterable[Asset], prefix: str, *, version: int, origins: Origins
) -> list[dict[str, Any]]:
    """Give the folders and files directly below a folder of a version, or the one file of that path.

    `version` is the archive's internal number of the version.
    """
    prefix = prefix.strip("/")
    folder = f"{prefix}/" if prefix else ""
    rows: dict[str, dict[str, Any]] = {}
    for asset in assets:
        if asset.path != prefix and not asset.path.startswith(folder):
            continue
        name = asset.path.removeprefix(folder).partition("/")[0]
        path = prefix if asset.path == prefix else folder + name
        row = rows.setdefault(path, _path_row(path, version))
        row["aggregate_files"] += 1
        row["aggregate_size"] += archive.size(asset)
        if path == asset.path:
            row["asset"] = {"asset_id": asset.asset_id, "url": _content_urls(archive, asset, origins)[1]}
    return [rows[path] for path in sorted(rows)]


def zarr_record(store: ZarrStore) -> dict[str, Any]:
    """Give the record of a Zarr store."""
    return {
        "name": store.name,
        "dandiset": store.dandiset,
        "zarr_id": store.zarr_id,
        "status": "Complete",
        "checksum": store.checksum,
        "file_count": len(store.files),
        "size": store.size,
    }


def zarr_file_record(file: ZarrFile) -> dict[str, Any]:
    """Give one row of the listing of a Zarr store."""
    return {
        "Key": file.path,
        "LastModified": timestamp(file.modified),
        "ETag": file.etag,
        "Size": file.size,
    }


def content_type(asset: Asset) -> str:
    """Give the encoding format of an asset, by its name."""
    if asset.path.lower().endswith(".nwb"):
        return "application/x-nwb"
    return mimetypes.guess_type(asset.path)[0] or "application/octet-stream"


def _short_version(archive: Archive, dandiset: Dandiset, version: Version) -> dict[str, Any]:
    assets = archive.assets(dandiset.identifier, version.name)
    return {
        "version": version.name,
        "name": dandiset.title,
        "asset_count": len(assets),
        "active_uploads": 0,
        "size": sum(archive.size(asset) for asset in assets),
        "status": version.status,
        "created": timestamp(version.created),
        "modified": timestamp(version.modified),
        "release_notes": "",
    }


def _content_urls(archive: Archive, asset: Asset, origins: Origins) -> list[str]:
    if asset.zarr_id:
        return [origins.download_url(asset), origins.object_url(f"zarr/{asset.zarr_id}/")]
    return [origins.download_url(asset), origins.object_url(archive.blob(asset.blob_id or "").key)]


def _digest(archive: Archive, asset: Asset) -> dict[str, str]:
    if asset.zarr_id:
        return {"dandi:dandi-zarr-checksum": archive.zarr(asset.zarr_id).checksum}
    blob = archive.blob(asset.blob_id or "")
    digest, sha256 = {"dandi:dandi-etag": blob.etag}, archive.sha256(blob)
    return {**digest, "dandi:sha2-256": sha256} if sha256 else digest


def _access(archive: Archive, created: datetime, is_embargoed: bool) -> dict[str, str]:
    if not is_embargoed:
        return {"schemaKey": "AccessRequirements", "status": "dandi:OpenAccess"}
    until = (created + _EMBARGO_TIME).date().isoformat()
    return {"schemaKey": "AccessRequirements", "status": "dandi:EmbargoedAccess", "embargoedUntil": until}


def _published_by(time: datetime) -> dict[str, Any]:
    return {
        "schemaKey": "PublishActivity",
        "id": "urn:uuid:00000000-0000-4000-8000-000000000000",
        "name": "DANDI publish",
        "startDate": timestamp(time),
        "endDate": timestamp(time),
        "wasAssociatedWith": [{"schemaKey": "Software", "name": "DANDI API", "version": "0.0.0"}],
    }


def _contributor() -> dict[str, Any]:
    return {
        "schemaKey": "Person",
        "name": _CONTACT,
        "email": "archive@example.org",
        "roleName": ["dcite:ContactPerson"],
        "includeInCitation": True,
    }


def _path_row(path: str, version: int) -> dict[str, Any]:
    return {"path": path, "version": version, "aggregate_files": 0, "aggregate_size": 0, "asset": None}
