"""Why data cannot be referenced, as an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ShadowzarrError, UnsupportedError


class NotVirtualizable(UnsupportedError):  # noqa: N818 - it is part of the documented interface
    """Data that NeuroConv would write are in no file as they are, or it is not known where."""


@contextmanager
def explained() -> Iterator[None]:
    """Turn what a virtual array or a reader refuses into the reason.

    Raises
    ------
    NotVirtualizable
        With what they say.
    """
    try:
        yield
    except NotVirtualizable:
        raise
    except (ShadowzarrError, AttributeError, OSError, KeyError, IndexError) as error:
        text = str(error) if isinstance(error, ShadowzarrError) else f"{type(error).__name__}: {error}"
        raise NotVirtualizable(text) from error
