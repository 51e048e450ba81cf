"""Links of one group that its Zarr side does not tell: kinds, targets, order, character set of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ....hdf5_types.names import name_to_text, path_to_text
from ....hdf5_types.type_names import CHARACTER_SETS
from ..inventory import Link
from ..object_names import encode_name
from .section import Section
from .tree import Tree

HARD, SOFT = "H5L_TYPE_HARD", "H5L_TYPE_SOFT"
EXTERNAL, USER = "H5L_TYPE_EXTERNAL", "H5L_TYPE_USER_DEFINED"


def common_character_set(tree: Tree) -> int:
    """The character set that most names of links have."""
    counts = Counter(link.character_set for links in tree.links.values() for link in links)
    return counts.most_common(1)[0][0] if counts else 1


def describe_links(
    path: bytes,
    tree: Tree,
    held: Mapping[str, str],
    *,
    section: Section,
    is_ordered: bool,
    character_set: int,
) -> dict[str, Any]:
    """What the Zarr side does not say about a group's links.

    Parameters
    ----------
    path : bytes
        The group.
    tree : Tree
        Links of the file.
    held : mapping of str to str
        Names and targets in the ``_LINKS`` of the group's node.
    section : Section
        Collects orders.
    is_ordered : bool
        Whether the group tracks the order of its links.
    character_set : int
        Of most names of the file.
    """
    links = tree.links.get(path, [])
    described: dict[str, Any] = {}
    for link in links:
        entry = _entry(path, link, tree)
        name = _name(link)
        is_told = entry.get("class") == SOFT and held.get(name) == entry["h5path"]
        if entry and not is_told:
            described[name] = entry
    parts: dict[str, Any] = {"links": described}
    if is_ordered:
        ordered = sorted(links, key=lambda link: link.order)
        if ordered != links:
            parts["linkOrder"] = section.order_entry(list(map(_name, ordered)))
    parts["linkCharSets"] = {
        _name(link): CHARACTER_SETS.get(link.character_set, link.character_set)
        for link in links
        if link.character_set != character_set
    }
    return {name: part for name, part in parts.items() if part != {}}


def _name(link: Link) -> str:
    return name_to_text(encode_name(link.name))


def _entry(path: bytes, link: Link, tree: Tree) -> dict[str, Any]:
    """A link as JSON; empty for an object's own name."""
    target = path_to_text(encode_name(link.target))
    match link.kind:
        case "hard":
            found = tree.paths.get(link.address)
            own = path.rstrip(b"/") + b"/" + encode_name(link.name)
            return {} if found in (own, None) else {"class": HARD, "h5path": path_to_text(found or b"")}
        case "soft":
            return {"class": SOFT, "h5path": target}
        case "external":
            return {"class": EXTERNAL, "h5path": target, "file": name_to_text(encode_name(link.file))}
        case _:
            return {"class": USER, "id": link.link_class}
