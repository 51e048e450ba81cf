"""What the API answers at each of its addresses.

One function per address; who asks has been found out before, and errors come out as `ApiError`.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from ...errors import NotInArchiveError
from ..http_messages import Request, Response
from . import documents
from .api_errors import ApiError, BadParameterError, api_error, json_response
from .archive import Archive
from .contents import DRAFT, Asset, Dandiset, User, Version, ZarrStore
from .documents import Origins
from .paging import MAX_PAGE_SIZE, filter_assets, flag, page_of
from .permissions import check_content, check_dandiset, is_owner, may_see_content
from .signing import UrlSigner

_NO_ZARR_DOWNLOAD = (
    "Unable to provide download link for zarr assets. Please browse the zarr files directly to do so."
)
_MAX_ZARR_FILES = 1000


@dataclass(frozen=True)
class Context:
    """What the functions of this module know about a request."""

    archive: Archive
    request: Request
    user: User | None
    origins: Origins
    signer: UrlSigner

    @property
    def url(self) -> str:
        """Absolute URL that was asked for, without its query."""
        return f"{self.origins.web}{self.request.raw_path}"

    def flag(self, name: str, *, default: bool) -> bool:
        """Read a boolean parameter."""
        return flag(self.request.parameters, name, default=default)


def server_info(context: Context) -> Response:
    """``/info/``."""
    return json_response(documents.server_document(context.origins))


def auth_token(context: Context) -> Response:
    """``/auth/token/``: the caller's key."""
    if context.user is None:
        raise api_error(401, "Authentication credentials were not provided.")
    return json_response(context.user.key)


# Dandisets and versions


def list_dandisets(context: Context) -> Response:
    """``/dandisets/``."""
    with_embargoed = context.flag("embargoed", default=False)
    if with_embargoed and context.user is None:
        refusal = json_response("Must be authenticated to view embargoed dandisets", status=401)
        refusal.headers["WWW-Authenticate"] = "Token"
        raise ApiError(refusal)
    chosen = [
        dandiset
        for dandiset in context.archive.dandisets.values()
        if (dandiset.embargo == "OPEN" or (with_embargoed and is_owner(context.user, [dandiset])))
        and _is_wanted(context, dandiset)
    ]
    chosen = _in_order(context, chosen)
    page = page_of(chosen, context.url, context.request.parameters)
    return json_response(page.document(lambda one: documents.dandiset_record(context.archive, one)))


def get_dandiset(context: Context, dandiset: str) -> Response:
    """``/dandisets/{id}/``."""
    return json_response(documents.dandiset_record(context.archive, _dandiset(context, dandiset)))


def list_versions(context: Context, dandiset: str) -> Response:
    """``/dandisets/{id}/versions/``."""
    found = _dandiset(context, dandiset)
    order = context.request.parameters.get("order") or "created"
    if order.removeprefix("-") != "created":
        raise BadParameterError("order", f'Select a valid choice. "{order}" is not one of them.')
    versions = sorted(found.versions.values(), key=lambda one: one.created, reverse=order.startswith("-"))
    page = page_of(versions, context.url, context.request.parameters)
    return json_response(page.document(lambda one: documents.version_record(context.archive, found, one)))


def get_version(context: Context, dandiset: str, version: str) -> Response:
    """``…/versions/{v}/``: the metadata document."""
    return json_response(
        documents.version_document(context.archive, *_version(context, dandiset, version), context.origins)
    )


def get_version_info(context: Context, dandiset: str, version: str) -> Response:
    """``…/versions/{v}/info/``."""
    return json_response(
        documents.version_info(context.archive, *_version(context, dandiset, version), context.origins)
    )


# Assets


def list_assets(context: Context, dandiset: str, version: str) -> Response:
    """``…/versions/{v}/assets/``."""
    _, found = _version(context, dandiset, version)
    with_metadata = context.flag("metadata", default=False)
    assets = filter_assets(context.archive.assets(dandiset, found.name), context.request.parameters)
    page = page_of(assets, context.url, context.request.parameters, is_counted_once=True)

    def record(asset: Asset) -> dict[str, Any]:
        row = documents.asset_record(context.archive, asset)
        return {**row, "metadata": _document(context, asset)} if with_metadata else row

    return json_response(page.document(record))


