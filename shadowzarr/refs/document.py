"""The reference file system as a document: what is literally JSON, typed.

It holds names and shapes of the document only; how chunks are found in it is the subject of the
other modules of this package. The format is described in ``docs/format.md``. It extends version 1
of kerchunk's reference specification (``templates``, ``refs``, ``gen``) with Zarr v3 keys,
``indexes``, ``selections`` and ``sources``.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

FORMAT_VERSION = 1
"""Our version of the format; it is part of every record, so raising it redoes all work."""

KNOWN_REQUIREMENTS = frozenset({"indexes", "gen", "selections"})
"""What a document may ask of its reader in ``requires``."""

IndexArray = npt.NDArray[np.uint64]

JSON = Any
"""A value that `json` can write."""

Reference = str | list[Any]
"""An inline value (``"base64:…"`` or plain text), or ``[url]``, or ``[url, offset, size]``."""


class IndexEntry(TypedDict):
    """Where the chunks of an array with a chunk index are.

    ``index`` is the uint64 array itself (shape: chunk grid plus a last axis of 2) in a document
    that was just generated; the location of its zarr array, relative to the document, on disk; and
    that location made absolute in a document that was loaded.
    """

    url: str
    index: str | IndexArray
    metadata: NotRequired[dict[str, JSON]]
    """zarr.json of the index array, so that opening it costs no request."""


class Dimension(TypedDict):
    """One running number of a gen entry: ``range(start, stop, step)``."""

    stop: int
    start: NotRequired[int]
    step: NotRequired[int]


class GenEntry(TypedDict):
    """Many references in one rule; ``key``, ``url``, ``offset`` and ``length`` are templates."""

    key: str
    url: str
    offset: NotRequired[str]
    length: NotRequired[str]
    dimensions: dict[str, Dimension]


class SelectionEntry(TypedDict):
    """Which bytes of each record of a reference belong to the array, in order."""

    record_size: int
    keep: list[list[int]]


class SourceEntry(TypedDict):
    """What a source file was when it was indexed."""

    size: int
    etag: NotRequired[str]
    """As the server sends it, in its double quotes."""
    linked: NotRequired[bool]
    """Whether the file is not described itself, but holds values of one that is."""


class SkippedEntry(TypedDict):
    """An object of the source that the references leave out."""

    path: str
    kind: Literal["dataset", "attribute", "link", "group"]
    reason: str


class ConvertedEntry(TypedDict):
    """An object whose values are copied or whose type was changed on the way."""

    path: str
    what: str


class Rfs(TypedDict):
    """A reference file system."""

    version: Literal[1, 2]
    refs: dict[str, Reference]
    format: NotRequired[int]
    requires: NotRequired[list[str]]
    templates: NotRequired[dict[str, str]]
    gen: NotRequired[list[GenEntry]]
    indexes: NotRequired[dict[str, IndexEntry]]
    selections: NotRequired[dict[str, SelectionEntry]]
    sources: NotRequired[dict[str, SourceEntry]]
    inline_files: NotRequired[list[str]]
    """Files beside the document that hold inline chunks which would make it too large."""
    skipped: NotRequired[list[SkippedEntry]]
    converted: NotRequired[list[ConvertedEntry]]
    hdf5: NotRequired[dict[str, JSON]]
