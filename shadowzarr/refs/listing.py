"""Every chunk listed: a document without gen entries and indexes, which any kerchunk reader opens.

Pure but for one thing that is handed in: a plain chunk that is shorter in its file than a whole chunk
must be stored in the document, padded, because other readers fail on it; ``read`` gets those bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ..errors import DamagedSourceError
from . import gen
from .array_layout import ArrayLayout
from .byte_range import ChunkLocation
from .chunk_index import MISSING
from .chunk_key import chunk_key, metadata_key, parse_chunk_key
from .document import IndexArray, Reference, Rfs
from .inline import encode_inline
from .templates import expand, placeholder

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
    refs: dict[str, Reference] = dict(rfs["refs"])
    for entry in rfs.get("gen", []):
        for key, location in gen.expand(entry, templates):
            if key not in refs:  # of several rules the first, as readers of rules take it
                place = [] if location.length is None else [location.offset, location.length]
                refs[key] = [names.of(location.url), *place]
    for path, index in rfs.get("indexes", {}).items():
        url = names.of(index["url"])
        for key, offset, nbytes in _index_entries(path, index["index"]):
            refs.setdefault(key, [url, offset, nbytes])
    selections = rfs.get("selections", {})
    _inline_short(refs, templates, set(selections), size_of, read)
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


def _inline_short(
    refs: dict[str, Reference],
    templates: Mapping[str, str],
    selected: set[str],
    size_of: SizeOf,
    read: Read,
) -> None:
    """Hold, padded, the plain chunks that end past their file or were referenced at less than full length."""
    sizes: dict[str, int | None] = {}
    layouts: dict[str, ArrayLayout | None] = {}
    for key, reference in refs.items():
        if isinstance(reference, str) or len(reference) != 3:
            continue
        parsed = parse_chunk_key(key)
        if parsed is None or parsed[0] in selected:
            continue
        path, coordinates = parsed
        if path not in layouts:
            layouts[path] = _layout(refs, path)
        layout = layouts[path]
        if layout is None or layout.chunk_nbytes is None:
            continue  # compressed: one that ends past its file cannot be read, which is right
        url, offset, length = expand(reference[0], templates), reference[1], reference[2]
        if url not in sizes:
            sizes[url] = size_of(url)
        size = sizes[url]
        available = length if size is None else min(length, max(0, size - offset))
        if available < layout.chunk_nbytes:
            _check_enough(key, layout.needed_nbytes(coordinates), available)
            data = read(ChunkLocation(url, offset, available))
            refs[key] = encode_inline(data.ljust(layout.chunk_nbytes, b"\0"))


def _layout(refs: Mapping[str, Reference], path: str) -> ArrayLayout | None:
    text = refs.get(metadata_key(path))
    return ArrayLayout.from_metadata(json.loads(text), path) if isinstance(text, str) else None


def _check_enough(key: str, needed: int, available: int) -> None:
    if available < needed:
        raise DamagedSourceError(
            f"chunk {key!r}: {needed} bytes belong to the array, but its file ends after {available}; "
            "the file is truncated"
        )
