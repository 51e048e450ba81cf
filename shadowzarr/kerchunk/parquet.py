"""Parquet references (fsspec's ``LazyReferenceMapper``): a directory of tables → nodes of a Zarr v2 store.

``.zmetadata`` holds the metadata of all nodes and ``record_size``; the chunks of an array, numbered in C
order, are rows of ``<array>/refs.<n>.parq``, ``record_size`` to a file, with the columns ``path``,
``offset``, ``size`` and ``raw``. A row with neither path nor raw is a chunk that was never written, and so
is each of a file that is not there.
"""

from __future__ import annotations

import base64
import io
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._optional import require, require_installed
from ..access.locations import is_remote, without_query
from ..access.range_reader import default_reader
from ..errors import InvalidReferencesError, SourceNotFoundError
from ..refs.document import Reference
from ..refs.node_checks import LARGEST, is_count
from ..refs.zarr_metadata import chunk_grid_shape
from ..store.places import inside
from ..store.read_json import parse_json
from ..zarr_v2 import NoV3FormError, V2Node, nodes_of
from ..zarr_v2.arrays import check_shapes

METADATA = ".zmetadata"
EXTRA = "parquet"
_SUFFIXES = (".parq", ".parquet")
_NUMBERS = ("offset", "size")
_COLUMNS = frozenset({"path", "raw", *_NUMBERS})
_PART = re.compile(r"refs\.(0|[1-9][0-9]{0,18})\.parq", re.ASCII)

MOST_TABLES = 100_000
"""Tables of one array that are asked for one by one, where a folder cannot be listed."""

ReadPart = Callable[[str], "dict[str, Any] | None"]


def is_parquet(location: str) -> bool:
    """Whether a location is a directory of Parquet references; of a URL its name tells."""
    if is_remote(location):
        return without_query(location).rstrip("/").endswith(_SUFFIXES)
    return (Path(location) / METADATA).is_file()


def parquet_nodes(location: str) -> dict[str, V2Node]:
    """Groups and arrays of Parquet references, with all their chunks.

    Raises
    ------
    InvalidReferencesError
        When a table or the metadata are not what they should be.
    MissingDependencyError
        When pandas with fastparquet or pyarrow is not installed.
    """
    require_installed("pandas", extra=EXTRA)
    name = without_query(location)
    document = parse_json(
        bytes(default_reader().read_whole(inside(location, METADATA))), f"{name}/{METADATA}"
    )
    size = document.get("record_size") if isinstance(document, dict) else None
    if not is_count(size) or not size or not isinstance(document.get("metadata"), dict):
        raise InvalidReferencesError(
            f"{name}/{METADATA} has record_size {str(size)[:20]}; expected a number, and metadata"
        )
    refs = {METADATA: json.dumps({"metadata": document["metadata"]})}
    nodes = nodes_of(refs, name)
    for path, node in nodes.items():
        if node.zarray is not None:
            node.chunks = dict(_chunks_of(node.zarray, size, location, path))
    return nodes


def _chunks_of(
    zarray: dict[str, Any], size: int, location: str, path: str
) -> Iterator[tuple[tuple[int, ...], Reference]]:
    try:
        shape, edges = check_shapes(zarray)
    except NoV3FormError:
        return  # the array is left out by name when it is translated
    grid = chunk_grid_shape(shape, edges)
    if math.prod(grid) > LARGEST:
        raise InvalidReferencesError(
            f"{without_query(location)}: array {'/' + path!r} has a chunk grid of {grid}, which cannot be "
            "numbered"
        )
    yield from _chunks(grid, size, _records(location, path, grid, size), partial(_read, location, path))


