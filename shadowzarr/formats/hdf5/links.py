"""Links that are no nodes: ``_LINKS`` of the group that holds them, or the reason why not.

A soft link, and every further name of an object, becomes an entry with the path of a node that exists in
the document. hdmf-zarr fails a whole file on an entry that leads nowhere, so a dangling link is left out
by name.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from .inventory import Inventory, Link, StoredObject
from .object_names import absolute, child_path, printable


def link_entries(
    group: StoredObject, inventory: Inventory, nodes: Set[str]
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """The links of a group that are no nodes.

    Parameters
    ----------
    group : StoredObject
        The group.
    inventory : Inventory
        Every object of the file.
    nodes : set of str
        Absolute paths of the nodes in the document.

    Returns
    -------
    entries : list of dict
        For ``_LINKS``.
    skipped : list of (str, str)
        Absolute paths and reasons of the links that are left out.
    """
    entries: list[dict[str, Any]] = []
    skipped: list[tuple[str, str]] = []
    for link in group.links.values():
        path = child_path(group.path, link.name)
        target, reason = _target(group, link, path, inventory)
        if target is not None and absolute(target.path) not in nodes:
            reason = f"its target {printable(absolute(target.path))} has no node"
        if reason:
            skipped.append((absolute(path), reason))
        elif target is not None:
            entries.append({"name": link.name, "source": ".", "path": absolute(target.path)})
    return entries, skipped


def _target(
    group: StoredObject, link: Link, path: str, inventory: Inventory
) -> tuple[StoredObject | None, str]:
    """The object that an entry shall name, or why there is none; neither for an object's own name."""
    match link.kind:
        case "hard":
            found = inventory.objects.get(link.address)
            return (found, "") if found is not None and found.path != path else (None, "")
        case "soft":
            found = inventory.resolve(group, link.target)
            reason = "" if found else f"a soft link to {printable(link.target)}, where nothing is"
            return found, reason
        case "external":
            where = f"{printable(link.target)} in the file {printable(link.file)}"
            return None, f"an external link to {where}; links into other files are not followed"
        case _:
            return None, "a user-defined link, which only the program that wrote it understands"
