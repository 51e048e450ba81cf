"""Groups of a repository that each hold one asset: their paths, and what says which asset is there.

An asset's group has the asset's path. Its ``zarr.json`` names the asset in the member ``shadowzarr`` (see
`shadowzarr.refs.extension`), beside the attributes and not among them, which stay those of the file. What
a repository holds is told by these members alone: no list of them is kept that could be wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import icechunk
from zarr.core.sync import sync

from ..refs.chunk_key import METADATA_NAME
from ..refs.extension import NAME
from ..refs.zarr_metadata import group_metadata
from .nodes import child_names, joined, read_node, read_nodes
from .plan import Plan
from .room import set_nodes

ASSET = "asset"
"""Part of the member that names the asset."""


@dataclass(frozen=True)
class HeldAsset:
    """An asset that a repository holds.

    Attributes
    ----------
    path : str
        Its path in the dandiset.
    asset_id : str
        UUID.
    etag : str
        ETag of its bytes, without quotes.
    url : str
        Where Icechunk reads its bytes, as references name places.
    options : str
        Digest of the options that its references were made with.
    format : int
        Version of the references' format.
    """

    path: str
    asset_id: str
    etag: str
    url: str
    options: str
    format: int


_FIELDS = {field.name: {"int": int, "str": str}[str(field.type)] for field in fields(HeldAsset)}


def group_of(path: str) -> str:
    """The path of an asset's group.

    That of the asset, but for names that Zarr keeps for itself (``zarr.json``, and those that begin with
    ``__``), whose first letter is percent-encoded, and ``%``, which is ``%25``: no two assets share a group.
    """
    return "/".join(map(_safe_name, path.split("/")))


def _safe_name(name: str) -> str:
    escaped = name.replace("%", "%25")
    if name.startswith("__"):
        return f"%5F{escaped[1:]}"
    if name == METADATA_NAME:
        return f"%{ord(name[0]):02X}{escaped[1:]}"
    return escaped


def named_asset(node: Mapping[str, Any]) -> HeldAsset | None:
    """The asset that a group's metadata name; none of groups that others wrote or changed."""
    extension = node.get(NAME)
    found = extension.get(ASSET) if isinstance(extension, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    if any(not isinstance(found.get(name), kind) for name, kind in _FIELDS.items()):
        return None
    return HeldAsset(**{name: found[name] for name in _FIELDS})


def held_assets(session: icechunk.Session) -> dict[str, HeldAsset]:
    """All assets that a session holds, by their groups; groups of others are looked into and left alone."""
    nodes = sync(read_nodes(session.store, "", is_leaf=lambda node: named_asset(node) is not None))
    found = ((path, named_asset(node)) for path, node in nodes.items() if path)
    return {path: asset for path, asset in found if asset is not None}


def with_asset(plan: Plan, asset: HeldAsset) -> Plan:
    """What is to be written, with the name of the asset."""
    return replace(plan, nodes={**plan.nodes, "": _named(plan.nodes[""], asset)})


def rename_asset(session: icechunk.Session, group: str, asset: HeldAsset) -> None:
    """Say that another asset of the same bytes is in a group; its chunks and nodes stay."""
    node = sync(read_node(session.store, group))
    if node is not None:
        sync(set_nodes(session.store, {group: _named(node, asset)}))


def remove_groups(session: icechunk.Session, groups: Iterable[str], *, kept: Collection[str]) -> None:
    """Take groups away, and the groups above them that hold nothing else then.

    Parameters
    ----------
    session : icechunk.Session
        A writable one.
    groups : iterable of str
        What is taken away.
    kept : collection of str
        Groups of assets that stay or will be written; those above them stay too.
    """
    needed = {above for group in kept for above in _above(group)}
    emptied: set[str] = set()
    for group in groups:
        sync(session.store.delete_dir(group))
        emptied.update(_above(group))
    for group in sorted(emptied - needed, key=lambda path: path.count("/"), reverse=True):
        sync(_remove_bare(session.store, group))


def set_dandiset(session: icechunk.Session, attributes: Mapping[str, Any]) -> None:
    """Say in an attribute of the root which dandiset the repository is of; nothing when it does so."""
    root = sync(read_node(session.store, "")) or group_metadata()
    stored = dict(root.get("attributes") or {})
    if stored.get("dandi") != attributes:
        sync(set_nodes(session.store, {"": {**root, "attributes": {**stored, "dandi": dict(attributes)}}}))


def dandiset_of(session: icechunk.Session) -> dict[str, Any]:
    """What `set_dandiset` said; nothing of a repository that is not of a dandiset."""
    found = (sync(read_node(session.store, "")) or {}).get("attributes", {}).get("dandi")
    return dict(found) if isinstance(found, Mapping) else {}


def _named(node: Mapping[str, Any], asset: HeldAsset) -> dict[str, Any]:
    extension = node.get(NAME)
    kept = dict(extension) if isinstance(extension, Mapping) else {}
    return {**node, NAME: {"must_understand": False, **kept, ASSET: asdict(asset)}}


def _above(group: str) -> list[str]:
    parts = group.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


async def _remove_bare(store: icechunk.IcechunkStore, group: str) -> None:
    node = await read_node(store, group)
    if node is None or node["node_type"] != "group" or node.get("attributes") or NAME in node:
        return
    if not await child_names(store, group):
        await store.delete_dir(joined("", group))
