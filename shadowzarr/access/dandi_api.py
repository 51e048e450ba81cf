"""The archive's JSON API: dandisets, versions and assets.

Six endpoints, read only; their records are in `dandi_records`. Bytes of assets are read elsewhere
(`url_resolver`, `process_connections`). Redirects are not followed, so that the API key stays with the
archive.
"""

from __future__ import annotations

import functools
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx

from ..errors import (
    AccessDeniedError,
    ArchiveError,
    ArchiveUnavailableError,
    MissingCredentialsError,
    NotInArchiveError,
    ShadowzarrError,
    TransientReadError,
)
from . import http_client
from .archives import archive_named, archive_of, authorization, known_archives, refuse_password
from .dandi_records import Asset, Dandiset, Version, parse, to_asset, to_dandiset, to_version
from .http_client import Retries, RetryPolicy, is_transient_status, retry_after, user_agent
from .locations import without_query
from .traffic import current

__all__ = ["ARCHIVES", "PAGE_SIZE", "REQUESTS_PER_SECOND", "Asset", "DandiArchive", "Dandiset", "Version"]

PAGE_SIZE: Final = 1000
"""Assets per page of a listing; the archive gives no more."""
REQUESTS_PER_SECOND: Final = 8.0
"""Most requests per second to the public archives, in one process."""
ARCHIVES: Final[Mapping[str, str]] = {archive.name: archive.api_url for archive in known_archives()}
"""API URLs of the public archives by name."""


@functools.cache
def _tls_context() -> ssl.SSLContext:
    """What all clients of this process trust; reading the certificates takes 50 ms each time."""
    return httpx.create_ssl_context()


