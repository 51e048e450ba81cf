"""Links of the new file: an object's own name, and the links beside it, in the order they were made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from h5py import h5g, h5o, h5p, h5t

from ...hdf5_types.names import text_to_name, text_to_path
from ...hdf5_types.type_names import CHARACTER_SETS
from .creation import PROBLEMS
from .described import DescribedFile
from .report import ToHdf5Report

_CHARACTER_SETS = {name: value for value, name in CHARACTER_SETS.items()}


def write_links(
    group: h5g.GroupID,
    path: str,
    described: DescribedFile,
    objects: Mapping[str, Any],
    children: Mapping[str, str],
    report: ToHdf5Report,
) -> None:
    """Link everything that a group holds.

    Parameters
    ----------
    group : h5py.h5g.GroupID
        The group in the new file.
    path : str
        Its path in the document.
    described : DescribedFile
        What is to be written.
    objects : mapping of str to object identifier
        What was made, by path.
    children : mapping of str to str
        Paths of the objects whose own name is in this group, by name.
    report : ToHdf5Report
        Collects what was done.
    """
    links = described.links(path)
    entry = described.entry(path)
    names = {**dict.fromkeys(children), **dict.fromkeys(links)}
    order = described.order(entry.get("linkOrder")) or sorted(names, key=text_to_name)
    usual = described.file.get("linkCharSet", "H5T_CSET_UTF8" if described.section else None)
    odd = entry.get("linkCharSets", {})
    for name in order:
        if name not in names:
            continue
        properties = h5p.create(h5p.LINK_CREATE)
        set_name = odd.get(name, usual) or ("H5T_CSET_ASCII" if name.isascii() else "H5T_CSET_UTF8")
        properties.set_char_encoding(_CHARACTER_SETS.get(set_name, h5t.CSET_UTF8))
        try:
            if name in children:
                h5o.link(objects[children[name]], group, text_to_name(name), lcpl=properties)
                continue
            _write(group, text_to_name(name), links[name], objects, properties)
        except PROBLEMS as error:
            report.leave_out(f"{path.rstrip('/')}/{name}", str(error))
            continue
        report.links += 1


def _write(
    group: h5g.GroupID,
    name: bytes,
    link: Mapping[str, Any],
    objects: Mapping[str, Any],
    properties: h5p.PropLCID,
) -> None:
    match link["class"]:
        case "H5L_TYPE_HARD":
            if link["h5path"] not in objects:
                raise ValueError(f"a second name of {link['h5path']}, which is not in the file")
            h5o.link(objects[link["h5path"]], group, name, lcpl=properties)
        case "H5L_TYPE_SOFT":
            group.links.create_soft(name, text_to_path(link["h5path"]), lcpl=properties)
        case "H5L_TYPE_EXTERNAL":
            file, target = text_to_name(link["file"]), text_to_path(link["h5path"])
            group.links.create_external(name, file, target, lcpl=properties)
        case _:
            raise ValueError("a user-defined link, which only the program that wrote it can make")
