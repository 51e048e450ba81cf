"""Groups and arrays of a session: their metadata documents, found by listing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import icechunk
from zarr.core.buffer import default_buffer_prototype

from ..errors import InvalidReferencesError
from ..refs.chunk_key import METADATA_NAME, metadata_key

_AT_A_TIME = 64
"""Nodes that are read at the same time."""


async def read_nodes(
    store: icechunk.IcechunkStore,
    root: str,
    *,
    is_leaf: Callable[[dict[str, Any]], bool] = lambda document: False,
) -> dict[str, dict[str, Any]]:
    """Metadata of a node and of all below it, by path from it, parents first.

    Parameters
    ----------
    store : icechunk.IcechunkStore
        Where they are.
    root : str
        Path of the node.
    is_leaf : callable, optional
        Tells of a group's metadata whether what is below it is left out.
    """
    found: dict[str, dict[str, Any]] = {}
    level = [""]
    while level:
        groups = []
        for start in range(0, len(level), _AT_A_TIME):
            part = level[start : start + _AT_A_TIME]
            documents = await asyncio.gather(*[read_node(store, joined(root, path)) for path in part])
            for path, document in zip(part, documents, strict=True):
                if document is not None:
                    found[path] = document
                if document is None or (document["node_type"] == "group" and not is_leaf(document)):
                    groups.append(path)
        level = [path async for path in _members(store, root, groups)]
    return found


async def _members(store: icechunk.IcechunkStore, root: str, groups: list[str]) -> AsyncIterator[str]:
    for group in groups:
        for name in await child_names(store, joined(root, group)):
            yield joined(group, name)


async def child_names(store: icechunk.IcechunkStore, group: str) -> list[str]:
    """Names of the nodes in a group.

    Of a group named as metadata are, Icechunk lists names twice, and an empty one.
    """
    names = dict.fromkeys([name async for name in store.list_dir(group)])
    return [
        name
        for name in names
        if name and (name != METADATA_NAME or await read_node(store, joined(group, name)) is not None)
    ]


async def read_above(store: icechunk.IcechunkStore, root: str) -> dict[str, dict[str, Any]]:
    """Metadata of the groups above one; what they keep of sources is true below them too."""
    found = {}
    while root:
        root = root.rpartition("/")[0]
        document = await read_node(store, root)
        if document is not None:
            found[f"/{root}"] = document
    return found


async def read_node(store: icechunk.IcechunkStore, path: str) -> dict[str, Any] | None:
    """Metadata of one node; none when there is no such node.

    Raises
    ------
    InvalidReferencesError
        When they are not those of Zarr v3.
    """
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