class DandiArchive:
    """A client of one archive.

    Parameters
    ----------
    api_url : str
        Root of the API, or the name of a known archive (``"dandi"``, ``"dandi-sandbox"``).
    token : str, optional
        API key; that of the archive's environment variable by default.
    retries : RetryPolicy, optional
        How often a request is tried.
    """

    def __init__(self, api_url: str, *, token: str | None = None, retries: RetryPolicy | None = None) -> None:
        known = archive_named(api_url)
        self.api_url = known.api_url if known is not None else api_url.rstrip("/")
        refuse_password(self.api_url)
        self._token = token
        self._retries = retries
        self._client = httpx.Client(
            headers={"User-Agent": user_agent(), "Accept": "application/json"},
            follow_redirects=False,
            verify=_tls_context(),
            timeout=httpx.Timeout(http_client.READ_TIMEOUT, connect=http_client.CONNECT_TIMEOUT),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def date(self) -> str | None:
        """The date of an answer, as HTTP writes it; errors as in `dandiset`."""
        date: str | None = self._answer("/info/", what="record of itself").headers.get("Date")
        return date

    def dandiset(self, identifier: str) -> Dandiset:
        """A dandiset by its six digits.

        Raises
        ------
        NotInArchiveError
            When there is none.
        MissingCredentialsError, AccessDeniedError
            When it is under embargo and the key is missing, refused, or not its owner's.
        ArchiveUnavailableError, ArchiveError
            When the archive gives no usable answer.
        """
        record = self._get_object(f"/dandisets/{identifier}/", what=f"dandiset {identifier}")
        return parse(to_dandiset, record, f"dandiset {identifier}")

    def versions(self, identifier: str) -> list[Version]:
        """All versions of a dandiset, oldest first; errors as in `dandiset`."""
        what = f"versions of dandiset {identifier}"
        records = self._pages(f"/dandisets/{identifier}/versions/", {"order": "created"}, what=what)
        return [parse(to_version, record, what) for record in records]

    def asset(self, asset_id: str) -> Asset:
        """An asset by its id, with metadata.

        Raises
        ------
        NotInArchiveError
            When there is none.
        ShadowzarrError
            As in `dandiset`.
        """
        what = f"asset {asset_id}"
        return parse(self._asset, self._get_object(f"/assets/{asset_id}/info/", what=what), what)

    def asset_by_path(self, dandiset: str, version: str, path: str) -> Asset:
        """An asset by its path in a version, with metadata; errors as in `asset`."""
        for asset in self.list_assets(dandiset, version, path=path):
            if asset.path == path:
                return asset
        raise NotInArchiveError(
            f"dandiset {dandiset} version {version} at {self.api_url} has no asset {path!r}; check the path"
        )

    def list_assets(
        self, dandiset: str, version: str, *, path: str | None = None, glob: str | None = None
    ) -> Iterator[Asset]:
        """The assets of a version in order of their paths, with metadata.

        A listing is read whole before its first asset is given. An archive that changes meanwhile can show an
        asset twice or leave one out: then everything is listed once more.

        Parameters
        ----------
        dandiset : str
            Six digits.
        version : str
            ``"draft"`` or a published version.
        path : str, optional
            Beginning of paths, in any case; when it is exactly the path of an asset, that asset only.
        glob : str, optional
            Pattern of paths with ``*``, which matches ``/`` too.

        Raises
        ------
        NotInArchiveError
            When there is no such dandiset or version.
        ArchiveError
            When listing twice gave a wrong number of assets.
        ShadowzarrError
            As in `dandiset`.
        """
        options = {"metadata": "true", "page_size": str(PAGE_SIZE), "order": "path"}
        options |= {} if path is None else {"path": path}
        options |= {} if glob is None else {"glob": glob}
        where = f"/dandisets/{dandiset}/versions/{version}/assets/"
        what = f"assets of dandiset {dandiset} version {version}"
        try:
            records = self._pages(where, options, what=what)
        except _UnsteadyListingError:
            records = self._pages(where, options, what=what)
        return iter([parse(self._asset, record, what) for record in records])

    def _pages(self, path: str, options: dict[str, str], *, what: str) -> list[dict[str, Any]]:
        """All records of a listing."""
        records: list[dict[str, Any]] = []
        count: int | None = None
        page = 1
        while True:
            answer = self._get_object(path, options | {"page": str(page)}, what=what)
            if not isinstance(answer.get("results"), list):
                raise ArchiveError(
                    f"{self.api_url}: a page of the {what} has no results; is this a DANDI API?"
                )
            records += answer["results"]
            count = answer.get("count") if page == 1 else count
            is_too_long = isinstance(count, int) and len(records) > count  # it grows while it is read
            if is_too_long or not answer.get("next") or not answer["results"]:
                break
            page += 1
        _check_listing(records, count, what)
        return records

    def _get_object(self, path: str, options: dict[str, str] | None = None, *, what: str) -> dict[str, Any]:
        return self._json_object(self._answer(path, options, what=what), what)

    def _answer(self, path: str, options: dict[str, str] | None = None, *, what: str) -> httpx.Response:
        url = self.api_url + path
        retries = Retries(self._retries or http_client.DEFAULT_RETRIES)
        while True:
            try:
                response = self._get(url, options)
                break
            except TransientReadError as error:
                time.sleep(self._pause(retries, error))
        if response.status_code != 200:
            raise self._refusal(response, what)
        return response

    def _pause(self, retries: Retries, error: TransientReadError) -> float:
        try:
            pause = retries.pause_after(error)
        except TransientReadError as last:
            raise ArchiveUnavailableError(str(last)) from None
        current().retried()
        return pause

    def _get(self, url: str, options: dict[str, str] | None) -> httpx.Response:
        """One try; what may pass is raised as a `TransientReadError`."""
        _limit_rate(url)
        try:
            response = self._read(url, options)
        except httpx.TransportError as error:
            if _is_untrusted(error):
                raise ArchiveError(
                    f"{without_query(url)}: no secure connection to the archive; check its certificate"
                ) from error
            raise TransientReadError(
                f"{url}: the archive cannot be reached ({http_client.connection_failure(error)}); "
                "check the network"
            ) from error
        except httpx.InvalidURL as error:
            raise ArchiveError(f"{without_query(url)}: not a URL of an archive ({error})") from error
        if is_transient_status(response.status_code):
            raise TransientReadError(
                f"{url}: the archive answered {response.status_code}; try again later",
                status=response.status_code,
                retry_after=retry_after(response.headers),
            )
        return response

    def _read(self, url: str, options: dict[str, str] | None) -> httpx.Response:
        """An answer with its body, in the time that a request may take; time-outs are for each piece."""
        until = time.monotonic() + http_client.WHOLE_TIMEOUT
        with self._client.stream("GET", url, params=options, headers=self._authorization(url)) as response:
            parts = []
            for part in response.iter_bytes():
                parts.append(part)
                if time.monotonic() > until:
                    raise httpx.ReadTimeout("the whole of it took too long")
        content, headers = b"".join(parts), response.headers.copy()
        headers.pop("Content-Encoding", None)  # it is decoded already
        return httpx.Response(response.status_code, headers=headers, content=content)

    def _authorization(self, url: str) -> dict[str, str]:
        return authorization(url) if self._token is None else {"Authorization": f"token {self._token}"}

    def _refusal(self, response: httpx.Response, what: str) -> ShadowzarrError:
        status = response.status_code
        if status == 404:
            return NotInArchiveError(
                f"{self.api_url} has no {what}; check the identifier, version and archive{self._root_hint()}"
            )
        if status == 401:
            return self._missing_key(what)
        if status == 403:
            return AccessDeniedError(
                f"{what} at {self.api_url}: the owner of the API key may not read it (403)", status=403
            )
        detail = " ".join(response.text.split())[:200] if _is_json(response) else "not JSON"
        return ArchiveError(f"{what} at {self.api_url}: the archive answered {status} ({detail})")

    def _missing_key(self, what: str) -> MissingCredentialsError:
        archive = archive_of(self.api_url + "/")
        variable = archive.key_env if archive is not None else None
        hint = (
            f"the environment variable {variable}" if variable else "token=, or register_archive(key_env=...)"
        )
        if self._token is not None or authorization(self.api_url + "/"):
            return MissingCredentialsError(
                f"{self.api_url} refuses the API key given by {hint if variable else 'token='} (401); "
                "check it, or leave it away for open data"
            )
        return MissingCredentialsError(f"{what} at {self.api_url} needs an API key (401); give it by {hint}")

    def _json_object(self, response: httpx.Response, what: str) -> dict[str, Any]:
        found = response.headers.get("Content-Type", "nothing")
        try:
            value = response.json() if _is_json(response) else None
        except ValueError:
            value, found = None, "broken JSON"
        if not isinstance(value, dict):
            raise ArchiveError(
                f"{what} at {self.api_url}: found {found}, expected a JSON object; is this a DANDI API?"
                f"{self._root_hint()}"
            )
        return value

    def _root_hint(self) -> str:
        """What to say where a wrong root is likely: those of all known archives end in ``/api``."""
        if self.api_url.endswith("/api"):
            return ""
        return f". The root of the API may be wrong: try {self.api_url}/api"

    def _asset(self, record: dict[str, Any]) -> Asset:
        return to_asset(record, api_url=self.api_url)


class _UnsteadyListingError(ArchiveError):
    """A listing has an asset twice, or not as many as it says."""


class _RateLimit:
    """Gives requests of all threads their times, evenly apart."""

    def __init__(self, per_second: float) -> None:
        self._interval = 1 / per_second
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Sleep until this request's turn."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._interval
        time.sleep(turn - now)


_RATE_LIMIT = _RateLimit(REQUESTS_PER_SECOND)


def _limit_rate(url: str) -> None:
    host = urlsplit(url).hostname or ""
    if host == "dandiarchive.org" or host.endswith(".dandiarchive.org"):
        _RATE_LIMIT.wait()


def _check_listing(records: list[dict[str, Any]], count: int | None, what: str) -> None:
    ids = [record.get("asset_id") or record.get("version") for record in records]
    paths = [record["path"] for record in records if "path" in record]
    if len(set(ids)) != len(ids) or len(set(paths)) != len(paths):
        raise _UnsteadyListingError(
            f"the list of {what} shows some twice; it changed while it was read, try again"
        )
    if count is not None and len(ids) != count:
        raise _UnsteadyListingError(
            f"the list of {what} has {len(ids)} entries, its first page promised {count}; try again"
        )


def _is_untrusted(error: BaseException | None) -> bool:
    """Whether a certificate was the cause, which trying again does not mend."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error is not None


def _is_json(response: httpx.Response) -> bool:
    return "json" in response.headers.get("Content-Type", "")