def _records(location: str, path: str, grid: tuple[int, ...], size: int) -> Iterable[int]:
    """Numbers of the tables of an array that may be there."""
    count = -(-math.prod(grid) // size)
    if not is_remote(location):
        folder = Path(inside(location, path)) if path else Path(location)
        names = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 - names alone
        found = sorted(int(match[1]) for match in map(_PART.fullmatch, names) if match)
        return [number for number in found if number < count]
    if count > MOST_TABLES:
        raise InvalidReferencesError(
            f"{without_query(location)}: array {'/' + path!r} may have {count:,} tables, each of which would "
            f"be asked for; expected at most {MOST_TABLES:,}. Copy the references to this machine first"
        )
    return range(count)


def _chunks(
    grid: tuple[int, ...], size: int, records: Iterable[int], read: ReadPart
) -> Iterator[tuple[tuple[int, ...], Reference]]:
    count = math.prod(grid)
    for record in records:
        table = read(f"refs.{record}.parq")
        if table is None:
            continue
        first = record * size
        rows = min(size, count - first)
        _check_table(table, rows, f"refs.{record}.parq of an array with the chunk grid {grid}")
        numbers = np.arange(first, first + rows)
        coordinates = np.array(np.unravel_index(numbers, grid)).T.tolist() if grid else [()]
        for at, row in zip(coordinates, _rows(table, rows), strict=True):
            if row is not None:
                yield tuple(at), row


def _read(location: str, path: str, part: str) -> dict[str, Any] | None:
    """Columns of a table; None for one that is not there."""
    pandas = require("pandas", extra=EXTRA)
    place = inside(location, f"{path}/{part}" if path else part)
    try:
        data = bytes(default_reader().read_whole(place))
    except SourceNotFoundError:
        return None
    try:
        frame = pandas.read_parquet(io.BytesIO(data))
    except ImportError:
        require("fastparquet", extra=EXTRA)
        raise
    except Exception as error:  # the two libraries raise whatever they like on damaged tables
        raise InvalidReferencesError(f"{without_query(place)} is no Parquet table: {error}") from error
    table = {str(name): frame[name].to_numpy() for name in frame.columns}
    try:
        return {name: _column(name, column) for name, column in table.items() if name in _COLUMNS}
    except ValueError as error:
        raise InvalidReferencesError(f"{without_query(place)}: {error}") from error


def _column(name: str, column: Any) -> Any:
    """A column that holds what it should; what is missing is None, and 0 among numbers."""
    if name in _NUMBERS:
        if column.dtype.kind not in "iu" or (
            len(column) and not 0 <= column.min() <= column.max() <= LARGEST
        ):
            raise ValueError(f"the column {name} holds something else than whole numbers from 0 to 2**63 - 1")
        return column
    values = [None if _is_missing(value) else value for value in column.tolist()]
    if not all(value is None or isinstance(value, str | bytes) for value in values):
        raise ValueError(f"the column {name} holds something else than text or bytes")
    return values


def _is_missing(value: Any) -> bool:
    return value is None or value != value or str(value) == "<NA>"


def _check_table(table: dict[str, Any], rows: int, name: str) -> None:
    """Refuse a table that does not say of each chunk whether it is there."""
    length = len(next(iter(table.values()), ()))
    is_located = "path" in table
    has_ranges = {name in table for name in _NUMBERS}
    if len(has_ranges) > 1 or (not is_located and (True in has_ranges or "raw" not in table)):
        columns = ", ".join(table) or "none of these"
        raise InvalidReferencesError(f"{name} has the columns {columns}; expected path, offset, size and raw")
    if length < rows:
        raise InvalidReferencesError(f"{name} has {length:,} rows; expected one for each of {rows:,} chunks")


def _rows(table: dict[str, Any], count: int) -> Iterator[Reference | None]:
    paths, raws = (table.get(name, itertools.repeat(None)) for name in ("path", "raw"))
    offsets, sizes = (
        table[name].tolist() if name in table else itertools.repeat(0, count) for name in _NUMBERS
    )
    for path, raw, offset, size in itertools.islice(zip(paths, raws, offsets, sizes, strict=False), count):
        if raw is not None:
            data = raw.encode() if isinstance(raw, str) else raw
            yield f"base64:{base64.b64encode(data).decode()}"
        elif not path:
            yield None
        else:
            text = path.decode("utf-8", "surrogateescape") if isinstance(path, bytes) else path
            yield [text, offset, size] if offset or size else [text]
