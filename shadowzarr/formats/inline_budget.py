"""How many bytes of values a document may hold.

What counts is the size in the document (compressed as the builder compresses it); the size before that
is limited too, as it has to fit in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from numcodecs import Zstd

from ..builder import COMPRESS_INLINE_FROM
from .cannot_represent import CannotRepresentError

_EXPANSION = 16
"""Uncompressed bytes per byte of the limit: text fields of tables compress at least so well."""


@dataclass(slots=True)
class InlineBudget:
    """The limit on inline bytes, and what of it is used.

    Attributes
    ----------
    limit : int
        ``inline_limit``, in bytes of all inline chunks together.
    used : int
        What is taken already, compressed.
    raw : int
        The same before compression.
    """

    limit: int
    used: int = 0
    raw: int = 0

    def check(self, nbytes: int) -> None:
        """Refuse, before anything is read, what would not fit in memory.

        Parameters
        ----------
        nbytes : int
            The least that the values need uncompressed.

        Raises
        ------
        CannotRepresentError
            When they are too many.
        """
        if self.raw + nbytes > _EXPANSION * self.limit:
            raise self._refusal(nbytes)

    def charge(self, chunks: list[bytes]) -> None:
        """Take what these chunks need.

        Raises
        ------
        CannotRepresentError
            When that is more than is left; nothing is taken then.
        """
        raw = sum(map(len, chunks))
        self.check(raw)
        large = any(len(chunk) >= COMPRESS_INLINE_FROM for chunk in chunks)
        size = _compressed(chunks) if large else raw
        if self.used + size > self.limit:
            raise self._refusal(size)
        self.used += size
        self.raw += raw

    def _refusal(self, nbytes: int) -> CannotRepresentError:
        return CannotRepresentError(
            f"its values (at least {nbytes:,} bytes) have to be held in the document, and inline_limit "
            f"({self.limit:,} bytes in all, {self.used:,} used) does not allow it"
        )


def _compressed(chunks: list[bytes]) -> int:
    """Bytes of all chunks compressed; the same one may be there many times."""
    sizes = {number: len(Zstd(level=3).encode(chunk)) for number, chunk in {id(c): c for c in chunks}.items()}
    return sum(sizes[id(chunk)] for chunk in chunks)
