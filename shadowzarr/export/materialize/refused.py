"""Nodes that cannot be in the new store: all are found before one error names them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ...errors import UnsupportedError, UnsupportedNodesError, UsageError
from ...formatting import format_count

MOST_NAMED = 10
"""Nodes that a message names; the error has all of them."""


class Refused:
    """Collects what is refused."""

    def __init__(self) -> None:
        self._errors: dict[str, UsageError] = {}

    def note(self, path: str, reason: str | None) -> None:
        """Note why a node is refused; nothing when there is no reason."""
        if reason is not None:
            self._errors[path] = UnsupportedError(reason)

    @contextlib.contextmanager
    def noting(self, path: str) -> Iterator[None]:
        """Note what is raised for a node, and go on with the next."""
        try:
            yield
        except UsageError as error:
            self._errors[path] = error

    def raise_if_any(self) -> None:
        """Raise what was noted.

        Raises
        ------
        UsageError
            The error of the one node that is refused.
        UnsupportedNodesError
            When there are several.
        """
        if not self._errors:
            return
        if len(self._errors) == 1:
            raise next(iter(self._errors.values()))
        reasons = {path: str(error) for path, error in self._errors.items()}
        shown = "; ".join(list(reasons.values())[:MOST_NAMED])
        more = f"; and {len(reasons) - MOST_NAMED:,} more" if len(reasons) > MOST_NAMED else ""
        count = format_count(len(reasons), "node")
        raise UnsupportedNodesError(
            f"{count} cannot be in the new store, and nothing is written: {shown}{more}", reasons
        )
