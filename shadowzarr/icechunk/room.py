"""The place in a session that references are written to: made free, and the nodes put there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import icechunk
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync

from ..errors import UsageError
from ..refs.chunk_key import METADATA_NAME, metadata_key
from ..refs.zarr_metadata import group_metadata


def group_path(group: str) -> str:
    """The path of a group that a user names.

    Raises
    ------
    UsageError
        When it is none.
    """
    path = group.strip("/")
    if not path or any(part in ("", ".", "..") for part in path.split("/")):
        raise UsageError(f"{group!r} is no path of a group; expected names with / between them")
    return path


def make_room(store: icechunk.IcechunkStore, target: str, *, replace: bool) -> None:
    """Make sure that nothing is at the place to write to, and that the groups above it are there.

    Raises
    ------
    UsageError
        When something is there and is not to be replaced, or an array is above it.
    """
    above = target
    while above:
        above = above.rpartition("/")[0]
        found = sync(store.get(metadata_key(above), default_buffer_prototype()))
        if found is not None and json.loads(found.to_bytes())["node_type"] != "group":
            raise UsageError(
                f"{'/' + above!r} is an array in the repository; {'/' + target!r} cannot be below it"
            )
    names = sync(_names(store, target))
    if names and not _is_bare(store, target, names):
        if not replace:
            raise UsageError(
                f"{'/' + target!r} is in the repository already, with {_some(names)}; name another group, or "
                "replace it (replace=True, --replace)"
            )
        sync(_clear(store, target, names))
    parts = target.split("/")[:-1] if target else []
    parents = ["/".join(parts[:count]) for count in range(len(parts) + 1)] if target else []
    for parent in parents:
        if not sync(store.exists(metadata_key(parent))):
            sync(set_nodes(store, {parent: group_metadata()}))


def _is_bare(store: icechunk.IcechunkStore, path: str, names: set[str]) -> bool:
    """Whether a place holds nothing but a group without attributes."""
    found = sync(store.get(metadata_key(path), default_buffer_prototype()))
    if names != {METADATA_NAME} or found is None:
        return False
    node = json.loads(found.to_bytes())
    return bool(node["node_type"] == "group" and not node.get("attributes"))


async def _clear(store: icechunk.IcechunkStore, target: str, names: set[str]) -> None:
    if target:
        await store.delete_dir(target)
        return
    for name in names - {METADATA_NAME}:
        await store.delete_dir(name)
    await store.delete(METADATA_NAME)


async def _names(store: icechunk.IcechunkStore, folder: str) -> set[str]:
    return {name async for name in store.list_dir(folder)}


def _some(names: set[str]) -> str:
    shown = sorted(names - {METADATA_NAME})[:3]
    return ", ".join(map(repr, shown)) or "a node of its own"


async def set_nodes(store: icechunk.IcechunkStore, documents: Mapping[str, Mapping[str, Any]]) -> None:
    """Write metadata documents, by the paths of their nodes."""

    async def write(path: str, document: Mapping[str, Any]) -> None:
        await store.set(metadata_key(path), default_buffer_prototype().buffer.from_bytes(_dump(document)))

    await asyncio.gather(*[write(*item) for item in documents.items()])


def _dump(document: Mapping[str, Any]) -> bytes:
    def dump(ensure_ascii: bool) -> bytes:
        return json.dumps(document, allow_nan=False, ensure_ascii=ensure_ascii, separators=(",", ":")).encode(
            "utf-8"
        )

    try:
        return dump(False)
    except UnicodeEncodeError:  # what is no Unicode text remains when it is escaped
        return dump(True)
