"""Whole index arrays from disk or from behind a URL, for references that are written again."""

from __future__ import annotations

import itertools
import json
from typing import cast

import numpy as np

from ..errors import DamagedSourceError
from ..refs.chunk_index import empty_index
from ..refs.chunk_key import chunk_key, metadata_key
from ..refs.document import IndexArray, IndexEntry
from ..refs.index_codec import decode_index_chunk
from ..refs.zarr_metadata import chunk_grid_shape, chunk_shape_of
from .range_reader import DefaultReader, default_reader


def read_index(entry: IndexEntry, *, reader: DefaultReader | None = None) -> IndexArray:
    """Read the index array of an entry.

    Parameters
    ----------
    entry : IndexEntry
        Of a document that was loaded: its ``index`` is an absolute location.
    reader : DefaultReader, optional
        What reads the files; the process's own by default.

    Returns
    -------
    numpy.ndarray
        uint64, chunk grid plus a last axis of 2.

    Raises
    ------
    ReadError
        When an index chunk cannot be read.
    DamagedSourceError
        When it is no index chunk.
    """
    index = entry["index"]
    if not isinstance(index, str):
        return index
    read = (reader or default_reader()).read_whole
    metadata = entry.get("metadata") or json.loads(bytes(read(f"{index}/{metadata_key('')}")))
    shape, edges = tuple(metadata["shape"]), chunk_shape_of(metadata)
    whole = empty_index(shape[:-1])
    for coordinates in itertools.product(*map(range, chunk_grid_shape(shape, edges))):
        place = f"{index}/{chunk_key('', coordinates)}"
        data = read(place)
        region = tuple(
            slice(c * edge, min((c + 1) * edge, extent))
            for c, edge, extent in zip(coordinates, edges, shape, strict=True)
        )
        try:
            part = decode_index_chunk(bytes(data), edges)
        except ValueError as error:
            raise DamagedSourceError(f"{place} is not an index chunk: {error}") from error
        whole[region] = part[tuple(slice(r.stop - r.start) for r in region)]
    return cast("IndexArray", np.ascontiguousarray(whole))
