"""Names of files: what a user may write, and the one form that goes into references.

Only DANDI paths and web pages need a request (the archive is asked for the asset's id); everything
else is text. Bytes are read elsewhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit, urlunsplit

from ..errors import UsageError
from .archives import Archive, archive_named, asset_address, download_url, known_archives

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):")  # two letters at least: "C:\x" is a path
_DANDI = re.compile(r"^dandi://(?P<archive>[^/]+)/(?P<dandiset>\d{6})(?:@(?P<version>[^/]+))?/(?P<path>.+)$")
_WEB_PATH = re.compile(r"^/?dandiset/(?P<dandiset>\d{6})(?:/(?P<version>[^/]+))?(?:/files/?)?$")
_SIGNATURES = frozenset({"x-amz-signature", "x-goog-signature", "signature", "sig"})
_KEYS = frozenset({"x-amz-security-token", "token", "access_token", "api_key", "apikey", "password"})
_REMOTE_SCHEMES = frozenset({"http", "https", "s3"})


def canonical(source: str | os.PathLike[str]) -> str:
    """The one name of a file.

    Parameters
    ----------
    source : str or path-like
        A local path, a ``file://``, ``http(s)://`` or ``s3://`` URL, a DANDI path
        ``dandi://<archive>/<dandiset>[@version]/<path>``, the URL of an asset in the archive's API, or the
        archive's web page of a file.

    Returns
    -------
    str
        An absolute local path; an ``s3://`` or http(s) URL as it was given, without fragment; for assets of
        an archive ``{api}/assets/{id}/download/``, which does not change with versions.

    Raises
    ------
    UsageError
        When the form is not known, or a DANDI path names an unknown archive.
    NotInArchiveError
        When the archive has no such asset.
    """
    if not isinstance(source, str):
        return os.path.abspath(os.fspath(source))  # noqa: PTH100 - resolve() would follow links
    scheme = _scheme(source)
    if scheme == "":
        return os.path.abspath(source)  # noqa: PTH100
    try:
        _ = urlsplit(source).port
    except ValueError as error:
        raise UsageError(f"{source!r} is no URL: {error}") from error
    if scheme == "file":
        return _from_file_url(source)
    if scheme == "s3":
        return source
    if scheme == "dandi":
        return _from_dandi_path(source)
    if scheme in {"http", "https"}:
        return _from_http(source)
    raise UsageError(
        f"cannot read {without_query(source)!r}: expected a local path or a URL that begins with "
        "file://, http://, https://, s3:// or dandi://"
    )


def is_remote(location: str) -> bool:
    """Whether a canonical location is read over the network."""
    return _scheme(location) in _REMOTE_SCHEMES


def local_path(location: str) -> str:
    """The path of a location that is not remote; ``file://`` URLs are turned into paths."""
    return _from_file_url(location) if _scheme(location) == "file" else location


def written_path(location: str | os.PathLike[str]) -> Path:
    """The path of a place on disk that is written to.

    Raises
    ------
    UsageError
        When it is a URL, which as a path would name a folder such as ``https:``.
    """
    if not isinstance(location, str):
        return Path(location)
    if is_remote(location):
        raise UsageError(
            f"{without_query(location)} is a URL, and this is written to disk: name a local path, and copy "
            "what is written to where it is to be"
        )
    return Path(local_path(location))


def without_query(location: str) -> str:
    """A location that may be shown: a URL loses its query, fragment, user and password."""
    if _scheme(location) == "":
        return location
    try:
        parts = urlsplit(location)
    except ValueError:  # no URL, which whoever reads it says; what follows may be a secret all the same
        return re.split(r"[?#]", location)[0].rpartition("@")[2]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def secret_in(location: str) -> str | None:
    """What in a URL must not be written down: "a password", "a signature" or "a key", or None.

    A signature expires, too. What a local path holds is no secret.
    """
    if not is_remote(location):
        return None
    if "@" in location.partition("://")[2].partition("/")[0]:
        return "a password"
    names = {name.lower() for name, _ in parse_qsl(location.partition("?")[2])}
    return "a signature" if names & _SIGNATURES else "a key" if names & _KEYS else None


def _scheme(location: str) -> str:
    match = _SCHEME.match(location)
    return match[1].lower() if match else ""


def _from_file_url(url: str) -> str:
    from urllib.request import url2pathname  # few sources are such URLs, and it imports much

    parts = urlsplit(url)
    if parts.netloc not in {"", "localhost"}:
        raise UsageError(f"{url!r} names another host; expected file:///absolute/path")
    path = url[len("file:") :].removeprefix("//").removeprefix("localhost")
    return os.path.abspath(url2pathname(path))  # noqa: PTH100


def _from_dandi_path(text: str) -> str:
    match = _DANDI.match(text)
    if match is None:
        raise UsageError(_not_a_dandi_path(text))
    archive = archive_named(match["archive"])
    if archive is None:
        names = ", ".join(sorted(a.name for a in known_archives()))
        raise UsageError(f"no archive is named {match['archive']!r}; known are {names}")
    return _look_up(archive, match["dandiset"], match["version"], match["path"])


def _not_a_dandi_path(text: str) -> str:
    expected = (
        f"{text!r} is not a DANDI path; expected dandi://<archive>/<dandiset>[@version]/<path>, where "
        "<dandiset> is six digits"
    )
    archive, _, rest = text.removeprefix("dandi://").partition("/")
    digits = re.match(r"\d{1,5}(?=[@/])", rest)
    if digits is None:
        return expected
    return f"{expected}; did you mean dandi://{archive}/{digits[0].zfill(6)}{rest[len(digits[0]) :]}?"


def _from_http(url: str) -> str:
    asset = asset_address(url)
    if asset is not None:
        return download_url(*asset)
    for archive in known_archives():
        if any(url == root or url.startswith((root + "/", root + "#")) for root in archive.web_urls):
            return _from_web_page(archive, url)
    return url.partition("#")[0]


def _from_web_page(archive: Archive, url: str) -> str:
    parts = urlsplit(url)
    if parts.fragment.startswith("/"):  # older pages: https://dandiarchive.org/#/dandiset/...
        parts = urlsplit(parts.fragment)
    match = _WEB_PATH.match(parts.path)
    location = parse_qs(parts.query).get("location", [""])[0].strip("/")
    if match is None or not location:
        raise UsageError(
            f"{without_query(url)!r} is a page of the archive but names no file; expected "
            ".../dandiset/<id>/<version>/files?location=<path>, or the file's download URL"
        )
    return _look_up(archive, match["dandiset"], match["version"], unquote(location))


def _look_up(archive: Archive, dandiset: str, version: str | None, path: str) -> str:
    from .dandi_api import DandiArchive  # httpx takes long to import and few sources need it

    with DandiArchive(archive.api_url) as api:
        return api.asset_by_path(dandiset, version or "draft", path).download_url
