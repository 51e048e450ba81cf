"""Groups and arrays of a session: their metadata documents, found by listing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import icechunk
from zarr.core.buffer import default_buffer_prototype

from ..errors import InvalidReferencesError
from ..refs.chunk_key import METADATA_NAME, metadata_key

_AT_A_TIME = 64
"""Nodes that are read at the same time."""


async def read_nodes(store: icechunk.IcechunkStore, root: str) -> dict[str, dict[str, Any]]:
    """Metadata of a node and of all below it, by path from it, parents first."""
    found: dict[str, dict[str, Any]] = {}
    level = [""]
    while level:
        groups = []
        for start in range(0, len(level), _AT_A_TIME):
            part = level[start : start + _AT_A_TIME]
            documents = await asyncio.gather(*[_metadata(store, joined(root, path)) for path in part])
            for path, document in zip(part, documents, strict=True):
                if document is not None:
                    found[path] = document
                if document is None or document["node_type"] == "group":
                    groups.append(path)
        level = [path async for path in _members(store, root, groups)]
    return found


async def _members(store: icechunk.IcechunkStore, root: str, groups: list[str]) -> AsyncIterator[str]:
    """Paths below groups. Of a group named as metadata are, Icechunk lists names twice, and an empty one."""
    for group in groups:
        for name in dict.fromkeys([name async for name in store.list_dir(joined(root, group))]):
            path = joined(group, name)
            is_node = name != METADATA_NAME or await _metadata(store, joined(root, path)) is not None
            if name and is_node:
                yield path


async def read_above(store: icechunk.IcechunkStore, root: str) -> dict[str, dict[str, Any]]:
    """Metadata of the groups above one; what they keep of sources is true below them too."""
    found = {}
    while root:
        root = root.rpartition("/")[0]
        document = await _metadata(store, root)
        if document is not None:
            found[f"/{root}"] = document
    return found


async def _metadata(store: icechunk.IcechunkStore, path: str) -> dict[str, Any] | None:
    data = await store.get(metadata_key(path), default_buffer_prototype())
    if data is None:
        return None
    document = json.loads(data.to_bytes())
    if not isinstance(document, dict) or document.get("node_type") not in ("group", "array"):
        raise InvalidReferencesError(
            f"{metadata_key(path)} of the Icechunk repository is no metadata of Zarr v3"
        )
    return document


def joined(folder: str, name: str) -> str:
    """The path of a node below another; each may be empty."""
    return f"{folder}/{name}" if folder and name else folder or name
