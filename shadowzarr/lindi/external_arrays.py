"""External array links: datasets of HDF5 files whose chunks LINDI does not list.

The dataset is planned as ``generate_rfs`` plans it, from the file's own chunk index, so that chunks which
skip filters are right, and so is the fill value.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from ..access.sources import Source
from ..errors import ShadowzarrError, SourceChangedError
from ..formats.hdf5.array_plan import Plan
from ..formats.hdf5.dataset_context import DatasetContext
from ..formats.hdf5.datasets import plan_dataset
from ..formats.hdf5.inline_budget import InlineBudget
from ..formats.hdf5.linked_files import LinkedFiles
from ..formats.hdf5.opened_object import OpenedDataset, open_dataset
from ..formats.hdf5.opening import OpenFile, open_source
from ..formats.hdf5.reasons import CannotRepresentError
from ..formats.hdf5.references import ReferenceResolver
from ..formats.hdf5.userblock import offset_shift
from ..refs.slabs import CONTIGUOUS_CHUNK_BYTES
from .marks import EXTERNAL

Outcome = Plan | str
"""What a dataset becomes, or the reason why it is left out."""


def link_of(attributes: Mapping[str, Any]) -> tuple[str, str] | None:
    """File and dataset of an array's external link; None for an array without one, or of another kind."""
    link = attributes.get(EXTERNAL)
    if not isinstance(link, Mapping) or link.get("link_type") != "hdf5_dataset":
        return None
    url, name = link.get("url"), link.get("name")
    return (url, name) if isinstance(url, str) and isinstance(name, str) and url else None


def follow(url: str, names: Iterable[str], *, inline_limit: int) -> tuple[dict[str, Outcome], Source | None]:
    """Plan datasets of an HDF5 file, which is opened once for all.

    Parameters
    ----------
    url : str
        The file: a path or URL.
    names : iterable of str
        Paths of the datasets.
    inline_limit : int
        Bytes of values that may be held, where chunks cannot be referenced.

    Returns
    -------
    outcomes : dict
        By name.
    source : Source or None
        The file; None when it could not be opened, which is the reason of each outcome then.

    Raises
    ------
    ReadError, SourceChangedError
        When the file could not be read for the moment, or changes meanwhile.
    """
    wanted = list(names)
    try:
        with contextlib.ExitStack() as stack:
            opened = stack.enter_context(open_source(url, None))
            files = LinkedFiles(opened, stack, allow_external=False)
            context = _context(opened, files, wanted, inline_limit)
            return {name: _planned(files, name, context) for name in wanted}, opened.source
    except ShadowzarrError as error:
        if error.transient or isinstance(error, SourceChangedError):
            raise  # that says something of the connection or the moment, and nothing of the link
        return dict.fromkeys(wanted, f"its external array link cannot be followed: {error}"), None


def _context(opened: OpenFile, files: LinkedFiles, names: list[str], inline_limit: int) -> DatasetContext:
    candidates = (found.shown for name in names if (found := _opened(files, name)) is not None)
    return DatasetContext(
        resolver=ReferenceResolver(files.first.inventory, opened.file.id),
        budget=InlineBudget(inline_limit),
        size=opened.source.size,
        shift=offset_shift(opened.file.userblock_size, candidates, opened.read_bytes),
        file=files.first,
        files=files,
        contiguous_chunk_bytes=CONTIGUOUS_CHUNK_BYTES,
        on_unsupported="copy",
    )


def _planned(files: LinkedFiles, name: str, context: DatasetContext) -> Outcome:
    dataset = _opened(files, name)
    if dataset is None:
        return f"its external array link names {name!r}, where the file has no dataset"
    try:
        return plan_dataset(dataset, name.strip("/"), context)
    except CannotRepresentError as error:
        return str(error)


def _opened(files: LinkedFiles, name: str) -> OpenedDataset | None:
    try:
        return open_dataset(files.first.opened.file.id, name.strip("/"))
    except CannotRepresentError:
        return None  # the caller says so by name
