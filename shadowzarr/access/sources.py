"""The identity of source files: size and ETag, learnt with as little as possible.

`describe` asks the file system, the server (one byte) or the archive's metadata (no byte of the file).
The checks of answers are in `source_identity`.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from ..errors import ArchiveError, SourceChangedError, UsageError
from .archives import archive_of, asset_address
from .locations import canonical, secret_in, without_query
from .range_reader import DefaultReader, default_reader
from .source_identity import Buffer, Source, changed, check_identity, is_strong, quoted

__all__ = [
    "Source",
    "check_local_copy",
    "check_source",
    "describe",
    "describe_with_head",
    "is_strong",
    "quoted",
]

_PART = 64 * 2**20  # the archive's rule for parts of an upload, from which its ETags are made
_MAX_PARTS = 10_000
_ETAG = re.compile(r'^"(?P<digest>[0-9a-f]{32})-(?P<parts>\d{1,5})"$')
_DANDI_BLOBS = ("https://dandiarchive.s3.amazonaws.com/blobs/", "s3://dandiarchive/blobs/")


def describe(
    source: str | os.PathLike[str], *, url: str | None = None, reader: DefaultReader | None = None
) -> Source:
    """Size and ETag of a file.

    Parameters
    ----------
    source : str or path-like
        The file, in any form that `locations.canonical` takes.
    url : str, optional
        What goes into references instead of the file's own location.
    reader : DefaultReader, optional
        What reads the byte of a remote file; the process's own by default.

    Returns
    -------
    Source
        Local files have a size and no ETag; remote ones what the server or the archive says.

    Raises
    ------
    ReadError
        When the file cannot be read, or the server cannot send parts of it.
    UsageError
        When the location carries a signature, which references must not hold, and there is no `url`.
    """
    return describe_with_head(source, 1, url=url, reader=reader)[0]


def describe_with_head(
    source: str | os.PathLike[str],
    nbytes: int,
    *,
    url: str | None = None,
    reader: DefaultReader | None = None,
) -> tuple[Source, Buffer]:
    """Size and ETag of a file, and its first bytes, with one request where one is needed.

    Parameters
    ----------
    source : str or path-like
        As for `describe`, like what follows and what is raised.
    nbytes : int
        Bytes to ask for.
    url, reader
        As for `describe`.

    Returns
    -------
    tuple of (Source, bytes or memoryview)
        No bytes when the file did not have to be asked; all bytes of a file that has fewer.
    """
    location = canonical(source)
    secret = secret_in(url or location)
    if secret is not None:
        raise UsageError(
            f"{without_query(location)} comes with {secret}, which must not be written down; name the URL "
            "that references shall hold, without it, or give that one"
        )
    name = url or location
    if asset_address(location) is not None:
        from_archive = _from_archive(location)
        if from_archive is not None:
            return Source(url=name, size=from_archive.size, etag=from_archive.etag), b""
    answer = (reader or default_reader()).probe(location, nbytes)
    return Source(url=name, size=answer.total, etag=answer.etag), answer.data


def check_source(source: Source, *, reader: DefaultReader | None = None) -> None:
    """Ask whether a file is still the one that was described.

    Raises
    ------
    SourceChangedError
        When its size or ETag differ.
    """
    answer = (reader or default_reader()).probe(source.url)
    check_identity(source, size=answer.total, etag=answer.etag)


def check_local_copy(source: Source, path: str | os.PathLike[str]) -> None:
    """Check that a local file holds the bytes of a source.

    Parameters
    ----------
    source : Source
        The remote file.
    path : str or path-like
        Its local copy. It is read whole when the source's ETag is one that can be computed.

    Raises
    ------
    SourceChangedError
        When its size differs, or its content does not give the source's ETag.
    """
    shown = os.fspath(path)
    size = Path(path).stat().st_size
    if source.size is not None and size != source.size:
        raise SourceChangedError(
            f"{shown} is not a copy of {without_query(source.url)}: it has {size} bytes, "
            f"expected {source.size}. Download it again"
        )
    if _has_archive_etag(source, size):
        found = dandi_etag(path)
        if found != source.etag:
            raise changed(source, f"the local copy {shown} gives the ETag {found}, expected {source.etag}")


def dandi_etag(path: str | os.PathLike[str]) -> str:
    """The ETag that the archive's store gives a file: MD5 over the MD5s of its parts, with double quotes."""
    size = Path(path).stat().st_size
    part = _part_size(size)
    digests = b""
    with Path(path).open("rb") as file:
        while data := file.read(part):
            digests += hashlib.md5(data, usedforsecurity=False).digest()
    whole = hashlib.md5(digests, usedforsecurity=False).hexdigest()
    return f'"{whole}-{len(digests) // 16}"'


def _part_size(size: int) -> int:
    if -(-size // _PART) < _MAX_PARTS:
        return _PART
    return -(-size // _MAX_PARTS)


def _has_archive_etag(source: Source, size: int) -> bool:
    """Whether the ETag follows the archive's rule; other stores cut their parts as they like."""
    match = _ETAG.match(source.etag or "")
    is_of_archive = asset_address(source.url) is not None or source.url.startswith(_DANDI_BLOBS)
    return match is not None and is_of_archive and int(match["parts"]) == -(-size // _part_size(size))


def _from_archive(location: str) -> Source | None:
    """Size and ETag from an asset's metadata, or None when they are not to be had from there."""
    from .dandi_api import DandiArchive  # httpx takes long to import

    address = asset_address(location)
    if address is None:
        return None
    api_url, asset_id = address
    try:
        with DandiArchive(api_url) as api:
            asset = api.asset(asset_id)
    except ArchiveError:
        if archive_of(location) is not None:
            raise
        return None  # a server that has only the archive's download URLs
    if asset.zarr is not None:
        raise UsageError(f"{location} is a Zarr asset ({asset.path}); it needs no references")
    return None if asset.etag is None else Source(url=location, size=asset.size, etag=asset.etag)
