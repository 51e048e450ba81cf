"""``zarr.json`` as the store serves it.

Differences from the document, all undone by ``strict_json``: attributes that are not finite are bare
NaN and infinities again, because hdmf-zarr does not know the convention they are stored by (0.14;
decoding them here can go when it does); and the ``bytes`` codec has the name under which zarr reads
parts of chunks. In both modes the root carries the consolidated metadata of all nodes, so that a file
opens with one read. Pure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ..attributes import decode_non_finite, encode_attributes
from ..codecs import PARTIAL_BYTES
from ..refs.chunk_key import METADATA_NAME
from .locate import Locator


class ServedMetadata:
    """Makes and keeps the metadata documents of a store.

    Parameters
    ----------
    locator : Locator
        Where the document's own are.
    strict_json : bool
        Serve attributes and codecs as they are stored, in strict JSON.
    """

    def __init__(self, locator: Locator, *, strict_json: bool) -> None:
        self._locator = locator
        self._strict = strict_json
        self._served: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """The metadata document of a node, or None when the document has no such node."""
        if key not in self._locator.refs:
            return None
        served = self._served.get(key)
        if served is None:
            document = self._document(key)
            if key == METADATA_NAME and self._can_consolidate(document):
                document["consolidated_metadata"] = self._consolidated()
            served = self._served[key] = _dump(document, strict=self._strict)
        return served

    def _can_consolidate(self, root: Mapping[str, Any]) -> bool:
        """Names with backslashes cannot be found in consolidated metadata (zarr 3.4 asks with slashes)."""
        return root.get("node_type") == "group" and not self._locator.renamed

    def _consolidated(self) -> dict[str, Any]:
        suffix = f"/{METADATA_NAME}"
        nodes = {
            key.removesuffix(suffix): self._document(key)
            for key in self._locator.refs
            if key.endswith(suffix)
        }
        return {"kind": "inline", "must_understand": False, "metadata": nodes}

    def _document(self, key: str) -> dict[str, Any]:
        document = self._locator.metadata(key)
        document.pop("consolidated_metadata", None)  # a copy that a writer left may be stale
        attributes = document.get("attributes")
        if isinstance(attributes, Mapping):
            document["attributes"] = _strict(attributes) if self._strict else decode_non_finite(attributes)
        if not self._strict and _is_plain(document.get("codecs")):
            document["codecs"] = [{**document["codecs"][0], "name": PARTIAL_BYTES}]
        return document


def _is_plain(codecs: Any) -> bool:
    return (
        isinstance(codecs, list)
        and len(codecs) == 1
        and isinstance(codecs[0], dict)
        and codecs[0].get("name") == "bytes"
    )


def _strict(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as they are stored; those of older writers, with bare NaN, as they should be."""
    return encode_attributes(attributes) if _has_non_finite(attributes) else dict(attributes)


def _has_non_finite(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_non_finite(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_non_finite(item) for item in value)
    return isinstance(value, float) and not math.isfinite(value)


def _dump(document: Mapping[str, Any], *, strict: bool) -> bytes:
    text = json.dumps(document, allow_nan=not strict, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")