def list_paths(context: Context, dandiset: str, version: str) -> Response:
    """``…/versions/{v}/assets/paths/``: one folder level."""
    home, found = _version(context, dandiset, version)
    query = context.request.parameters
    assets = context.archive.assets(dandiset, found.name)
    prefix, number = query.get("path_prefix", ""), 1 + list(home.versions).index(version)
    rows = documents.path_rows(context.archive, assets, prefix, version=number, origins=context.origins)
    if not rows and prefix.strip("/"):
        raise api_error(404, "Specified path not found.")
    size = query.get("page_size", str(MAX_PAGE_SIZE))
    return json_response(page_of(rows, context.url, {**query, "page_size": size}).document(dict))


def get_asset(context: Context, **where: str) -> Response:
    """``…/assets/{asset_id}/``: the metadata document."""
    return json_response(_document(context, _asset(context, **where)))


def get_asset_info(context: Context, **where: str) -> Response:
    """``…/assets/{asset_id}/info/``."""
    asset = _asset(context, **where)
    record = documents.asset_record(context.archive, asset)
    return json_response({**record, "metadata": _document(context, asset)})


def get_asset_validation(context: Context, **where: str) -> Response:
    """``…/assets/{asset_id}/validation/``."""
    _asset(context, **where)
    return json_response({"status": "Valid", "validation_errors": []})


def download_asset(context: Context, **where: str) -> Response:
    """``…/assets/{asset_id}/download/``: a redirect to a URL that is good for a while, and for GET."""
    asset = _asset(context, **where)
    disposition = context.request.parameters.get("content_disposition", "attachment")
    if disposition not in ("attachment", "inline"):
        raise BadParameterError("content_disposition", f'"{disposition}" is not a valid choice.')
    if asset.blob_id is None:
        raise ApiError(json_response(_NO_ZARR_DOWNLOAD, status=400))
    name = asset.path.rpartition("/")[2]
    query = [("response-content-disposition", f'{disposition}; filename="{name}"')]
    if disposition == "inline":
        query.append(("response-content-type", documents.content_type(asset)))
    location = _signed(context, "GET", context.archive.blob(asset.blob_id).key, query)
    if disposition == "inline" and documents.content_type(asset).startswith("video/"):
        page = f'<video autoplay muted controls><source src="{html.escape(location)}"></video>'
        return Response(200, {"Content-Type": "text/html"}, page.encode())
    return Response(302, {"Location": location, "Content-Type": "text/html; charset=utf-8"})


# Blobs and Zarr stores


def find_blob(context: Context) -> Response:
    """``/blobs/digest/``: the blob with a digest."""
    algorithm, value = _asked_digest(context.request.body)
    for blob in context.archive.blobs():
        digest = blob.etag if algorithm == "dandi:dandi-etag" else context.archive.sha256(blob)
        if digest == value and may_see_content(context.user, context.archive, blob.blob_id):
            return json_response(
                {
                    "blob_id": blob.blob_id,
                    "etag": blob.etag,
                    "sha256": context.archive.sha256(blob),
                    "size": blob.size,
                }
            )
    raise api_error(404, "No AssetBlob matches the given query.")


def get_zarr(context: Context, zarr_id: str) -> Response:
    """``/zarr/{zarr_id}/``."""
    return json_response(documents.zarr_record(_zarr(context, zarr_id)))


def list_zarr_files(context: Context, zarr_id: str) -> Response:
    """``/zarr/{zarr_id}/files/``: a listing by ``prefix`` and ``after``, or a redirect to one file."""
    store = _zarr(context, zarr_id)
    query = context.request.parameters
    prefix, after = query.get("prefix", ""), query.get("after", "")
    if context.flag("download", default=False):
        return _zarr_download(context, store, prefix)
    limit = _limit(query.get("limit", str(_MAX_ZARR_FILES)))
    files = [file for file in store.files if file.path.startswith(prefix) and file.path > after]
    following = None
    if len(files) > limit:
        following = f"{context.url}?{urlencode({**query, 'after': files[limit - 1].path})}"
    records = [documents.zarr_file_record(file) for file in files[:limit]]
    return json_response({"next": following, "results": records})


