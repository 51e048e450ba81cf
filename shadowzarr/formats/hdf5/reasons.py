"""Why an object is left out or copied, in a few words.

HDF5's own messages name every function on the way down; what a reader of ``skipped`` needs is the last
of them. Nothing here knows HDF5's types or layouts.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from types import TracebackType

from ...errors import ShadowzarrError
from ..cannot_represent import CannotRepresentError as CannotRepresentError

READ_ERRORS = (OSError, RuntimeError, TypeError, ValueError, KeyError, OverflowError, MemoryError)
"""What h5py raises for an object that it cannot read."""

_MAX_LENGTH = 240
_WRAPPED = re.compile(r"^[^()]*\((?P<inner>.*)\)\s*$", re.DOTALL)


def short_reason(error: BaseException) -> str:
    """The reason of an exception, in one line.

    >>> short_reason(OSError("Unable to synchronously open object (bad object header version number)"))
    'bad object header version number'
    """
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    match = _WRAPPED.match(text)
    text = " ".join((match["inner"] if match else text).split())
    if not text:
        return type(error).__name__
    if "plugin" in text:
        return "it went through a filter whose plug-in is not installed"
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


class _Reading:
    """What `reading` gives: a class, since a generator takes four times as long."""

    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, READ_ERRORS) and not isinstance(error, ShadowzarrError):
            reason = cannot_read(error)
            raise CannotRepresentError(f"{self._what}: {reason}" if self._what else reason) from error


def reading(what: str = "") -> AbstractContextManager[None]:
    """Turn what h5py raises into a reason, and let our own errors through.

    A connection that broke is no property of the object that was being read, so it must not end up as
    the reason why that object is left out.

    Parameters
    ----------
    what : str, optional
        The part that is read, when it is not the object itself.

    Raises
    ------
    CannotRepresentError
        When h5py fails.
    """
    return _Reading(what)


def why_unread(error: BaseException) -> str:
    """What `reading` makes of an exception of h5py's, for code that is run for every attribute.

    Raises
    ------
    ShadowzarrError
        When the exception is one of ours.
    """
    if isinstance(error, ShadowzarrError):
        raise error
    return cannot_read(error)


def cannot_read(error: BaseException) -> str:
    """The reason of an object that h5py itself cannot read."""
    return f"h5py cannot read it: {short_reason(error)}"
