"""An asset as the catalogue needs it: identity, blob, and the two URLs references may use.

Listing them is the subject of `shadowzarr.catalog.listing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AssetKind = Literal["blob", "zarr", "recording", "other"]


@dataclass(frozen=True)
class CatalogAsset:
    """One asset of one version of a dandiset, one file of a folder or manifest, or one recording.

    Attributes
    ----------
    dandiset : str
        Six digits; or the name of a folder or manifest.
    version : str
        ``draft`` or a published version, never ``latest``; ``current`` for a folder or manifest.
    asset_id : str
        UUID; stays when a version is published, changes with every edit of a draft. That of a file is
        made of its name.
    path : str
        Path within the dandiset, folder or manifest, with ``/``.
    size : int
        Bytes; of all files of a recording.
    etag : str
        ``dandi:dandi-etag`` without quotes; empty for a Zarr asset. That of a file is made of what
        tells its content from another (`shadowzarr.catalog.file_assets`).
    kind : str
        ``blob``, ``zarr``, ``recording`` for one or more local files that NEO reads together, or ``other``
        for a local file whose name may be of a format that is read, and whose content is not.
    embargoed : bool
        Whether the asset is not public.
    download_url : str
        ``…/assets/{id}/download/``, which does not name a version; the path or URL of a file.
    blob_url : str
        The object itself, without a query; empty when the archive does not tell.
    served_etag : str or None
        What the server of the bytes gives as their ETag, without quotes and empty when it gives none;
        None when that is ``etag``.
    local_path : str
        A local copy to read in place of the URL; empty when there is none.
    modified : str
        When it was last modified, an ISO time; empty when that is not known.
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
    served_etag: str | None = None
    local_path: str = ""
    modified: str = ""

    @property
    def source_etag(self) -> str:
        """The ETag that references to the file must have, without quotes; empty when it has none."""
        return self.etag if self.served_etag is None else self.served_etag
