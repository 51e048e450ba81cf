"""The records of the archive's API: dandisets, versions, assets (pure).

Asking for them is left to `dandi_api`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ArchiveError
from .archives import download_url
from .source_identity import quoted

_METADATA_KEPT = (
    "encodingFormat",
    "access",
    "contentUrl",
    "digest",
    "contentSize",
    "blobDateModified",
    "datePublished",
)


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a dandiset.

    Attributes
    ----------
    version : str
        ``"draft"`` or ``0.YYMMDD.HHMM``.
    name : str
        Title of the dandiset in it.
    asset_count, size : int
        How many assets, and their bytes.
    created, modified : str
        ISO times; `modified` changes with every change of an asset.
    status : str
        What the archive's checks say: ``Valid``, ``Pending``, …
    """

    version: str
    name: str
    asset_count: int
    size: int
    created: str
    modified: str
    status: str


@dataclass(frozen=True, slots=True)
class Dandiset:
    """A dandiset.

    Attributes
    ----------
    identifier : str
        Six digits.
    created, modified : str
        ISO times.
    embargo_status : str
        ``OPEN``, ``EMBARGOED`` or ``UNEMBARGOING``.
    draft_version : Version or None
        The draft.
    most_recent_published_version : Version or None
        None when nothing has been published.
    """

    identifier: str
    created: str
    modified: str
    embargo_status: str
    draft_version: Version | None
    most_recent_published_version: Version | None

    @property
    def is_open(self) -> bool:
        """Whether everybody may read it; while an embargo is being lifted, not yet."""
        return self.embargo_status == "OPEN"


@dataclass(frozen=True, slots=True)
class Asset:
    """An asset of the archive.

    Attributes
    ----------
    asset_id : str
        UUID; a change of the asset gives it another.
    path : str
        Its path in the dandiset.
    size : int
        Bytes.
    blob, zarr : str or None
        UUID of its bytes; exactly one of the two is set.
    etag : str or None
        ETag of its bytes with double quotes, as the store sends it; None for Zarr assets, and when the
        record came without metadata.
    created, modified : str
        ISO times.
    embargoed : bool
        Whether its metadata says that it is under embargo.
    download_url : str
        Works in every version of the dandiset, and under embargo with a key.
    blob_url : str or None
        The object behind it, without a signature; readable when the asset is open.
    metadata : mapping
        The part of its metadata that is about its bytes.
    """

    asset_id: str
    path: str
    size: int
    blob: str | None
    zarr: str | None
    etag: str | None
    created: str
    modified: str
    embargoed: bool
    download_url: str
    blob_url: str | None
    metadata: Mapping[str, Any]


def parse[T](parser: Callable[[dict[str, Any]], T], record: dict[str, Any], what: str) -> T:
    """Make a record by a parser.

    Parameters
    ----------
    parser : callable
        `to_dandiset`, `to_version` or `to_asset`.
    record : dict
        What the archive sent.
    what : str
        What it is, for the message.

    Raises
    ------
    ArchiveError
        When the record lacks a field or has one of another kind.
    """
    try:
        return parser(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArchiveError(f"{what}: the archive's record lacks or spoils a field ({error})") from error


def to_dandiset(record: dict[str, Any]) -> Dandiset:
    """Make a `Dandiset`; a missing field is a KeyError."""
    draft, published = record.get("draft_version"), record.get("most_recent_published_version")
    return Dandiset(
        identifier=record["identifier"],
        created=record["created"],
        modified=record["modified"],
        embargo_status=record["embargo_status"],
        draft_version=None if draft is None else to_version(draft),
        most_recent_published_version=None if published is None else to_version(published),
    )


def to_version(record: dict[str, Any]) -> Version:
    """Make a `Version`; a missing field is a KeyError."""
    return Version(
        version=record["version"],
        name=record["name"],
        asset_count=int(record["asset_count"]),
        size=int(record["size"]),
        created=record["created"],
        modified=record["modified"],
        status=record["status"],
    )


def to_asset(record: dict[str, Any], *, api_url: str) -> Asset:
    """Make an `Asset` of the archive at `api_url`; a missing field is a KeyError."""
    metadata: dict[str, Any] = record.get("metadata") or {}
    digest = metadata.get("digest") or {}
    urls = [url for url in metadata.get("contentUrl") or [] if isinstance(url, str)]
    blob, zarr = record.get("blob"), record.get("zarr")
    if (blob is None) == (zarr is None):
        raise KeyError("blob or zarr")
    return Asset(
        asset_id=record["asset_id"],
        path=record["path"],
        size=int(record["size"]),
        blob=blob,
        zarr=zarr,
        etag=quoted(digest.get("dandi:dandi-etag")) if zarr is None else None,
        created=record["created"],
        modified=record["modified"],
        embargoed=_is_embargoed(metadata),
        download_url=download_url(api_url, record["asset_id"]),
        blob_url=next((url for url in urls if "/blobs/" in url and not url.startswith(api_url)), None),
        metadata={key: metadata[key] for key in _METADATA_KEPT if key in metadata},
    )


def _is_embargoed(metadata: Mapping[str, Any]) -> bool:
    access = metadata.get("access") or []
    return any(isinstance(item, dict) and item.get("status") == "dandi:EmbargoedAccess" for item in access)
