"""Locations of the document ↔ URLs of virtual chunks, and what Icechunk checks of the files behind them.

A URL of Icechunk is percent-encoded in every scheme; local paths and the keys of ``s3://`` locations are
written as they are in a document. Icechunk's containers for http(s) drop a query (tried with 2.3), so a
location that has one is refused rather than read from another address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from ..access.archives import asset_address
from ..access.locations import canonical, is_remote, without_query
from ..access.sources import is_strong
from ..errors import SourceChangedError, SourceNotFoundError, UsageError
from ..refs.document import SourceEntry

UrlFor = Callable[[str], str]
"""Another location of the same file; the same one for a file that stays where it is."""

Checksum = str | datetime | None
"""What Icechunk compares when it reads: an ETag, the latest time of a change, or nothing."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_S3_HOST = re.compile(r"(?P<bucket>[a-z0-9.-]+)\.s3[.-](?:[a-z0-9-]+\.)?amazonaws\.com")
_UNRESERVED = "/-_.~!*'()"


def chunk_url(location: str) -> str:
    """The URL under which Icechunk finds a file.

    Parameters
    ----------
    location : str
        A local path, or a URL of any scheme; the key of an ``s3://`` location is not percent-encoded.

    Raises
    ------
    UsageError
        When the location has a query, which Icechunk would leave out.
    """
    if location.startswith("file:") or not _SCHEME.match(location):
        return Path(canonical(location)).as_uri()
    if location.startswith("s3://"):
        bucket, _, key = location.removeprefix("s3://").partition("/")
        return f"s3://{bucket}/{quote(key, safe=_UNRESERVED)}"
    if is_remote(location) and urlsplit(location).query:
        raise UsageError(
            f"{without_query(location)} is referenced with a query after its name, which Icechunk leaves out "
            "of its requests; give a url_for that maps it to a location without one"
        )
    return location


def location_of(url: str) -> str:
    """The location, as a document writes it, of a URL of Icechunk."""
    if url.startswith("file:"):
        return canonical(url)
    return unquote(url, errors="surrogateescape") if url.startswith("s3://") else url


def checksum_of(url: str, entry: SourceEntry | None) -> Checksum:
    """What Icechunk shall check of a file.

    Parameters
    ----------
    url : str
        The file, as `chunk_url` gives it.
    entry : SourceEntry or None
        What the document says of it.

    Returns
    -------
    str, datetime or None
        For a local file the time of its last change, rounded up to a second, as Icechunk keeps it; for
        any other its ETag, if that is recorded and strong, since weak ones never match.

    Raises
    ------
    SourceNotFoundError
        When a local file is not there.
    SourceChangedError
        When it has another size than was recorded.
    """
    if url.startswith("file:"):
        return _last_change(location_of(url), entry)
    etag = None if entry is None else entry.get("etag")
    if etag is None or not is_strong(etag):
        return None
    # Icechunk takes one pair of quotes away before it asks a web server, which must get the other.
    return f'"{etag}"' if url.startswith(("http://", "https://")) else etag


def dandi_blob(location: str) -> str:
    """The object in the archive's bucket that a DANDI download URL leads to; others stay as they are.

    A ``url_for``: Icechunk then reads ``s3://dandiarchive/blobs/…`` and never asks the archive. Asks
    the archive for the asset's metadata.

    Parameters
    ----------
    location : str
        As references name a file.

    Returns
    -------
    str
        The location of the object, or the one that was given.

    Raises
    ------
    ArchiveError
        When the archive has no such asset, or cannot be asked.
    """
    address = asset_address(location)
    if address is None:
        return location
    from ..access.dandi_api import DandiArchive  # httpx takes long to import

    api_url, asset_id = address
    with DandiArchive(api_url) as api:
        url = api.asset(asset_id).blob_url
    return location if url is None else (bucket_object(url) or location)


def bucket_object(url: str) -> str | None:
    """The ``s3://`` location of an object that a URL of AWS names; None for any other URL."""
    host = _S3_HOST.fullmatch(urlsplit(url).netloc)
    return None if host is None else f"s3://{host['bucket']}/{unquote(urlsplit(url).path.lstrip('/'))}"


def _last_change(path: str, entry: SourceEntry | None) -> datetime:
    try:
        found = os.stat(path)  # noqa: PTH116 - a Path would be made of the name first
    except OSError as error:
        raise SourceNotFoundError(
            f"{path} cannot be found ({error.strerror}); give a url_for that maps it to where the file is"
        ) from error
    if entry is not None and found.st_size != entry["size"]:
        raise SourceChangedError(
            f"{path} has {found.st_size} bytes, and had {entry['size']} when it was indexed; "
            "generate the references again"
        )
    return datetime.fromtimestamp(-(-found.st_mtime_ns // 10**9), UTC)
