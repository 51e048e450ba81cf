"""What no run has told yet: failures that were recorded by a run that then did not come to its end.

A killed run tells nobody, and the next one passes over what failed in it. A mark in the working state, which
only a run takes away that came to its end and told so, says since when that may be.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TypeGuard

import orjson

from shadowzarr.catalog.atomic_files import write_whole
from shadowzarr.catalog.clock import utc_now
from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.output_store import output_error
from shadowzarr.catalog.run_summary import QUARANTINED, RunSummary, SkippedAsset

MARK = "untold"
"""Name of the file."""


class UntoldFailures:
    """The mark of an output, whose lock is held, for what a run is about.

    Parameters
    ----------
    layout : OutputLayout
        The public output.
    names : collection of str
        The dandisets, folders and manifests that the run is about; what others have untold stays so.

    Attributes
    ----------
    since : dict of str to str
        By name: failures recorded from then on may be unknown to all, UTC.

    Raises
    ------
    OutputError
        When the mark cannot be written.
    """

    def __init__(self, layout: OutputLayout, names: Collection[str]) -> None:
        self._layout, self._path = layout, layout.workings / MARK
        kept = self._left()
        now = utc_now()
        self.since = {name: kept.pop(name, now) for name in names}
        self._write(kept | self.since)

    def of(self, summary: RunSummary) -> list[SkippedAsset]:
        """Assets in quarantine whose failure nobody was told of."""
        return [
            asset
            for asset in summary.skipped
            if asset.reason == QUARANTINED and asset.failed and self._is_untold(asset)
        ]

    def clear(self) -> None:
        """Note that all is told that the run is about.

        Raises
        ------
        OutputError
            When the mark cannot be changed.
        """
        self._write({name: time for name, time in self._left().items() if name not in self.since})

    def _is_untold(self, asset: SkippedAsset) -> bool:
        since = self.since.get(asset.dandiset)
        return since is not None and datetime.fromisoformat(asset.failed) >= datetime.fromisoformat(since)

    def _left(self) -> dict[str, str]:
        """What the mark of earlier runs says; times in it that cannot be read are left out."""
        try:
            content = orjson.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return {name: time for name, time in _items(content) if _is_time(time)}

    def _write(self, content: dict[str, str]) -> None:
        if content:
            write_whole(self._path, orjson.dumps(content), scratch=self._layout.staging)
            return
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise output_error(f"cannot remove {self._path}", error) from error


def _items(content: object) -> list[tuple[str, object]]:
    return list(content.items()) if isinstance(content, dict) else []


def _is_time(value: object) -> TypeGuard[str]:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
