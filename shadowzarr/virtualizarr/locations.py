"""Files as manifests spell them ↔ locations of the document.

VirtualiZarr (2.8) puts the URL into a manifest that a parser was given, and reads what follows ``file://`` as
it stands; other manifests, made from plain paths or out of Icechunk, have it percent-encoded. Whether
``file:///a%20b`` is ``/a b`` or ``/a%20b`` only the folder tells. It cuts every URL at ``#`` and ``?``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from urllib.parse import unquote

from ..access.locations import canonical, is_remote, secret_in, without_query
from ..errors import UnsupportedError, UsageError

UrlFor = Callable[[str], str]
"""Another location of the same file; the same one for a file that stays where it is."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_CUT = re.compile(r"[#?]")


def location_of(path: str, url_for: UrlFor | None) -> str:
    """The location of a file, by its path in a manifest.

    Parameters
    ----------
    path : str
        An absolute path or a URL.
    url_for : callable or None
        Maps the path first; what it gives is a location of a document.

    Raises
    ------
    UsageError
        When the path is relative, in a place that references cannot name, signed, or spells two files.
    """
    is_url_of_path = url_for is None and path.startswith("file:")
    location = _local(path) if is_url_of_path else path if url_for is None else url_for(path)
    if "://" not in location and not os.path.isabs(location):  # noqa: PTH117 - names may be no Unicode text
        raise UsageError(
            f"a manifest names {location!r}, which is no absolute path and no URL; give a url_for that maps "
            "it to one"
        )
    if _SCHEME.match(location) and not is_remote(location) and not location.startswith("file:"):
        raise UsageError(
            f"a manifest names {without_query(location)}, which references cannot name; give a url_for that "
            "maps it to a local path, an http(s) or an s3:// URL"
        )
    secret = secret_in(location)
    if secret is not None:
        raise UsageError(
            f"a manifest names {without_query(location)} by a URL with {secret}, which must not be written "
            "down; give a url_for that maps it to the file's lasting URL"
        )
    return canonical(location)


def manifest_path(location: str, url_for: UrlFor | None) -> str:
    """The URL under which VirtualiZarr finds a file.

    Raises
    ------
    UnsupportedError
        When it can spell none.
    """
    url = location if url_for is None else url_for(location)
    if "://" not in url:
        url = f"file://{canonical(url)}"
    cut = _CUT.search(url)
    if cut:
        raise UnsupportedError(
            f"VirtualiZarr cuts {without_query(url)} at its {cut[0]!r} and would read another file; give a "
            "url_for that maps it to a location without one"
        )
    try:
        url.encode("utf-8")
    except UnicodeEncodeError:
        raise UnsupportedError(
            f"{url!r} is no Unicode text, which VirtualiZarr's manifests cannot hold; give a url_for that "
            "maps it to another location"
        ) from None
    return url


def _local(url: str) -> str:
    """The path of a ``file:`` URL, percent-encoded or not."""
    literal = url.removeprefix("file:").removeprefix("//").removeprefix("localhost")
    decoded = unquote(literal, errors="surrogateescape")
    if literal == decoded:
        return literal
    there = [path for path in (literal, decoded) if os.path.lexists(path)]
    if len(there) == 2:
        raise UsageError(
            f"a manifest names {url}, which may be {literal} and {decoded}; both are there, so give a "
            "url_for that says which"
        )
    return there[0] if there else decoded
