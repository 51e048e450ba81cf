"""write_kerchunk: references as one version 1 document that names every file in full.

``write_rfs`` writes the same to a path ending in ``.json`` with templates, which fsspec knows and
VirtualiZarr (2.8) does not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

from ..access.locations import written_path
from ..errors import UsageError
from ..refs.document import Rfs
from ..refs.templates import expand
from ..store.load_rfs import load_rfs
from ..write import write_listed


def write_kerchunk(rfs: str | os.PathLike[str] | Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write references for readers of kerchunk's form.

    Parameters
    ----------
    rfs : Rfs, str or path
        References: generated, loaded, or where they are.
    path : str or path
        A path that ends in ``.json``; references that are there are replaced.

    Raises
    ------
    UsageError
        When the path does not end so, or references have selections, which this form cannot say.
    OutputError
        When the place cannot be written, or holds something else than references.
    """
    target = written_path(path)
    if target.suffix != ".json":
        raise UsageError(f"{target}: references for kerchunk are one file that ends in .json")
    loaded = load_rfs(rfs)
    if loaded.get("selections"):
        raise UsageError(
            f"{', '.join(list(loaded['selections'])[:3])}: stored together with other bytes (selections), "
            "which kerchunk's form cannot say"
        )
    write_listed(loaded, target, _written_out)


def _written_out(listed: Rfs) -> Rfs:
    """The document without templates."""
    document: dict[str, Any] = dict(listed)
    templates = document.pop("templates", {})
    places: dict[str, str] = {}
    refs = dict(listed["refs"])
    for key, value in refs.items():
        if not isinstance(value, str):
            text, *rest = value
            place = places[text] if text in places else places.setdefault(text, expand(text, templates))
            refs[key] = [place, *rest]
    return cast("Rfs", {**document, "refs": refs})
