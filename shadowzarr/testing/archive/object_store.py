"""The archive's object store as an application: blobs, files of Zarr stores, manifests of versions.

Answers as a bucket of S3 does, addressed by path; what an object answers to ranges and conditions is
in `shadowzarr.testing.object_responses`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable

from ...errors import NotInArchiveError
from ..cross_origin import CrossOrigin
from ..faults import Effects
from ..http_messages import Request, Response
from ..object_responses import StoredObject, error_response, object_response, refusal
from . import documents
from .archive import Archive
from .contents import DRAFT, Blob, Version
from .documents import Origins
from .signing import UrlSigner

_BLOB = re.compile(r"blobs/(...)/(...)/(\1\2.+)")
_ZARR = re.compile(r"zarr/([^/]+)/(.+)")
_MANIFEST = re.compile(r"dandisets/(\d{6})/([^/]+)/([^/]+)")
_OVERRIDE = "response-"


class ObjectStore:
    """The application of the object store.

    Parameters
    ----------
    archive : Archive
        What is in the store.
    signer : UrlSigner
        Checks presigned URLs.
    origins : callable
        Gives the two addresses as the client of a request reaches them.
    bucket : str
        First part of every path.
    is_listable : bool
        Whether a missing key is told by 404; otherwise it is 403.
    cross_origin : CrossOrigin
        What browsers are allowed.
    """

    def __init__(
        self,
        archive: Archive,
        signer: UrlSigner,
        *,
        origins: Callable[[Request], Origins],
        bucket: str,
        is_listable: bool = True,
        cross_origin: CrossOrigin = CrossOrigin(),  # noqa: B008  (immutable)
    ) -> None:
        self._archive, self._signer, self._origins = archive, signer, origins
        self._prefix = f"/{bucket}/"
        self._is_listable = is_listable
        self._cross_origin = cross_origin

    def respond(self, request: Request, effects: Effects) -> Response:
        """Answer a request of the store."""
        if request.method == "OPTIONS":
            denied = "CORSResponse: This CORS request is not allowed."
            allowed = self._cross_origin.preflight(request)
            return allowed or error_response(403, code="AccessForbidden", message=denied)
        response = self._denial(request) or self._object(request, effects)
        return self._finish(request, response)

    def refuse(self, request: Request, effects: Effects) -> Response:
        """Give the error that a fault asks for, as XML or as a proxy's page."""
        return self._finish(request, refusal(effects))

    def _finish(self, request: Request, response: Response) -> Response:
        response.headers.update(self._cross_origin.headers(request))
        return response

    def _denial(self, request: Request) -> Response | None:
        """Check method, authentication and bucket; None when the object may be looked for."""
        if request.method not in ("GET", "HEAD"):
            return error_response(405)
        if "authorization" in request.headers:
            return _wrong_authorization(request)
        if _is_signed(request):
            refused = self._signer.check(request)
            if refused:
                return refused
        elif any(name.startswith(_OVERRIDE) for name in request.parameters):
            denied = "Request specific response headers cannot be used for anonymous GET requests."
            return error_response(400, message=denied)
        if not request.path.startswith(self._prefix):
            return error_response(404, code="NoSuchBucket", message="The specified bucket does not exist")
        return None

    def _object(self, request: Request, effects: Effects) -> Response:
        key = request.path.removeprefix(self._prefix)
        with self._archive.lock:
            content_id = _content_id(key)
            is_open = content_id not in self._archive.tagged_blobs and not (
                content_id and self._archive.is_embargoed(content_id)
            )
            if not is_open and not _is_signed(request):
                return error_response(403)
            stored = self._find(key, request)
        if stored is None:
            return error_response(404, fields={"Key": key}) if self._is_listable else error_response(403)
        response = object_response(request, effects, stored)
        for name, value in request.query:
            if name.startswith(_OVERRIDE) and response.status in (200, 206):
                header = name.removeprefix(_OVERRIDE).title()
                response.headers[header] = value.encode().decode("latin-1")
        return response

    def _find(self, key: str, request: Request) -> StoredObject | None:
        try:
            if match := _BLOB.fullmatch(key):
                return self._blob(self._archive.blob(match[3]))
            if match := _ZARR.fullmatch(key):
                return self._zarr_file(match[1], match[2])
            if match := _MANIFEST.fullmatch(key):
                return self._manifest(match[1], match[2], match[3], request)
        except NotInArchiveError:
            return None
        return None

    def _blob(self, blob: Blob) -> StoredObject | None:
        """Give a blob under the ETag of the bytes that its file has now."""
        if not blob.file.is_file():
            return None
        stat = blob.file.stat()
        etag = (
            self._archive.etag_of(blob.file)
            if stat.st_size
            else hashlib.md5(usedforsecurity=False).hexdigest()
        )
        return StoredObject(blob.file, stat.st_size, f'"{etag}"', stat.st_mtime)

    def _zarr_file(self, zarr_id: str, path: str) -> StoredObject | None:
        for file in self._archive.zarr(zarr_id).files:
            if file.path == path and file.file.is_file():
                stat = file.file.stat()
                return StoredObject(
                    file.file, stat.st_size, f'"{self._archive.md5_of(file.file)}"', stat.st_mtime
                )
        return None

    def _manifest(self, identifier: str, name: str, file: str, request: Request) -> StoredObject | None:
        dandiset = self._archive.dandiset(identifier)
        version = dandiset.versions.get(name)
        if version is None or name == DRAFT or dandiset.embargo != "OPEN":
            return None
        text = self._manifest_text(identifier, version, file, self._origins(request))
        if text is None:
            return None
        body = text.encode()
        etag = hashlib.md5(body, usedforsecurity=False).hexdigest()
        return StoredObject(body, len(body), f'"{etag}"', version.created.timestamp())

    def _manifest_text(self, identifier: str, version: Version, file: str, origins: Origins) -> str | None:
        """Write a manifest. JSON is YAML too, so both forms have the same text."""
        archive, dandiset = self._archive, self._archive.dandiset(identifier)
        name, _, form = file.partition(".")
        if form not in ("jsonld", "yaml"):
            return None
        if name == "dandiset":
            return json.dumps(documents.version_document(archive, dandiset, version, origins))
        assets = [
            documents.asset_document(archive, asset, origins)
            for asset in archive.assets(identifier, version.name)
        ]
        if name == "assets":
            return json.dumps(assets)
        if file == "collection.jsonld":
            return json.dumps({"@type": "prov:Collection", "hasMember": [one["id"] for one in assets]})
        return None


def _content_id(key: str) -> str | None:
    """Give the id of the blob or Zarr store that a key belongs to."""
    match = _BLOB.fullmatch(key)
    if match:
        return match[3]
    match = _ZARR.fullmatch(key)
    return match[1] if match else None


def _is_signed(request: Request) -> bool:
    return "X-Amz-Signature" in request.parameters


def _wrong_authorization(request: Request) -> Response:
    """Refuse an archive's key: it is not for the store, and should never have come here."""
    message = "Unsupported Authorization Type"
    if _is_signed(request):
        message = (
            "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query "
            "string parameter or the Authorization header should be specified"
        )
    return error_response(400, code="InvalidArgument", message=message)
