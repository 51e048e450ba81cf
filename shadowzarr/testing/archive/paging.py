"""Pages, filters and orders of the API's listings (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from .api_errors import BadParameterError, api_error
from .contents import Asset

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000
_TRUE = {"true", "t", "1", "yes", "y", "on"}
_FALSE = {"false", "f", "0", "no", "n", "off"}


@dataclass(frozen=True)
class Page[T]:
    """One page of a listing.

    Attributes
    ----------
    items : list
        What is on it.
    count : int or None
        Number of items on all pages, where the listing tells.
    next, previous : str or None
        Absolute URLs.
    """

    items: list[T]
    count: int | None
    next: str | None
    previous: str | None

    def document(self, record: Callable[[T], Any]) -> dict[str, Any]:
        """Give the page as it is answered, each item by way of `record`."""
        return {
            "count": self.count,
            "next": self.next,
            "previous": self.previous,
            "results": [record(item) for item in self.items],
        }


def page_of[T](
    items: Sequence[T], url: str, query: Mapping[str, str], *, is_counted_once: bool = False
) -> Page[T]:
    """Cut the page that a query asks for.

    Parameters
    ----------
    items : sequence
        The whole listing.
    url : str
        Absolute URL of the listing, without a query.
    query : mapping of str to str
        ``page`` and ``page_size`` matter here; all parameters go into the URLs.
    is_counted_once : bool
        As asset listings are: a count on page 1 only, and nothing, rather than 404, past the end.

    Raises
    ------
    ApiError
        404, when the page does not exist.
    """
    size = page_size(query.get("page_size"))
    text = query.get("page", "1")
    pages = max(1, -(-len(items) // size))
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if number < 1 or (number > pages and not is_counted_once):
        raise api_error(404, "Invalid page.")
    return Page(
        items=list(items[(number - 1) * size : number * size]),
        count=None if is_counted_once and number > 1 else len(items),
        next=_page_url(url, query, number + 1) if number < pages else None,
        previous=_page_url(url, query, number - 1) if number > 1 else None,
    )


def page_size(text: str | None) -> int:
    """Read a page size: larger than 1000 is cut, nonsense is 100."""
    if text is None or not (text.isascii() and text.isdecimal()) or int(text) < 1:
        return DEFAULT_PAGE_SIZE
    return min(int(text), MAX_PAGE_SIZE)


def flag(query: Mapping[str, str], name: str, *, default: bool) -> bool:
    """Read a boolean parameter.

    Raises
    ------
    BadParameterError
        When it is neither true nor false.
    """
    text = query.get(name, "").lower()
    if text not in _TRUE | _FALSE | {""}:
        raise BadParameterError(name, "Must be a valid boolean.")
    return default if not text else text in _TRUE


def filter_assets(assets: Iterable[Asset], query: Mapping[str, str]) -> list[Asset]:
    """Apply ``path``, ``glob``, ``zarr`` and ``order`` of an asset listing.

    A ``path`` is a prefix without regard to case, but when an asset has exactly that path, only that
    asset is given. In a ``glob`` the only wildcard is ``*``, which also matches ``/``.
    """
    chosen = list(assets)
    prefix = query.get("path", "")
    if prefix:
        exact = [asset for asset in chosen if asset.path == prefix]
        chosen = exact or [asset for asset in chosen if asset.path.lower().startswith(prefix.lower())]
    if query.get("glob"):
        pattern = glob_pattern(query["glob"])
        chosen = [asset for asset in chosen if pattern.fullmatch(asset.path)]
    if flag(query, "zarr", default=False):
        chosen = [asset for asset in chosen if asset.zarr_id]
    return _in_order(chosen, query.get("order") or "created")


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Translate a glob of the API."""
    return re.compile(".*".join(map(re.escape, glob.split("*"))), re.IGNORECASE | re.DOTALL)


_ORDERS: dict[str, Callable[[Asset], Any]] = {
    "created": lambda asset: asset.created,
    "modified": lambda asset: asset.modified,
    "path": lambda asset: asset.path,
}


def _in_order(assets: list[Asset], order: str) -> list[Asset]:
    key = _ORDERS.get(order.removeprefix("-"))
    if key is None:
        raise BadParameterError(
            "order", f'Select a valid choice. "{order}" is not one of the available choices.'
        )
    assets.sort(key=lambda asset: asset.asset_id)
    assets.sort(key=key, reverse=order.startswith("-"))
    return assets


def _page_url(url: str, query: Mapping[str, str], number: int) -> str:
    parameters = {**query, "page": str(number)}
    if number == 1:
        del parameters["page"]
    return f"{url}?{urlencode(sorted(parameters.items()))}" if parameters else url
