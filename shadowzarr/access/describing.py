"""Size and ETag of many files at once, for references that were made by others and say nothing of them."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from ..errors import ShadowzarrError, SourceChangedError, UsageError
from .allowed_places import refused_local
from .locations import is_remote, secret_in, without_query
from .source_identity import Source
from .sources import check_source, describe

_AT_ONCE = 8
"""Files that are asked for at a time."""


def describe_each(urls: Iterable[str]) -> tuple[list[Source], dict[str, str]]:
    """Describe files.

    Parameters
    ----------
    urls : iterable of str
        As references name them.

    Returns
    -------
    sources : list of Source
        Those that could be described, under the names that were given.
    reasons : dict
        Why not, by the names of the others.
    """
    named = list(dict.fromkeys(urls))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(_described, named))
    sources = [each for each in found if isinstance(each, Source)]
    reasons = {url: each for url, each in zip(named, found, strict=True) if isinstance(each, str)}
    return sources, reasons


def refuse_signed(urls: Iterable[str]) -> None:
    """Refuse URLs that carry a signature.

    Raises
    ------
    UsageError
        With the first of them.
    """
    for url in urls:
        secret = secret_in(url)
        if secret is not None:
            raise UsageError(
                f"the references name {without_query(url)} by a URL with {secret}, which must not be written "
                "down; put the file's lasting URL into them first"
            )


def refuse_changed(sources: Iterable[Source]) -> None:
    """Refuse files that are not the ones that were described; one that cannot be asked is no reason to.

    Raises
    ------
    SourceChangedError
        With the first of them.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for error in pool.map(_change_of, sources):
            if error is not None:
                raise error


def _change_of(source: Source) -> SourceChangedError | None:
    try:
        check_source(source)
    except SourceChangedError as error:
        return error
    except ShadowzarrError:
        return None  # that it cannot be read now says nothing of what is in it
    return None


def refuse_local(urls: Iterable[str], document: str) -> None:
    """Refuse files of this machine in references that came over the network.

    Raises
    ------
    RefusedPlaceError
        With the first of them.
    """
    for url in urls:
        if is_remote(document) and is_local(url):
            raise refused_local(url, document)


def is_local(url: str) -> bool:
    """Whether a place is on this machine; one of a scheme that is not known is nowhere."""
    return url.lower().startswith("file:") or (not is_remote(url) and "://" not in url)


def _described(url: str) -> Source | str:
    try:
        return describe(url, url=url)
    except ShadowzarrError as error:
        return str(error)
