"""Results whose assets are no longer in their version, moved aside or deleted as the policy says.

The record goes before the references, so that no record describes what is not there any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from .asset_names import DIRECTORY_SUFFIX, JSON_SUFFIX
from .layout import OutputLayout, with_suffix
from .output_store import output_error
from .publish import records_beside
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
            for path in _files_of(layout, place):
                _part_with(path, layout, is_kept_aside=result.fate == "moved aside")
            layout.store.drop_empty(layout.relative(place.parent), up_to=layout.relative(version))
        except OSError as error:
            raise output_error(
                f"the results of {result.path}, which left its version, cannot be {result.fate}", error
            ) from error


def _files_of(layout: OutputLayout, place: PurePath) -> list[PurePath]:
    beside = {layout.folder / name for name in layout.store.children(layout.relative(place.parent))}
    references = [with_suffix(place, suffix) for suffix in (DIRECTORY_SUFFIX, JSON_SUFFIX)]
    return [*records_beside(layout, place), *(path for path in references if path in beside)]


def _part_with(path: PurePath, layout: OutputLayout, *, is_kept_aside: bool) -> None:
    name = layout.relative(path)
    if is_kept_aside:  # in place of an asset that had left before, come back, and left again
        layout.store.move(name, layout.relative(layout.gone / name))
    else:
        layout.store.remove([name])
