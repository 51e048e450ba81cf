"""Records of assets as an earlier run would have written them."""

from typing import Any

from shadowzarr.catalog.assets import CatalogAsset
from shadowzarr.catalog.records import IndexRecord


def record_of(asset: CatalogAsset, **changes: Any) -> IndexRecord:
    """A record of an asset that was indexed, with other values where they are given."""
    values: dict[str, Any] = {
        "asset_id": asset.asset_id,
        "dandiset": asset.dandiset,
        "version": asset.version,
        "path": asset.path,
        "etag": asset.etag,
        "size": asset.size,
        "url": asset.download_url,
        "options": {},
        "options_digest": "0123456789ab",
        "format_version": 1,
        "outcome": "indexed",
    }
    return IndexRecord(**{**values, **changes})
