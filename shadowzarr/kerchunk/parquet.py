"""Parquet references (fsspec's ``LazyReferenceMapper``): a directory of tables → nodes of a Zarr v2 store.

``.zmetadata`` holds the metadata of all nodes and ``record_size``; the chunks of an array, numbered in C
order, are rows of ``<array>/refs.<n>.parq``, ``record_size`` to a file, with the columns ``path``,
``offset``, ``size`` and ``raw``. A row with neither path nor raw is a chunk that was never written, and so
is each of a file that is not there.
"""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._optional import require, require_installed
from ..access.locations import is_remote, without_query
from ..access.range_reader import default_reader
from ..errors import InvalidReferencesError, SourceNotFoundError
from ..refs.document import Reference
from ..refs.node_checks import is_count
from ..refs.zarr_metadata import chunk_grid_shape
from ..store.places import inside
from ..store.read_json import parse_json
from ..zarr_v2 import NoV3FormError, V2Node, nodes_of
from ..zarr_v2.arrays import check_shapes

METADATA = ".zmetadata"
EXTRA = "parquet"
_SUFFIXES = (".parq", ".parquet")

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
            node.chunks = dict(_chunks(node.zarray, size, partial(_read, location, path)))
    return nodes


def _chunks(zarray: dict[str, Any], size: int, read: ReadPart) -> Iterator[tuple[tuple[int, ...], Reference]]:
    try:
        shape, edges = check_shapes(zarray)
    except NoV3FormError:
        return  # the array is left out by name when it is translated
    grid = chunk_grid_shape(shape, edges)
    count = math.prod(grid)
    for record in range(-(-count // size)):
        table = read(f"refs.{record}.parq")
        if table is None:
            continue
        first = record * size
        rows = min(size, count - first)
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
    return {str(name): frame[name].to_numpy() for name in frame.columns}


def _rows(table: dict[str, Any], count: int) -> Iterator[Reference | None]:
    paths, raws = table.get("path"), table.get("raw")
    length = len(next(iter(table.values()), ()))
    offsets, sizes = (table.get(name, np.zeros(length, np.int64)) for name in ("offset", "size"))
    for number in range(count):
        if number >= length:
            yield None
            continue
        raw = raws[number] if raws is not None else None
        if isinstance(raw, str | bytes):
            data = raw.encode() if isinstance(raw, str) else raw
            yield f"base64:{base64.b64encode(data).decode()}"
            continue
        path = paths[number] if paths is not None else None
        if not isinstance(path, str) or not path:
            yield None
            continue
        offset, size = int(offsets[number]), int(sizes[number])
        yield [path, offset, size] if offset or size else [path]
