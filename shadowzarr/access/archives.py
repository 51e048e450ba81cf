"""The DANDI archives that are known, and which API key belongs to which.

A key is read from its environment variable each time it is needed, belongs to one origin (scheme, host
and port) and the paths under its API, and is kept nowhere. Requests are made elsewhere.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from ..errors import UsageError

_ASSET_PATH = re.compile(
    r"^(?P<api>.*/api)/(?:dandisets/[^/]+/versions/[^/]+/)?assets/"
    r"(?P<asset>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})/?(?P<rest>(?:download|info)/?)?$"
)


@dataclass(frozen=True, slots=True)
class Archive:
    """One instance of the DANDI archive.

    Attributes
    ----------
    name : str
        Name used in ``dandi://<name>/...``.
    api_url : str
        Root of the API, without a trailing slash.
    key_env : str or None
        Environment variable that holds the API key.
    web_urls : tuple of str
        Roots of the archive's web pages, without trailing slashes.
    """

    name: str
    api_url: str
    key_env: str | None = None
    web_urls: tuple[str, ...] = ()


_KNOWN = (
    Archive(
        name="dandi",
        api_url="https://api.dandiarchive.org/api",
        key_env="DANDI_API_KEY",
        web_urls=("https://dandiarchive.org", "https://gui.dandiarchive.org"),
    ),
    Archive(
        name="dandi-sandbox",
        api_url="https://api.sandbox.dandiarchive.org/api",
        key_env="DANDI_SANDBOX_API_KEY",
        web_urls=("https://sandbox.dandiarchive.org",),
    ),
)
_registered: dict[str, Archive] = {archive.api_url: archive for archive in _KNOWN}


def register_archive(
    api_url: str, *, name: str | None = None, key_env: str | None = None, web_url: str | None = None
) -> Archive:
    """Make an archive known to this process.

    Parameters
    ----------
    api_url : str
        Root of its API, for example ``"http://127.0.0.1:8000/api"``.
    name : str, optional
        Its name in ``dandi://<name>/...``; host and port by default.
    key_env : str, optional
        Environment variable that holds its API key. The key is sent to this API only.
    web_url : str, optional
        Root of its web pages.

    Returns
    -------
    Archive
        What was registered; an earlier registration of the same API is replaced.

    Raises
    ------
    UsageError
        When the URL is not http(s).
    """
    parts = urlsplit(api_url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise UsageError(f"the API of an archive is an http(s) URL, found {api_url!r}")
    refuse_password(api_url)
    api_url = api_url.rstrip("/")
    archive = Archive(
        name=name or parts.netloc,
        api_url=api_url,
        key_env=key_env,
        web_urls=(web_url.rstrip("/"),) if web_url else (),
    )
    _registered[api_url] = archive
    return archive


def refuse_password(api_url: str) -> None:
    """Refuse the URL of an archive that carries a password, which would be shown and written down with it.

    Raises
    ------
    UsageError
        When it does.
    """
    _, has_user, host = urlsplit(api_url).netloc.rpartition("@")
    if has_user:
        raise UsageError(
            f"the URL of the archive at {host} comes with a user or a password, which must not be written "
            "down; leave it away, and name the environment variable of an API key by key_env (api_key_env in "
            "configurations)"
        )


def known_archives() -> tuple[Archive, ...]:
    """All archives that this process knows."""
    return tuple(_registered.values())


def archive_named(name_or_url: str) -> Archive | None:
    """The archive of this name or API URL, or None."""
    wanted = name_or_url.rstrip("/")
    return next((a for a in known_archives() if wanted in {a.name, a.api_url}), None)


def archive_of(url: str) -> Archive | None:
    """The archive under whose API a URL lies, or None."""
    return next((a for a in known_archives() if _is_under(url, a.api_url)), None)


def api_key(url: str) -> str | None:
    """The API key for a URL, or None.

    Only URLs under the API of a registered archive have one: same scheme, host, port and path root.
    """
    archive = archive_of(url)
    if archive is None or archive.key_env is None:
        return None
    return os.environ.get(archive.key_env) or None


def authorization(url: str) -> dict[str, str]:
    """The headers that authorize a request to a URL: empty when there is no key for it."""
    key = api_key(url)
    return {} if key is None else {"Authorization": f"token {key}"}


def asset_address(url: str) -> tuple[str, str] | None:
    """Take the URL of an asset apart.

    Parameters
    ----------
    url : str
        An http(s) URL. ``.../assets/{id}/download/`` is taken at any host, ``.../assets/{id}/`` and
        ``.../info/`` at registered archives only.

    Returns
    -------
    tuple of str or None
        API root and asset id; None when the URL names no asset.
    """
    parts = urlsplit(url)
    match = _ASSET_PATH.match(parts.path) if parts.scheme in {"http", "https"} else None
    if match is None:
        return None
    is_download = (match["rest"] or "").startswith("download")
    if not is_download and archive_of(url) is None:
        return None
    return f"{parts.scheme}://{parts.netloc}{match['api']}", match["asset"].lower()


def download_url(api_url: str, asset_id: str) -> str:
    """The download URL of an asset, independent of dandiset and version."""
    return f"{api_url.rstrip('/')}/assets/{asset_id}/download/"


@lru_cache(maxsize=1024)  # it is asked for with every request, of few URLs
def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of an http(s) URL."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
    return parts.scheme.lower(), (parts.hostname or "").lower(), port


def _is_under(url: str, root: str) -> bool:
    if origin(url) != origin(root):
        return False
    path, root_path = urlsplit(url).path, urlsplit(root).path
    return path == root_path or path.startswith(root_path + "/")
