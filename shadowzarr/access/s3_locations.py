"""``s3://`` locations: their bucket and key, whether requests are signed, and their http(s) form.

An unsigned object is read over its http(s) URL like any other file, which works in every region and
after fork. Signed reading is done by obstore, configured by the usual ``AWS_`` variables.
"""

from __future__ import annotations

import os
import re
from urllib.parse import quote

from ..errors import UsageError

_BUCKET = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_PUBLIC_BUCKETS = frozenset({"dandiarchive"})  # signing with another account's region would be refused
_CREDENTIALS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)


def split(url: str) -> tuple[str, str]:
    """Bucket and key of an ``s3://`` URL.

    Raises
    ------
    UsageError
        When one of them is missing, or no name of a bucket.
    """
    bucket, _, key = url.removeprefix("s3://").partition("/")
    if not bucket or not key:
        raise UsageError(f"{url!r} names no object; expected s3://<bucket>/<key>")
    if not _BUCKET.fullmatch(bucket):  # "host#x" would be the host of the object's http(s) URL
        raise UsageError(f"{url!r} names no bucket; one has letters, digits, '.', '-' and '_'")
    return bucket, key


def is_signed(url: str) -> bool:
    """Whether requests for this object are signed: there are credentials, and the bucket wants them."""
    bucket, _ = split(url)
    if bucket in _PUBLIC_BUCKETS or os.environ.get("AWS_SKIP_SIGNATURE", "").lower() in {"1", "true"}:
        return False
    return any(os.environ.get(name) for name in _CREDENTIALS)


def endpoint() -> str | None:
    """Root of an S3 service other than Amazon's, without a trailing slash."""
    url = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return url.rstrip("/") if url else None


def http_url(url: str) -> str:
    """The http(s) URL of an object that is read without signing."""
    bucket, key = split(url)
    path = quote(key, safe="/-_.~!*'()")
    root = endpoint()
    if root is not None:
        return f"{root}/{bucket}/{path}"
    if "." in bucket:  # the certificate covers one label only
        return f"https://s3.amazonaws.com/{bucket}/{path}"
    return f"https://{bucket}.s3.amazonaws.com/{path}"
