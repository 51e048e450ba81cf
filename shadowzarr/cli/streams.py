"""Standard output that may be full, closed or able to show ASCII alone."""

from __future__ import annotations

import codecs
import errno
import io
import os
from typing import Final, TextIO, TypeGuard

from ..errors import ShadowzarrError

_NO_MORE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE)
_ESCAPED: Final = "shadowzarr-json-escape"


def write_anything(stream: TextIO) -> None:
    """Let a stream write characters that its encoding lacks as JSON escapes them, so that JSON stays JSON."""
    if isinstance(stream, io.TextIOWrapper):
        codecs.register_error(_ESCAPED, _escape)
        stream.reconfigure(errors=_ESCAPED)


def is_lost(error: Exception) -> TypeGuard[OSError]:
    """Whether an error is that of printing; files that are written have errors that say so."""
    if not isinstance(error, OSError) or isinstance(error, ShadowzarrError):
        return False
    return error.filename is None and error.errno in _NO_MORE


def give_up(stream: TextIO) -> None:
    """Lose what is printed from now on; Python tries again when it ends, and complains in its own way."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    units = [missing[at : at + 2].hex() for at in range(0, len(missing), 2)]
    return "".join(f"\\u{unit}" for unit in units), error.end
