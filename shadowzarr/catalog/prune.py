"""Results whose assets are no longer in their version, moved aside or deleted as the policy says.

The record goes before the references, so that no record describes what is not there any more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from ..errors import OutputError
from .asset_names import DIRECTORY_SUFFIX, JSON_SUFFIX
from .layout import OutputLayout, with_suffix
from .publish import records_beside, remove
from .run_summary import KeptResult


def prune_gone(results: Iterable[KeptResult], *, public: OutputLayout, private: OutputLayout | None) -> None:
    """Do what is decided about each result (`KeptResult.fate`); the outputs must be held.

    Raises
    ------
    OutputError
        When something cannot be moved or deleted; what was done before stays done.
    """
    for result in results:
        layout = private if result.private else public
        if layout is None or result.fate == "kept":
            continue
        version = layout.version_folder(result.dandiset, result.version)
        place = version / result.path
        try:
            for path in _files_of(place):
                _part_with(path, layout, is_kept_aside=result.fate == "moved aside")
            _drop_empty(place.parent, version)
        except OSError as error:
            raise OutputError(
                f"the results of {result.path}, which left its version, cannot be "
                f"{result.fate}: {error.strerror or error}"
            ) from error


def _files_of(place: Path) -> list[Path]:
    references = [with_suffix(place, suffix) for suffix in (DIRECTORY_SUFFIX, JSON_SUFFIX)]
    return [*records_beside(place), *(path for path in references if path.exists())]


def _part_with(path: Path, layout: OutputLayout, *, is_kept_aside: bool) -> None:
    if not is_kept_aside:
        remove(path)
        return
    target = layout.gone / layout.relative(path)
    remove(target)  # of an asset that had left before, come back, and left again
    target.parent.mkdir(parents=True, exist_ok=True)
    path.rename(target)


def _drop_empty(folder: Path, version: Path) -> None:
    """Remove folders that nothing is left in, up to that of the version."""
    while folder != version and folder.is_relative_to(version):
        with contextlib.suppress(FileNotFoundError):
            if any(folder.iterdir()):
                return
            folder.rmdir()
        folder = folder.parent
