"""Links that are no nodes: ``_LINKS`` of the group that holds them, or the reason why not.

A soft link, and every further name of an object, becomes an entry with the path of a node that exists in
the document. hdmf-zarr fails a whole file on an entry that leads nowhere, so a dangling link is left out
by name. Of a link into another file the object itself has the link's path, and only a further link to it
is an entry.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from .inventory import Link
from .linked_files import Place
from .object_names import absolute, child_path, printable
from .placement import Key, Placed, Placement
from .reasons import CannotRepresentError


def link_entries(
    group: Placed, placement: Placement, nodes: Set[str]
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """The links of a group that are no nodes.

    Parameters
    ----------
    group : Placed
        The group.
    placement : Placement
        Where every object is.
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
    for link in group.found.links.values():
        path = child_path(group.path, link.name)
        try:
            key = _target(group, link, path, placement)
        except CannotRepresentError as error:
            skipped.append((absolute(path), str(error)))
            continue
        target = placement.paths.get(key) if key is not None else None
        if target is None or (target == path and link.kind != "external"):
            continue  # an object's own name, or one that could not be opened and is named as such
        if absolute(target) in nodes:
            if target != path:
                entries.append({"name": link.name, "source": ".", "path": absolute(target)})
        elif target != path:
            skipped.append((absolute(path), f"its target {printable(absolute(target))} has no node"))
    return entries, skipped


def _target(group: Placed, link: Link, path: str, placement: Placement) -> Key | None:
    """The object that a link leads to.

    Raises
    ------
    CannotRepresentError
        When there is none in the document.
    """
    match link.kind:
        case "hard":
            return group.file.number, link.address
        case "soft":
            return _followed(group, link, placement)
        case "external":
            if path in placement.targets:
                return placement.targets[path]
            where = f"{printable(link.target)} in the file {printable(link.file)}"
            raise CannotRepresentError(f"an external link to {where}: {placement.reasons[path]}")
        case _:
            raise CannotRepresentError(
                "a user-defined link, which only the program that wrote it understands"
            )


def _followed(group: Placed, link: Link, placement: Placement) -> Key:
    where = f"a soft link to {printable(link.target)}"
    try:
        found: Place | None = placement.files.resolve(group.place, link.target)
    except CannotRepresentError as error:
        raise CannotRepresentError(f"{where}: {error}") from error
    if found is None:
        raise CannotRepresentError(f"{where}, where nothing is")
    if found.key not in placement.paths:
        raise CannotRepresentError(f"{where} of the file {found.file.name}, to which no other link leads")
    return found.key
