"""Names, links and objects: what is where on both sides.

Walks the original from the root, finds for every object the node that stands for it, and reports what is
missing, extra, there twice or linked to something else. What the objects hold is compared afterwards,
by ``datasets`` and ``attributes``, because references may lead to objects that the walk meets later.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Any

import h5py

from ...access.watched import working_on
from .. import mappings
from ..references import Link, References, join
from ..report import Plain
from ..tally import NOTHING, Tally
from .neighbours import NotToBeReadError
from .original_file import READ_ERRORS, Child, Identity, LinkKind, OriginalFile, decoded_name, raw_name


@dataclass(frozen=True)
class Pair:
    """An object of the original and the node that stands for it."""

    path: str
    item: Any


@dataclass(frozen=True)
class _Promise:
    """A ``_LINKS`` entry that is checked when all objects have been placed."""

    at: str
    link: Link
    identity: Identity


@dataclass
class Structure:
    """What the walk found.

    Attributes
    ----------
    pairs : list of Pair
        What is to be compared.
    placed : dict
        The node of each object.
    missing, left_out : set
        Objects that have no node: against the convention, or as the document says.
    in_part : set of str
        Groups that h5py can read only in part, as the document says too.
    """

    original: OriginalFile
    references: References
    tally: Tally
    pairs: list[Pair] = field(default_factory=list)
    placed: dict[Identity, str] = field(default_factory=dict)
    missing: set[Identity] = field(default_factory=set)
    left_out: set[Identity] = field(default_factory=set)
    in_part: set[str] = field(default_factory=set)
    _promises: list[_Promise] = field(default_factory=list)

    def leads(self, identity: Identity | None, path: str) -> bool:
        """Whether a path, in the references and in the original, leads to an object.

        An object that is missing has been reported; only its path is looked at.
        """
        if identity is None or self.original.identity_at(path) != identity:
            return False
        return identity in self.missing or self.reaches(identity, path)

    def reaches(self, identity: Identity, path: str) -> bool:
        """Whether a path leads to the node that stands for an object."""
        node = self.references.resolve(path)
        return node is not None and self.placed.get(identity) == node


def walk(original: OriginalFile, references: References, tally: Tally) -> Structure:
    """Place every object of the original, and report what does not fit."""
    structure = Structure(original, references, tally)
    _place(structure, original.file, original.identity(original.file), "")
    queue = [structure.pairs[0]]
    while queue:
        group = queue.pop(0)
        start = len(structure.pairs)
        _walk_group(structure, group)
        queue += [pair for pair in structure.pairs[start:] if _are_groups(structure, pair)]
    for promise in structure._promises:
        _keep(structure, promise)
    _check_skipped(structure)
    return structure


def _place(structure: Structure, item: Any, identity: Identity, path: str) -> None:
    structure.placed[identity] = path
    structure.pairs.append(Pair(path, item))


def _are_groups(structure: Structure, pair: Pair) -> bool:
    return isinstance(pair.item, h5py.Group) and not structure.references.nodes[pair.path].is_array


def _walk_group(structure: Structure, group: Pair) -> None:
    names = set()
    working_on(f"/{group.path.strip('/')}")
    children, failure = _readable_children(structure, group)
    if failure:
        entry = structure.references.skipped.at(group.path)
        if entry is None:
            structure.tally.differ(group.path, "unreadable original", Plain(failure), "a group")
        else:
            structure.tally.leave_out(group.path, entry["kind"], entry["reason"])
            structure.in_part.add(group.path)
    elif _is_in_part(structure, group.path):
        structure.tally.differ(group.path, "skipped", "a group", "listed as left out in part")
    for child in children:
        if child.name not in names:  # a damaged group may list a name twice
            names.add(child.name)
            _walk_child(structure, group, child)
    for name in sorted(structure.references.children(group.path) - names):
        structure.tally.differ(join(group.path, name), "extra", NOTHING, _node_name(structure, group, name))
    for name, link in structure.references.links(group.path).items():
        if name not in names:
            structure.tally.differ(join(group.path, name), "extra link", NOTHING, link.path)
    listed, present = structure.references.listed(group.path), structure.references.children(group.path)
    if listed != present:
        structure.tally.differ(group.path, "listing", sorted(present - listed), sorted(listed - present))


def _readable_children(structure: Structure, group: Pair) -> tuple[list[Child], str]:
    """The names in a group, as far as h5py can read them, and why it cannot read the rest."""
    children: list[Child] = []
    try:
        children.extend(structure.original.children(group.item))
    except READ_ERRORS as error:
        failure = str(error)
    else:
        return children, ""
    found = {*structure.references.children(group.path), *structure.references.links(group.path)}
    for name in sorted(found):  # what the references found in spite of it
        with contextlib.suppress(*READ_ERRORS):
            children.append(structure.original.child(group.item, name))
    return children, failure


def _node_name(structure: Structure, group: Pair, name: str) -> Plain:
    node = structure.references.nodes[join(group.path, name)]
    return Plain("an array" if node.is_array else "a group")


def _is_in_part(structure: Structure, path: str) -> bool:
    """Whether the document says of a group that it is there, and that some of it is not."""
    entry = structure.references.skipped.at(path)
    return entry is not None and entry["kind"] == "group"


def _walk_child(structure: Structure, group: Pair, child: Child) -> None:
    path = join(group.path, child.name)
    has_node = child.name in structure.references.children(group.path)
    link = structure.references.links(group.path).get(child.name)
    skipped = structure.references.skipped.at(path)
    if skipped is not None and not (has_node and _is_in_part(structure, path)):
        _leave_out(structure, path, child, skipped["kind"], skipped["reason"], has_node or link is not None)
        if not has_node:
            return
    if has_node and link is not None:
        structure.tally.differ(path, "there twice", Plain(child.kind.value), "a node and an entry of _LINKS")
    if has_node:
        _walk_node(structure, group, child, path)
    elif link is not None:
        _walk_link(structure, group, child, path, link)
    else:
        _walk_absent(structure, group, child, path)


def _leave_out(structure: Structure, path: str, child: Child, kind: str, reason: str, present: bool) -> None:
    if present:
        structure.tally.differ(path, "skipped", Plain(child.kind.value), "listed as left out, and there")
        return
    structure.tally.leave_out(path, kind, reason)
    if child.identity is not None:
        structure.left_out.add(child.identity)


def _walk_node(structure: Structure, group: Pair, child: Child, path: str) -> None:
    """A name that is a node in the references."""
    tally = structure.tally
    if child.kind is LinkKind.HARD:
        assert child.identity is not None  # noqa: S101 - what a hard link is
        _walk_object(structure, group, child.name, child.identity, path)
    elif child.kind is LinkKind.EXTERNAL:
        _walk_external(structure, group, child, path)
    else:
        tally.differ(path, "link", Plain(f"{child.kind.value} to {child.target!r}"), "a node")


def _walk_object(structure: Structure, group: Pair, name: str, identity: Identity, path: str) -> None:
    if identity in structure.placed:
        other = structure.placed[identity]
        structure.tally.differ(path, "there twice", Plain(f"another name of /{other}"), "a node of its own")
        return
    try:
        item = group.item[raw_name(name)]
    except READ_ERRORS as error:
        structure.tally.differ(path, "unreadable original", Plain(str(error)), "a node")
        return
    if isinstance(item, h5py.Datatype):
        structure.tally.differ(path, "extra", "a datatype", "a node")
        return
    _place(structure, item, identity, path)


def _walk_external(structure: Structure, group: Pair, child: Child, path: str) -> None:
    item = _linked(structure, group, child, path, Plain("a node"))
    if item is None:
        return
    identity = structure.original.identity(item)
    if identity in structure.placed:
        other = structure.placed[identity]
        structure.tally.differ(path, "there twice", Plain(f"another name of /{other}"), "a node of its own")
    elif isinstance(item, h5py.Datatype):
        structure.tally.differ(path, "extra", "a datatype", "a node")
    else:
        structure.tally.used(mappings.EXTERNAL_LINK)
        _place(structure, item, identity, path)


def _linked(structure: Structure, group: Pair, child: Child, path: str, given: Plain) -> Any:
    """What an external link leads to; None, and a difference, when that cannot be said."""
    try:
        return structure.original.followed(group.item, child.name)
    except NotToBeReadError as error:
        structure.tally.differ(path, "not to be judged", Plain(f"external link: {error}"), given)
    except READ_ERRORS as error:
        structure.tally.differ(path, "unreadable original", Plain(str(error)), given)
    return None


def _walk_link(structure: Structure, group: Pair, child: Child, path: str, link: Link) -> None:
    """A name that is an entry of ``_LINKS`` in the references."""
    structure.tally.count("links")
    if child.kind is LinkKind.EXTERNAL:
        _walk_external_link(structure, group, child, path, link)
        return
    identity = child.identity if child.kind is LinkKind.HARD else _followed(structure, group, child)
    if identity is None:
        structure.tally.differ(path, "dangling link", Plain(f"{child.kind.value} to nothing"), link.path)
        return
    structure._promises.append(_Promise(path, link, identity))
    structure.tally.used(mappings.HARD_LINK if child.kind is LinkKind.HARD else mappings.SOFT_LINK)


def _walk_external_link(structure: Structure, group: Pair, child: Child, path: str, link: Link) -> None:
    structure.tally.used(mappings.EXTERNAL_LINK)
    if link.source == ".":
        item = _linked(structure, group, child, path, Plain(f"a link to {link.path}"))
        if item is not None:
            structure._promises.append(_Promise(path, link, structure.original.identity(item)))
        return
    same_file = link.source.rpartition("/")[2] == child.file.rpartition("/")[2]
    if not same_file or link.path.lstrip("/") != child.target.lstrip("/"):
        wanted = Plain(f"{child.file!r} {child.target!r}")
        structure.tally.differ(path, "link", wanted, Plain(f"{link.source!r} {link.path!r}"))


def _followed(structure: Structure, group: Pair, child: Child) -> Identity | None:
    with contextlib.suppress(*READ_ERRORS, NotToBeReadError):
        return structure.original.identity(structure.original.followed(group.item, child.target))
    return None


def _walk_absent(structure: Structure, group: Pair, child: Child, path: str) -> None:
    """A name that the references say nothing of."""
    if child.kind is LinkKind.HARD and _is_datatype(group, child.name):
        structure.tally.used(mappings.NAMED_DATATYPE)
        _check_type_attributes(structure, group, child.name, path)
        return
    what = child.kind.value if child.kind is not LinkKind.HARD else _what(group, child.name)
    if child.identity is not None and child.identity in structure.placed:
        what = f"another name of /{structure.placed[child.identity]}"
    structure.tally.differ(path, "missing", Plain(what), NOTHING)
    if child.identity is not None and child.identity not in structure.placed:
        structure.missing.add(child.identity)
        _miss_members(structure, group, child.name)


def _check_type_attributes(structure: Structure, group: Pair, name: str, path: str) -> None:
    """A stored datatype has no node, so its attributes must be described, or left out by name."""
    section: Any = structure.references.rfs.get("hdf5", {})
    described = section.get("objects", {}).get(f"/{path}", {}).get("attributes", {})
    for attribute in map(decoded_name, group.item[raw_name(name)].attrs):
        structure.tally.count("attributes")
        skipped = structure.references.skipped.attribute_at(path, attribute)
        at = f"{path}@{attribute}"
        if skipped is not None:
            structure.tally.leave_out(at, "attribute", skipped["reason"])
        elif attribute in described:
            structure.tally.used(mappings.TYPE_ATTRIBUTE)
        else:
            structure.tally.differ(at, "attribute", "an attribute of a datatype", NOTHING)


def _is_datatype(group: Pair, name: str) -> bool:
    try:
        return group.item.get(raw_name(name), getclass=True) is h5py.Datatype
    except READ_ERRORS:
        return False


def _what(group: Pair, name: str) -> str:
    try:
        return "a dataset" if group.item.get(raw_name(name), getclass=True) is h5py.Dataset else "a group"
    except READ_ERRORS as error:
        return f"an object that h5py cannot read ({error})"


def _miss_members(structure: Structure, group: Pair, name: str) -> None:
    """Everything in a group that is missing is missing too; one difference says it all."""
    try:
        item = group.item[raw_name(name)]
    except READ_ERRORS:
        return
    queue = [item] if isinstance(item, h5py.Group) else []
    while queue:
        member = queue.pop()
        for child in structure.original.children(member):
            new = child.identity is not None and child.identity not in structure.missing
            if new and child.identity is not None:
                structure.missing.add(child.identity)
                opened = member.get(raw_name(child.name))
                queue += [opened] if isinstance(opened, h5py.Group) else []


def _keep(structure: Structure, promise: _Promise) -> None:
    link = promise.link
    identity = promise.identity
    if link.source != "." or structure.original.identity_at(link.path) != identity:
        wanted = structure.placed.get(identity, "another object")
        structure.tally.differ(promise.at, "link", Plain(f"to /{wanted}"), Plain(f"to {link.path}"))
    elif identity not in structure.missing - set(structure.placed) and not structure.reaches(
        identity, link.path
    ):
        structure.tally.differ(promise.at, "dangling link", Plain(f"to {link.path}"), NOTHING)


def _check_skipped(structure: Structure) -> None:
    for entry in structure.references.skipped.unmet():
        if entry["kind"] == "attribute":
            continue  # asked for when the attributes are compared
        if entry["path"].strip("/").rpartition("/")[0] in structure.in_part:
            structure.tally.leave_out(entry["path"].strip("/"), entry["kind"], entry["reason"])
            continue  # h5py does not list it
        identity = structure.original.identity_at(f"/{entry['path'].lstrip('/')}")
        if identity is None or identity not in structure.left_out:
            structure.tally.differ(entry["path"], "skipped", "no such object", "listed as left out")
