"""Errors of reading that say which array, chunk and file they are about."""

from __future__ import annotations

import copy

from ..access.locations import without_query
from ..errors import ReadError, ShadowzarrError


def named(error: Exception, what: str, place: str) -> ShadowzarrError:
    """The same error, saying what could not be read and where it should have been.

    Parameters
    ----------
    error : Exception
        Of our tree: the result has its class and its facts. Any other becomes a `ReadError`, so that
        zarr cannot take it for "no such chunk".
    what : str
        The array and chunk.
    place : str
        Location of the file; its query is not shown.
    """
    text, file = str(error), without_query(place)
    message = f"{what}: {text}" if file in text else f"{what}: {file}: {text}"
    if not isinstance(error, ShadowzarrError):
        return ReadError(message)
    result = copy.copy(error)
    result.args = (message,)
    return result


def cause_of(error: Exception) -> Exception | None:
    """What an error named by `named` is raised from.

    An error of our tree says everything in the new message, so that its traceback, and those of the
    libraries below, only hide it (they stay in ``__context__``). Any other error is shown.
    """
    return None if isinstance(error, ShadowzarrError) else error
