"""Why a part of a TIFF file is left out, in a few words; and what tifffile says on the way."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator

from ...errors import ShadowzarrError
from ..cannot_represent import CannotRepresentError

_MAX_LENGTH = 240
_MOST_MESSAGES = 100


def short_reason(error: BaseException) -> str:
    """The reason of an exception, in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, KeyError | IndexError):
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


class NotInPlaceError(CannotRepresentError):
    """Values that tifffile reads, and reads rightly, but that no reference can give; they may be copied."""


@contextlib.contextmanager
def reading(what: str = "") -> Iterator[None]:
    """Turn what tifffile raises into a reason, and let our own errors through.

    Parameters
    ----------
    what : str, optional
        The part that is read, when it is not the object itself.

    Raises
    ------
    CannotRepresentError
        When tifffile fails.
    """
    try:
        yield
    except (ShadowzarrError, CannotRepresentError):
        raise
    except Exception as error:  # tifffile and its decoders raise whatever a damaged file makes them meet
        prefix = f"{what}: " if what else ""
        raise CannotRepresentError(f"{prefix}tifffile cannot read it: {short_reason(error)}") from error


@contextlib.contextmanager
def hearing_tifffile() -> Iterator[list[str]]:
    """Keep what tifffile logs in this thread from being shown, and collect it.

    tifffile logs an error for every tag it does not understand; a file deserves one message.
    """
    logger, thread = logging.getLogger("tifffile"), threading.get_ident()
    heard: list[str] = []

    def keep(record: logging.LogRecord) -> bool:
        if record.thread != thread:
            return True
        if len(heard) < _MOST_MESSAGES:
            heard.append(" ".join(record.getMessage().split())[:_MAX_LENGTH])
        return False

    logger.addFilter(keep)
    try:
        yield heard
    finally:
        logger.removeFilter(keep)
