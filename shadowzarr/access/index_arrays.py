"""Whole index arrays from disk or from behind a URL, for references that are written again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np

from ..errors import DamagedSourceError, InvalidReferencesError
from ..refs.chunk_index import check_index_metadata, positions
from ..refs.chunk_key import chunk_key, metadata_key
from ..refs.document import IndexArray, IndexEntry
from ..refs.index_codec import decode_index_chunk
from ..refs.node_checks import parse_node
from ..refs.zarr_metadata import chunk_grid_shape, chunk_shape_of
from .range_reader import default_reader
from .source_identity import Buffer


class _FileReader(Protocol):
    def read_whole(self, url: str) -> Buffer: ...


def read_index(entry: IndexEntry, *, reader: _FileReader | None = None) -> IndexArray:
    """Read the index array of an entry.

    Parameters
    ----------
    entry : IndexEntry
        Of a document that was loaded: its ``index`` is an absolute location.
    reader : optional
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
    metadata = entry.get("metadata") or _read_metadata(index, read)
    check_index_metadata(metadata, index)
    shape, edges = tuple(metadata["shape"]), chunk_shape_of(metadata)
    try:
        whole = np.empty(shape, np.uint64)  # filled entirely below, for every index chunk is written
    except (MemoryError, ValueError) as error:
        raise DamagedSourceError(f"{index} is a chunk index of shape {shape}: {error}") from error
    for coordinates in positions(chunk_grid_shape(shape, edges)):
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


def _read_metadata(index: str, read: Callable[[str], Buffer]) -> dict[str, Any]:
    """Metadata of an index of older documents, which do not hold it."""
    place = f"{index}/{metadata_key('')}"
    try:
        metadata = parse_node(bytes(read(place)), metadata_key(""))
        check_index_metadata(metadata, "the array")
    except InvalidReferencesError as error:
        raise DamagedSourceError(f"{place} is not the metadata of a chunk index: {error}") from error
    return metadata
