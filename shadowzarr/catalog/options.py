"""Options that decide what the references of an asset look like, and their digest."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import orjson

DIGEST_DIGITS = 12
"""48 bits: enough to tell the option sets of one output apart, short enough for a file name."""


@dataclass(frozen=True)
class ReferenceOptions:
    """How references are made.

    Attributes
    ----------
    chunk_index_threshold : int, optional
        Arrays with more chunks get a chunk index; none lists every chunk.
    contiguous_chunk_bytes : int
        Contiguous datasets are cut into pieces of about this many bytes.
    on_unsupported : str
        What to do with values that no codec can decode: ``copy``, ``skip`` or ``error``.
    inline_limit : int
        Bytes of inline and copied values in one document.
    url : str
        ``download`` or ``blob``: which URL of the asset the references use.
    form : str
        ``directory`` (``refs.json`` and index arrays) or ``json`` (one file, every chunk listed).
    """

    chunk_index_threshold: int | None = 1000
    contiguous_chunk_bytes: int = 4 * 2**20
    on_unsupported: Literal["copy", "skip", "error"] = "copy"
    inline_limit: int = 64 * 2**20
    url: Literal["download", "blob"] = "download"
    form: Literal["directory", "json"] = "directory"

    def as_json(self) -> dict[str, Any]:
        """Return the options as a record holds them."""
        return dataclasses.asdict(self)

    @cached_property
    def digest(self) -> str:
        """Hexadecimal digest, the same for equal options in any process."""
        content = orjson.dumps(self.as_json(), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(content).hexdigest()[:DIGEST_DIGITS]
