"""Virtual chunk containers: the places a repository may read virtual chunks from.

Icechunk answers a location without a container by a list of chunks, and one whose container is not
authorised not before it is read. Both are found here before anything is written.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import icechunk
import numpy as np
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from ..access import s3_locations
from ..errors import UsageError
from ..refs.zarr_metadata import BYTES_CODEC, array_metadata
from .locations import location_of

_DANDI_REGION = "us-east-2"
_NOT_AUTHORISED = "authorize the virtual chunk container"


@dataclass(frozen=True)
class Container:
    """What a repository needs for the files below one prefix.

    Attributes
    ----------
    prefix : str
        Beginning of their URLs, with a ``/`` at its end.
    store
        How Icechunk reads them; kept in the repository's configuration.
    credential
        What authorises that; given anew whenever the repository is opened.
    code : str
        The two in Python, for messages.
    """

    prefix: str
    store: Any
    credential: Any
    code: tuple[str, str]


def container_of(url: str) -> Container:
    """The container that a file needs: its folder, its host or its bucket.

    Parameters
    ----------
    url : str
        As `locations.chunk_url` gives it.

    Raises
    ------
    UsageError
        For a URL of another scheme than file, http, https and s3.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        folder = os.path.dirname(location_of(url))  # noqa: PTH120 - names may be no Unicode text
        return Container(
            url.rpartition("/")[0] + "/",
            icechunk.local_filesystem_store(folder),
            icechunk.credentials.LocalFileSystemAccess,
            (f"icechunk.local_filesystem_store({folder!r})", "icechunk.credentials.LocalFileSystemAccess"),
        )
    if parts.scheme in ("http", "https"):
        return Container(
            f"{parts.scheme}://{parts.netloc}/",
            icechunk.http_store(),
            icechunk.credentials.HttpAccess,
            ("icechunk.http_store()", "icechunk.credentials.HttpAccess"),
        )
    if parts.scheme == "s3":
        return _bucket(parts.netloc, location_of(url))
    raise UsageError(
        f"{url} is in a place that needs a virtual chunk container of your own; add one to the repository "
        "(icechunk.VirtualChunkContainer), or give a url_for"
    )


def _bucket(name: str, location: str) -> Container:
    endpoint = s3_locations.endpoint()
    region = _DANDI_REGION if name.startswith("dandiarchive") else _region()
    store = icechunk.s3_store(
        region=region,
        endpoint_url=endpoint,
        allow_http=endpoint is not None and endpoint.startswith("http:"),
        s3_compatible=endpoint is not None,
        force_path_style=endpoint is not None,
    )
    way = "s3_from_env_credentials" if s3_locations.is_signed(location) else "s3_anonymous_credentials"
    prefix = f"s3://{name}/"
    authorised = icechunk.containers_credentials({prefix: getattr(icechunk, way)()})[prefix]
    code = f"icechunk.containers_credentials({{{prefix!r}: icechunk.{way}()}})[{prefix!r}]"
    return Container(prefix, store, authorised, (f"icechunk.s3_store(region={region!r})", code))


def _region() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"


def prefix_for(url: str, prefixes: Iterable[str]) -> str | None:
    """The longest of some containers' prefixes that a URL begins with."""
    return max((prefix for prefix in prefixes if url.startswith(prefix)), key=len, default=None)


def check_containers(session: icechunk.Session, urls: Iterable[str]) -> None:
    """Refuse files that a session could not read virtual chunks of.

    Of each container one byte of one file is asked for, because a session does not tell what it is
    authorised for; a file that cannot be read just now is no reason to refuse it.

    Raises
    ------
    UsageError
        When a container is missing or not authorised; the message names its prefix and how to add it.
    """
    prefixes = list(session.config.virtual_chunk_containers or {})
    one_of_each: dict[str, str] = {}
    missing: dict[str, str] = {}
    for url in urls:
        prefix = prefix_for(url, prefixes)
        if prefix is None:
            missing.setdefault(container_of(url).prefix, url)
        else:
            one_of_each.setdefault(prefix, url)
    if missing:
        raise UsageError(_no_container(missing))
    refused = [prefix for prefix, url in one_of_each.items() if not _is_authorised(session, url)]
    if refused:
        raise UsageError(_no_authorisation(refused, one_of_each))


def _no_container(missing: dict[str, str]) -> str:
    prefix, url = next(iter(missing.items()))
    store, credential = container_of(url).code
    return (
        f"the repository has no virtual chunk container for {' and '.join(missing)}; nothing is written. Add "
        "it: config = repo.config; config.set_virtual_chunk_container(icechunk.VirtualChunkContainer("
        f"{prefix!r}, {store})); repo = repo.reopen(config, authorize_virtual_chunk_access={{{prefix!r}: "
        f"{credential}}}); repo.save_config(). Or give a url_for that maps the files to a place that has one"
    )


def _no_authorisation(refused: list[str], one_of_each: dict[str, str]) -> str:
    prefix = refused[0]
    return (
        f"the virtual chunk container for {' and '.join(refused)} is not authorised, so its chunks could not "
        "be read; nothing is written. Open the repository with authorize_virtual_chunk_access="
        f"{{{prefix!r}: {container_of(one_of_each[prefix]).code[1]}}}"
    )


def _is_authorised(session: icechunk.Session, url: str) -> bool:
    """Ask for one byte through an array that never gets into the repository.

    It is in a copy of the session; one with changes cannot be copied, and has it for a moment itself.
    """
    store = (session if session.has_uncommitted_changes else session.fork()).store
    path = f".shadowzarr-{uuid.uuid4().hex}"
    metadata = array_metadata(
        shape=(1,), data_type="uint8", chunk_shape=(1,), codecs=[BYTES_CODEC], fill_value=0
    )
    prototype = default_buffer_prototype()
    sync(store.set(f"{path}/zarr.json", prototype.buffer.from_bytes(json.dumps(metadata).encode())))
    try:
        start, length = np.array([0], np.uint64), np.array([1], np.uint64)
        store.set_virtual_refs_arr(path, (1,), [url], start, length)
        sync(store.get(f"{path}/c/0", prototype))
    except icechunk.InvalidInputError as error:
        return _NOT_AUTHORISED not in str(error)
    except icechunk.IcechunkError:
        return True  # authorised, and not to be read now; that is told when it is read
    finally:
        sync(store.delete(f"{path}/zarr.json"))
    return True
