"""An asset as the catalogue needs it: identity, blob, and the two URLs references may use.

Listing them from an archive is the subject of `shadowzarr.catalog.resolve`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AssetKind = Literal["blob", "zarr"]


@dataclass(frozen=True)
class CatalogAsset:
    """One asset of one version of a dandiset.

    Attributes
    ----------
    dandiset : str
        Six digits.
    version : str
        ``draft`` or a published version; never ``latest``.
    asset_id : str
        UUID; stays when a version is published, changes with every edit of a draft.
    path : str
        Path within the dandiset, with ``/``.
    size : int
        Bytes.
    etag : str
        ``dandi:dandi-etag`` without quotes; empty for a Zarr asset.
    kind : str
        ``blob`` or ``zarr``.
    embargoed : bool
        Whether the asset is not public.
    download_url : str
        ``…/assets/{id}/download/``, which does not name a version.
    blob_url : str
        The object itself, without a query; empty when the archive does not tell.
    """

    dandiset: str
    version: str
    asset_id: str
    path: str
    size: int
    etag: str
    kind: AssetKind = "blob"
    embargoed: bool = False
    download_url: str = ""
    blob_url: str = ""
