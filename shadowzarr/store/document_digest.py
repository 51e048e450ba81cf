"""A digest of what a document says: the name of the store over it, the same in any process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from ..refs.document import Rfs


def document_digest(rfs: Rfs) -> str:
    """Digest of a document's content, with the arrays of indexes that are in memory."""
    digest = hashlib.blake2b(digest_size=12)
    for name in sorted(rfs):
        part = rfs[name]  # type: ignore[literal-required]
        digest.update(name.encode("utf-8", "surrogatepass"))
        try:
            digest.update(orjson.dumps(part, default=_digest_of_array, option=orjson.OPT_NON_STR_KEYS))
        except orjson.JSONEncodeError:  # names of files that are not UTF-8, numbers above 64 bits
            digest.update(json.dumps(part, default=_digest_of_array).encode())
    return digest.hexdigest()


def _digest_of_array(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        data = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=12)
        return [value.shape, str(value.dtype), data.hexdigest()]
    if isinstance(value, Mapping):
        return list(value.items())
    raise TypeError(f"{type(value).__name__} in a document")
