"""Every chunk listed: a document without gen entries and indexes, which any kerchunk reader opens.

Pure but for one thing that is handed in: a last slab that ends past its file must be stored in the
document, padded, because other readers fail on it; ``read`` gets those bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import DamagedSourceError
from . import gen
from .byte_range import ChunkLocation
from .chunk_index import MISSING
from .chunk_key import chunk_key, metadata_key, parse_chunk_key
from .document import IndexArray, Reference, Rfs
from .inline import encode_inline
from .templates import expand, placeholder
from .zarr_metadata import chunk_shape_of

SizeOf = Callable[[str], int | None]
"""Size of a file by its URL, or None when it is not known."""

Read = Callable[[ChunkLocation], bytes]


def list_every_chunk(rfs: Rfs, *, size_of: SizeOf, read: Read) -> Rfs:
    """The same references with each chunk listed in ``refs``.

    Parameters
    ----------
    rfs : Rfs
        With its index arrays in memory.
    size_of : callable
        Size of a source by its URL.
    read : callable
        Bytes of a location; called for plain last chunks that end past their file only.

    Returns
    -------
    Rfs
        Version 1, or 2 when the document has selections, which version 1 cannot express.

    Raises
    ------
    DamagedSourceError
        When such a chunk lacks bytes that belong to the array.
    """
    templates = dict(rfs.get("templates", {}))
    names = _Names(templates)
    explicit = rfs["refs"]
    refs: dict[str, Reference] = dict(explicit)
    for entry in rfs.get("gen", []):
        for key, location in gen.expand(entry, templates):
            if key not in explicit:
                refs[key] = [names.of(location.url), location.offset, location.length]
    for path, index in rfs.get("indexes", {}).items():
        url = names.of(index["url"])
        for key, offset, nbytes in _index_entries(path, index["index"]):
            refs.setdefault(key, [url, offset, nbytes])
    selections = rfs.get("selections", {})
    _inline_overhanging(refs, templates, set(selections), size_of, read)
    listed: Rfs = {"version": 2 if selections else 1, "refs": refs}
    if selections:
        listed["requires"] = ["selections"]
    if templates:
        listed["templates"] = templates
    dropped = {"version", "refs", "requires", "templates", "gen", "indexes"}
    listed.update({name: part for name, part in rfs.items() if name not in dropped})  # type: ignore[typeddict-item]
    return listed


class _Names:
    """Template names of URLs, adding one for a URL that has none."""

    def __init__(self, templates: dict[str, str]) -> None:
        self._templates = templates
        self._names = {url: placeholder(name) for name, url in templates.items()}

    def of(self, url: str) -> str:
        if url not in self._names:
            number = next(n for n in range(len(self._templates) + 1) if f"u{n}" not in self._templates)
            self._templates[f"u{number}"] = url
            self._names[url] = placeholder(f"u{number}")
        return self._names[url]


def _index_entries(path: str, index: str | IndexArray) -> Iterator[tuple[str, int, int]]:
    if isinstance(index, str):
        raise TypeError(f"the index of {path!r} is not in memory")
    grid = index.shape[:-1]
    flat = index.reshape(-1, 2)
    for number in np.flatnonzero(flat[:, 0] != np.uint64(MISSING)).tolist():
        coordinates = tuple(int(c) for c in np.unravel_index(number, grid)) if grid else ()
        yield chunk_key(path, coordinates), int(flat[number, 0]), int(flat[number, 1])


def _inline_overhanging(
    refs: dict[str, Reference],
    templates: Mapping[str, str],
    selected: set[str],
    size_of: SizeOf,
    read: Read,
) -> None:
    sizes: dict[str, int | None] = {}
    for key, reference in refs.items():
        if isinstance(reference, str) or len(reference) != 3:
            continue
        url = reference[0]
        if url not in sizes:
            sizes[url] = size_of(expand(url, templates))
        size = sizes[url]
        if size is None or reference[1] + reference[2] <= size:
            continue
        parsed = parse_chunk_key(key)
        metadata = _metadata(refs, parsed[0]) if parsed else None
        if parsed is None or metadata is None or parsed[0] in selected or not _is_plain(metadata):
            continue  # not ours to pad: reading it fails, which is right
        available = max(0, size - reference[1])
        location = ChunkLocation(expand(url, templates), reference[1], available)
        _check_enough(key, metadata, parsed[1], available, reference[2])
        refs[key] = encode_inline(read(location).ljust(reference[2], b"\0"))


def _metadata(refs: Mapping[str, Reference], path: str) -> dict[str, Any] | None:
    text = refs.get(metadata_key(path))
    return json.loads(text) if isinstance(text, str) else None


def _is_plain(metadata: Mapping[str, Any]) -> bool:
    return [codec["name"] for codec in metadata["codecs"]] == ["bytes"]


def needed_bytes(
    shape: tuple[int, ...], chunk_shape: tuple[int, ...], coordinates: tuple[int, ...], length: int
) -> int:
    """Bytes of a plain chunk up to the last element that lies inside the array.

    Parameters
    ----------
    shape, chunk_shape : tuple of int
        Of the array.
    coordinates : tuple of int
        Of the chunk.
    length : int
        Bytes of a whole chunk.
    """
    extents = [
        min(edge, extent - coordinate * edge)
        for extent, edge, coordinate in zip(shape, chunk_shape, coordinates, strict=True)
    ]
    if any(extent <= 0 for extent in extents):
        return 0
    itemsize = length // math.prod(chunk_shape)
    last = 0
    for extent, edge in zip(extents, chunk_shape, strict=True):
        last = last * edge + extent - 1
    return (last + 1) * itemsize


def _check_enough(
    key: str, metadata: Mapping[str, Any], coordinates: tuple[int, ...], available: int, length: int
) -> None:
    needed = needed_bytes(tuple(metadata["shape"]), chunk_shape_of(metadata), coordinates, length)
    if available < needed:
        raise DamagedSourceError(
            f"chunk {key!r}: {needed} bytes belong to the array, but its file ends after {available}; "
            "the file is truncated"
        )
