"""The two servers of an archive: the API and, on a port of its own, the object store.

with ArchiveServer(folder) as server:
    server.api_url                         # for our own client, or DandiAPIClient(server.api_url)
    server.archive.add_asset(...)          # change what is served
    server.store.faults.add(Fault(status=503, times=2))
    server.store.log.count(status=206)
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

from ..cross_origin import CrossOrigin
from ..http_messages import Request
from ..http_server import LoopbackServer
from .api import ArchiveApi
from .archive import Archive
from .contents import Asset
from .documents import Origins
from .folder import FolderArchive
from .object_store import ObjectStore
from .signing import DEFAULT_LIFETIME, UrlSigner

BUCKET = "dandiarchive"


class ArchiveServer:
    """Serves an archive.

    Parameters
    ----------
    archive : Archive or path
        What is served; a path is opened as a `FolderArchive`.
    host : str
        Address to listen on. URLs in answers name the host that the client has used.
    api_port, store_port : int
        0 for a free one.
    lifetime : float
        Seconds for which a presigned URL is good.
    latency : float
        Seconds before every answer of both servers.
    bandwidth : float, optional
        Bytes per second and connection of the store.
    requests_per_minute : int, optional
        For API requests without a key; more are answered by 429.
    is_listable : bool
        Whether the store tells a missing key by 404 rather than 403.
    cross_origin : CrossOrigin
        What browsers are allowed at the store.

    Attributes
    ----------
    archive : Archive
        May be changed while it is served.
    api, store : LoopbackServer
        With `faults` and `log`. Paths in the store begin with ``dandiarchive/``, those of the API
        with ``api/``.
    signer : UrlSigner
        Its `lifetime` may be changed; `expire_all` lets all URLs expire.

    Raises
    ------
    UsageError
        When a path is no folder of dandisets.
    """

    def __init__(
        self,
        archive: Archive | str | os.PathLike[str],
        *,
        host: str = "127.0.0.1",
        api_port: int = 0,
        store_port: int = 0,
        lifetime: float = DEFAULT_LIFETIME,
        latency: float = 0.0,
        bandwidth: float | None = None,
        requests_per_minute: int | None = None,
        is_listable: bool = True,
        cross_origin: CrossOrigin = CrossOrigin(),  # noqa: B008  (immutable)
    ) -> None:
        self.archive = archive if isinstance(archive, Archive) else FolderArchive(archive)
        self.signer = UrlSigner(lifetime=lifetime)
        api = ArchiveApi(
            self.archive, self.signer, origins=self._origins, requests_per_minute=requests_per_minute
        )
        store = ObjectStore(
            self.archive,
            self.signer,
            origins=self._origins,
            bucket=BUCKET,
            is_listable=is_listable,
            cross_origin=cross_origin,
        )
        self.api = LoopbackServer(api, host=host, port=api_port, latency=latency)
        self.store = LoopbackServer(store, host=host, port=store_port, latency=latency, bandwidth=bandwidth)

    @property
    def api_url(self) -> str:
        """Base URL of the API, ``http://host:port/api``."""
        return f"{self.api.base_url}/api"

    @property
    def store_url(self) -> str:
        """URL of the bucket, ``http://host:port/dandiarchive``."""
        return f"{self.store.base_url}/{BUCKET}"

    def download_url(self, asset: Asset) -> str:
        """Give the address that redirects to the bytes of an asset."""
        return Origins(self.api_url, self.store_url).download_url(asset)

    def object_url(self, asset: Asset) -> str:
        """Give the address of an asset's blob in the store, without a signature."""
        return Origins(self.api_url, self.store_url).object_url(self.archive.blob(asset.blob_id or "").key)

    def object_path(self, asset: Asset) -> str:
        """Give the path of an asset's blob as faults and logs of the store name it."""
        return f"{BUCKET}/{self.archive.blob(asset.blob_id or '').key}"

    def start(self) -> Self:
        """Begin to listen on both ports.

        Raises
        ------
        OSError
            When a port is in use.
        """
        self.store.start()
        try:
            self.api.start()
        except OSError:
            self.store.close()
            raise
        return self

    def close(self) -> None:
        """Stop both servers and wait for their threads.

        Raises
        ------
        RuntimeError
            When a server failed on a request.
        """
        try:
            self.api.close()
        finally:
            self.store.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.api.__exit__(kind, error, trace)
        finally:
            self.store.__exit__(kind, error, trace)

    def _origins(self, request: Request) -> Origins:
        """Name the servers by the host that the client has reached one of them by."""
        name = request.headers.get("host", "127.0.0.1").rpartition(":")
        host = name[0] or name[2]
        return Origins(f"http://{host}:{self.api.port}/api", f"http://{host}:{self.store.port}/{BUCKET}")
