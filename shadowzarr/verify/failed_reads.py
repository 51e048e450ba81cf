"""Reads that fail while a comparison runs, which are no differences.

Whoever reads a format, and zarr, may make anything of a failed read: another error, or an object that is
missing. So the reads themselves are asked.
"""

from __future__ import annotations

from ..access.locations import without_query
from ..access.traffic import Traffic
from ..errors import ReadError, ShadowzarrError, ShortReadError

_WHOLE_FILE = 200  # status of a server that ignores Range


class FailedReads:
    """What failed of the reads that are counted from now on.

    Parameters
    ----------
    traffic : Traffic
        What counts them.
    original : str, optional
        Where the original is.
    """

    def __init__(self, traffic: Traffic, original: str = "") -> None:
        self._traffic = traffic
        self._before = len(traffic.failures)
        self.of(original)

    def of(self, original: str) -> None:
        """Say where the original is, when that is known."""
        self._original = without_query(original)

    def check(self) -> None:
        """Raise the first failure that is none of the references.

        Those may name a file that is not there, or bytes past its end, and then differ. Not so where
        the file is the original itself, or the failure may pass.

        Raises
        ------
        ShadowzarrError
            What the read ended with.
        """
        for url, error in self._traffic.failures[self._before :]:
            if self._is_of_server(url, error):
                raise error

    def _is_of_server(self, url: str, error: ShadowzarrError) -> bool:
        if error.transient or (isinstance(error, ReadError) and error.status == _WHOLE_FILE):
            return True
        return without_query(url) == self._original and not isinstance(error, ShortReadError)
