"""An S3 prefix as a zarr store, by obstore and the usual ``AWS_`` variables."""

from __future__ import annotations

from typing import Any

from obstore.store import S3Store
from zarr.storage import ObjectStore

from ...access import s3_locations
from ...errors import UsageError


def bucket_store(location: str) -> ObjectStore[S3Store]:
    """The store below an ``s3://`` prefix.

    Raises
    ------
    UsageError
        When the location names no bucket and prefix.
    """
    bucket, prefix = s3_locations.split(location)
    if not prefix.strip("/"):
        raise UsageError(f"{location} names no prefix in a bucket; expected s3://<bucket>/<prefix>")
    endpoint = s3_locations.endpoint()
    options: dict[str, Any] = {}
    if endpoint is not None:
        options = {"endpoint": endpoint, "client_options": {"allow_http": endpoint.startswith("http:")}}
    if not s3_locations.is_signed(location):
        options["skip_signature"] = True
    return ObjectStore(S3Store(bucket, prefix=prefix.strip("/"), **options))