# Below


def _is_wanted(context: Context, dandiset: Dandiset) -> bool:
    query = context.request.parameters
    words = query.get("search", "").lower()
    return (
        (dandiset.latest is not None or context.flag("draft", default=True))
        and (bool(dandiset.draft.assets) or context.flag("empty", default=True))
        and (query.get("user") != "me" or is_owner(context.user, [dandiset]))
        and not context.flag("starred", default=False)
        and words in f"{dandiset.identifier} {dandiset.title}".lower()
    )


def _in_order(context: Context, dandisets: list[Dandiset]) -> list[Dandiset]:
    """Sort as ``ordering`` asks; an order that the archive does not know is ignored."""
    order = context.request.parameters.get("ordering") or "id"
    archive = context.archive
    keys: dict[str, Callable[[Dandiset], Any]] = {
        "id": lambda one: one.identifier,
        "name": lambda one: one.title,
        "modified": lambda one: one.draft.modified,
        "size": lambda one: sum(archive.size(asset) for asset in archive.assets(one.identifier)),
    }
    key = keys.get(order.removeprefix("-"), keys["id"])
    return sorted(dandisets, key=key, reverse=order.startswith("-"))


def _dandiset(context: Context, identifier: str) -> Dandiset:
    try:
        dandiset = context.archive.dandiset(identifier)
    except NotInArchiveError:
        raise api_error(404, "No Dandiset matches the given query.") from None
    check_dandiset(context.user, dandiset)
    return dandiset


def _version(context: Context, identifier: str, name: str) -> tuple[Dandiset, Version]:
    dandiset = _dandiset(context, identifier)
    if name not in dandiset.versions:
        raise api_error(404, "No Version matches the given query.")
    return dandiset, dandiset.versions[name]


def _asset(context: Context, *, asset_id: str, dandiset: str = "", version: str = DRAFT) -> Asset:
    """Give an asset, within a version when the address names one.

    One whose file was deleted is gone, as are assets of the archive whose blob was collected.
    """
    missing = api_error(404, "No Asset matches the given query.")
    found = _version(context, dandiset, version)[1] if dandiset else None
    try:
        asset = context.archive.asset(asset_id)
    except NotInArchiveError:
        raise missing from None
    if not context.archive.has_bytes(asset):
        raise missing
    if found is None:
        check_content(context.user, context.archive, asset.blob_id or asset.zarr_id or "")
    elif found.assets.get(asset.path) != asset_id:
        raise missing
    return asset


def _document(context: Context, asset: Asset) -> dict[str, Any]:
    return documents.asset_document(context.archive, asset, context.origins)


def _signed(context: Context, method: str, key: str, query: list[tuple[str, str]]) -> str:
    store = urlsplit(context.origins.store)
    return context.signer.sign(method, store.netloc, f"{store.path}/{key}", query)


def _asked_digest(body: bytes) -> tuple[str, str]:
    try:
        asked = json.loads(body)
        algorithm, value = str(asked["algorithm"]), str(asked["value"])
    except (ValueError, TypeError, KeyError):
        raise ApiError(json_response({"algorithm": ["This field is required."]}, status=400)) from None
    if algorithm not in ("dandi:dandi-etag", "dandi:sha2-256"):
        raise ApiError(json_response("Unsupported Digest Type", status=400))
    return algorithm, value


def _zarr(context: Context, zarr_id: str) -> ZarrStore:
    """Give a Zarr store; one that is embargoed does not exist for others."""
    try:
        store = context.archive.zarr(zarr_id)
    except NotInArchiveError:
        raise api_error(404, "No ZarrArchive matches the given query.") from None
    if not may_see_content(context.user, context.archive, zarr_id):
        raise api_error(404, "No ZarrArchive matches the given query.")
    return store


def _limit(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]*", text):
        raise BadParameterError("limit", "A valid integer is required.")
    return min(int(text), _MAX_ZARR_FILES)


def _zarr_download(context: Context, store: ZarrStore, path: str) -> Response:
    if path not in {file.path for file in store.files}:
        raise api_error(404, "Specified path not found.")
    location = _signed(context, context.request.method, f"zarr/{store.zarr_id}/{path}", [])
    return Response(302, {"Location": location})
