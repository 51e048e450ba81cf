"""Files that no archive lists, as assets: who they are, and by what it is known that they have changed.

A file stays the same asset while its name in its collection stays. That its content has changed shows by
what is cheap to ask: size and time of modification of a local file (or a digest of its bytes, where that is
asked for), size and ETag that the server of a remote one tells.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from ..access.locations import is_remote
from ..access.sources import Source, describe
from ..errors import ShadowzarrError
from .asset_names import printable_text
from .assets import AssetKind, CatalogAsset

Identity = Literal["time", "digest"]

CURRENT: Final = "current"
"""The version of all collections: what is there now."""

DESCRIBED_AT_ONCE: Final = 16
"""Servers' answers that are waited for together."""

_NAMESPACE: Final = uuid.UUID("6f0d2c1e-3b0a-5d0e-9b0f-2f3a7b1c9e54")
_NO_PARTS: Final = "-0"
"""Where an archive's ETag has the number of parts of an upload, of which there is one at least."""


@dataclass(frozen=True)
class FoundFile:
    """One file of a collection, or one recording, which may be several.

    Attributes
    ----------
    name : str
        Its path within the collection, with ``/``.
    place : str
        Where it is read: an absolute path, or a URL.
    url : str
        Where references say that it is; the place when nothing else is said.
    size : int or None
        Bytes, when they are known.
    etag : str or None
        Its ETag with the double quotes, when it is known.
    kind : str
        ``blob``, ``zarr``, ``recording`` or ``other``.
    parts : tuple of str
        Absolute paths of all files of a recording.
    """

    name: str
    place: str
    url: str
    size: int | None = None
    etag: str | None = None
    kind: AssetKind = "blob"
    parts: tuple[str, ...] = ()

    @property
    def files(self) -> list[Path]:
        """All local files that it is."""
        return [Path(each) for each in self.parts or (self.place,)]


def file_assets(collection: str, files: Iterable[FoundFile], *, identity: Identity) -> list[CatalogAsset]:
    """Describe files as assets; one request for each remote file whose size and ETag are not known.

    A file that cannot be described is an asset too: what is wrong with it shows when it is indexed.

    Parameters
    ----------
    collection : str
        Name of what the files belong to.
    files : iterable of FoundFile
    identity : {"time", "digest"}
        How a change of a local file is noticed.
    """
    with ThreadPoolExecutor(DESCRIBED_AT_ONCE) as pool:
        return list(pool.map(lambda file: _asset(collection, file, identity), files))


def _asset(collection: str, file: FoundFile, identity: Identity) -> CatalogAsset:
    size, served, state = _state(file, identity)
    name = printable_text(file.name)
    return CatalogAsset(
        dandiset=collection,
        version=CURRENT,
        asset_id=str(uuid.uuid5(_NAMESPACE, f"{collection}/{name}")),
        path=name,
        size=size,
        etag=_token(file.url, *state),
        kind=file.kind,
        download_url=file.url,
        served_etag=served,
        local_path=file.place if file.url != file.place else "",
        modified=_modified(file),
    )


def _modified(file: FoundFile) -> str:
    """When a local file was last modified; servers are not asked."""
    if is_remote(file.place):
        return ""
    try:
        newest = max(path.stat().st_mtime for path in file.files)
        return datetime.fromtimestamp(newest, UTC).isoformat()
    except OSError:  # what is wrong with it shows when it is indexed
        return ""


def _state(file: FoundFile, identity: Identity) -> tuple[int, str, tuple[object, ...]]:
    """Size, the server's ETag without quotes, and all that tells one content from another."""
    if file.kind == "zarr":
        return 0, "", ()
    try:
        if is_remote(file.place):
            found = _described(file)
            etag = (found.etag or "").strip('"')
            return found.size or 0, etag, ("served", found.size, found.etag)
        states = [_local_state(path, identity) for path in file.files]
    except (ShadowzarrError, OSError):
        return 0, "", ("unreadable",)
    if file.parts:
        names = (os.path.relpath(path, file.place) for path in file.parts)
        return sum(size for size, _ in states), "", ("recording", *zip(names, states, strict=True))
    ((size, state),) = states
    return size, "", state


def _local_state(path: Path, identity: Identity) -> tuple[int, tuple[object, ...]]:
    """Size of a local file, and what tells its content from another."""
    status = path.stat()
    if identity == "digest":
        with path.open("rb") as content:
            return status.st_size, ("digest", hashlib.file_digest(content, "sha256").hexdigest())
    return status.st_size, ("time", status.st_size, status.st_mtime_ns)


def _described(file: FoundFile) -> Source:
    if file.size is not None and file.etag is not None:
        return Source(file.url, file.size, file.etag)
    return describe(file.place)


def _token(*state: object) -> str:
    """What stands in records where an archive's assets have their ETag: the same for the same content.

    It is made of the URL too, so that files that look alike from outside are never taken for one.
    """
    content = "\0".join(map(str, state)).encode("utf-8", "surrogateescape")
    return hashlib.blake2b(content, digest_size=16).hexdigest() + _NO_PARTS
