"""Pieces of a layout → the builder: rules for what is evenly spaced, a list or an index for the rest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..builder import RfsBuilder
from ..refs.chunk_index import CHUNK_INDEX_THRESHOLD
from ..refs.document import SourceEntry
from .axes import Places, Steps
from .pieces import Held, Listed, Piece, Spaced, listed


def place(
    builder: RfsBuilder, path: str, pieces: Iterable[Piece], sources: Mapping[str, SourceEntry]
) -> None:
    """Add the chunks of an array.

    Parameters
    ----------
    builder : RfsBuilder
        What collects the document; it has the array.
    path : str
        The array's path.
    pieces : iterable of Piece
        Where its chunks are.
    sources : mapping
        What is known of files, by their URLs; those that are used are recorded. Of any other local file that
        is there its size is, unless the builder was told of it, so that a reader notices when it is
        replaced.
    """
    tables: list[Listed] = []
    urls: dict[str, None] = {}
    for piece in pieces:
        if isinstance(piece, Held):
            for coordinates, data in piece.chunks.items():
                builder.add_inline_chunk(path, coordinates, data)
            continue
        for part in [piece] if isinstance(piece, Listed) else _even_parts(piece):
            if isinstance(part, Listed):
                tables.append(part)
            else:
                urls[part.url] = None
                _add_spaced(builder, path, part)
    urls |= _add_tables(builder, path, tables)
    for url in urls:
        entry = sources.get(url)
        if entry is None and not builder.has_source(url):
            entry = _at_hand(url)
        if entry is not None:
            builder.add_source(url, entry["size"], entry.get("etag"), linked=entry.get("linked", False))


def _at_hand(url: str) -> SourceEntry | None:
    """What is known of a local file; nothing of one that is elsewhere, or not there yet."""
    if "://" in url or url.startswith("file:"):
        return None
    try:
        return {"size": Path(url).stat().st_size}
    except (OSError, ValueError):
        return None


def _even_parts(piece: Spaced) -> Iterator[Spaced | Listed]:
    """A piece as rules: one for each combination of what is listed, unless these are of one chunk each."""
    uneven = [number for number, axis in enumerate(piece.axes) if isinstance(axis, Places)]
    chunks = math.prod(axis.count for axis in piece.axes)
    rules = math.prod(piece.axes[number].count for number in uneven)
    if rules == chunks:
        yield listed(piece)
        return
    for numbers in itertools.product(*(range(piece.axes[number].count) for number in uneven)):
        start, first, axes = piece.start, list(piece.first), list(piece.axes)
        for axis, number in zip(uneven, numbers, strict=True):
            start += piece.axes[axis].at(number)
            first[axis] += number
            axes[axis] = Steps(1, 0)
        yield Spaced(piece.url, start, piece.nbytes, tuple(first), tuple(axes))


def _add_spaced(builder: RfsBuilder, path: str, piece: Spaced) -> None:
    strides = [axis.step if isinstance(axis, Steps) else 0 for axis in piece.axes]
    builder.add_spaced_chunks(
        path,
        url=piece.url,
        start=piece.start,
        length=piece.nbytes,
        counts=[axis.count for axis in piece.axes],
        strides=strides,
        first=piece.first,
    )


def _add_tables(builder: RfsBuilder, path: str, tables: list[Listed]) -> dict[str, None]:
    """Chunks one by one, file by file; an index names one file, so it takes the only one. Gives the files."""
    files: dict[tuple[str, bool], list[Listed]] = {}
    for table in tables:
        for number in np.unique(table.files).tolist():
            rows = np.flatnonzero(table.files == number) if len(table.urls) > 1 else slice(None)
            files.setdefault((table.urls[number], table.has_priority), []).append(_rows(table, rows))
    urls = dict.fromkeys(url for url, _ in files)
    for (url, has_priority), parts in files.items():
        coordinates = np.concatenate([part.coordinates for part in parts])
        offsets = np.concatenate([part.offsets for part in parts])
        nbytes = np.concatenate([part.nbytes for part in parts])
        ranges = nbytes >= 0
        builder.add_chunks(
            path,
            url=url,
            coordinates=coordinates[ranges],
            offsets=offsets[ranges],
            nbytes=nbytes[ranges],
            chunk_index_threshold=CHUNK_INDEX_THRESHOLD if len(urls) == 1 and not has_priority else None,
        )
        for at in coordinates[~ranges].tolist():
            builder.add_chunk(path, at, url)
    return urls


def _rows(table: Listed, rows: Any) -> Listed:
    return replace(
        table, coordinates=table.coordinates[rows], offsets=table.offsets[rows], nbytes=table.nbytes[rows]
    )
