"""Who asks, and what they may see."""

from __future__ import annotations

from collections.abc import Iterable

from ..http_messages import Request
from .api_errors import NO_CREDENTIALS, NO_PERMISSION, api_error
from .archive import Archive
from .contents import Dandiset, User

_KEYWORD = "token"


def caller(request: Request, archive: Archive) -> User | None:
    """Give the user whose key a request carries; None for an anonymous one.

    Raises
    ------
    ApiError
        401, when the key is not one of this archive: on every endpoint.
    """
    words = request.headers.get("authorization", "").split()
    if not words or words[0].lower() != _KEYWORD:
        return None
    if len(words) != 2:
        raise api_error(401, "Invalid token header. No credentials provided.")
    user = archive.users.get(words[1])
    if user is None:
        raise api_error(401, "Invalid token.")
    return user


def is_owner(user: User | None, dandisets: Iterable[Dandiset]) -> bool:
    """Whether somebody owns one of the dandisets."""
    return user is not None and any(user.name in dandiset.owners for dandiset in dandisets)


def check_dandiset(user: User | None, dandiset: Dandiset) -> None:
    """Let only owners see an embargoed dandiset.

    Raises
    ------
    ApiError
        401 without a key, 403 with that of somebody else.
    """
    if dandiset.embargo != "OPEN" and not is_owner(user, [dandiset]):
        raise _denied(user)


def check_content(user: User | None, archive: Archive, content_id: str) -> None:
    """Let only owners and administrators see embargoed blobs and Zarr stores.

    Raises
    ------
    ApiError
        401 without a key, 403 with that of somebody else.
    """
    if not may_see_content(user, archive, content_id):
        raise _denied(user)


def may_see_content(user: User | None, archive: Archive, content_id: str) -> bool:
    """Whether somebody may see a blob or Zarr store."""
    if not archive.is_embargoed(content_id):
        return True
    return user is not None and (user.is_admin or is_owner(user, archive.homes(content_id)))


def _denied(user: User | None) -> Exception:
    return api_error(401, NO_CREDENTIALS) if user is None else api_error(403, NO_PERMISSION)
