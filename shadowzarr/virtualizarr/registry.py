"""What VirtualiZarr reads the files of references by: an object store for each host, bucket, or the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import HTTPStore, LocalStore, S3Store

from ..access import s3_locations

_DANDI_REGION = "us-east-2"


def registry_for(urls: Iterable[str]) -> ObjectStoreRegistry[Any]:
    """A registry for files, with the credentials of the ``AWS_`` variables for buckets.

    Parameters
    ----------
    urls : iterable of str
        As manifests name them; those of other schemes need a registry of the user's own.
    """
    stores: dict[str, Any] = {"file://": LocalStore()}
    for url in urls:
        scheme, host = urlsplit(url)[:2]
        origin = f"{scheme}://{host}"
        if scheme in ("http", "https") and origin not in stores:
            options: Any = {"allow_http": scheme == "http"}
            stores[origin] = HTTPStore.from_url(origin, client_options=options)
        elif scheme == "s3" and origin not in stores:
            stores[origin] = _bucket(host, url)
    return ObjectStoreRegistry(stores)


def _bucket(name: str, url: str) -> S3Store:
    endpoint = s3_locations.endpoint()
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    config: Any = {"region": _DANDI_REGION if name.startswith("dandiarchive") else region}
    if endpoint is not None:
        config |= {"endpoint": endpoint, "virtual_hosted_style_request": False}
    if not s3_locations.is_signed(url):
        config["skip_signature"] = True
    options: Any = {"allow_http": endpoint is not None and endpoint.startswith("http:")}
    return S3Store(name, client_options=options, **config)
