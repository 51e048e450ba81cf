"""An array that was translated → the builder: its chunks listed, or as a chunk index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..builder import RfsBuilder
from ..refs.document import Reference
from ..refs.inline import decode_inline
from .arrays import V3Array

Coordinates = tuple[int, ...]


def add_translated(
    builder: RfsBuilder,
    path: str,
    array: V3Array,
    chunks: Mapping[Coordinates, Reference],
    *,
    attributes: Mapping[str, Any],
    dimension_names: Sequence[str | None] | None = None,
    chunk_index_threshold: int | None,
) -> None:
    """Add an array with its chunks.

    Parameters
    ----------
    builder : RfsBuilder
        What collects the document.
    path : str
        The array's path.
    array : V3Array
        What it is.
    chunks : mapping
        References by coordinates, all within the grid.
    attributes : mapping
        As the document shall have them.
    dimension_names : sequence of str or None, optional
        One per axis.
    chunk_index_threshold : int or None
        Chunks in one file above which there is a chunk index; None for never.

    Raises
    ------
    UsageError
        When something of it cannot be; nothing is added then.
    """
    inline = {at: decode_inline(value) for at, value in chunks.items() if isinstance(value, str)}
    builder.add_array(
        path,
        shape=array.shape,
        data_type=array.data_type,
        chunk_shape=array.chunk_shape,
        codecs=array.codecs,
        fill_value=array.fill_value,
        attributes=attributes,
        dimension_names=dimension_names,
    )
    for coordinates, data in inline.items():
        builder.add_inline_chunk(path, coordinates, data)
    _add_located(builder, path, chunks, chunk_index_threshold)


def _add_located(
    builder: RfsBuilder,
    path: str,
    chunks: Mapping[Coordinates, Reference],
    chunk_index_threshold: int | None,
) -> None:
    """Add the chunks that are in files; an index names one file, that of most chunks."""
    by_file: dict[str, list[tuple[Coordinates, int, int]]] = {}
    for coordinates, reference in chunks.items():
        if isinstance(reference, str):
            continue
        if len(reference) == 1:
            builder.add_chunk(path, coordinates, reference[0])
        else:
            by_file.setdefault(reference[0], []).append((coordinates, reference[1], reference[2]))
    for number, (url, rows) in enumerate(sorted(by_file.items(), key=lambda entry: -len(entry[1]))):
        rank = len(rows[0][0])
        builder.add_chunks(
            path,
            url=url,
            coordinates=np.array([row[0] for row in rows], np.int64).reshape(len(rows), rank),
            offsets=np.array([row[1] for row in rows], np.uint64),
            nbytes=np.array([row[2] for row in rows], np.uint64),
            chunk_index_threshold=chunk_index_threshold if rank and not number else None,
        )
