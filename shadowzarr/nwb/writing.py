"""`write_virtual_nwb`: an NWB file whose large datasets are references to the files that were recorded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._optional import require, require_installed
from ..access.locations import written_path
from ..builder import RfsBuilder
from ..errors import UsageError
from ..refs.chunk_key import parse_chunk_key
from ..refs.document import Rfs
from ..refs.zarr_metadata import chunk_shape_of
from ..virtual import VirtualArray
from ..write import INLINE_LIMIT, check_replaceable, write_rfs

if TYPE_CHECKING:
    from .structure import Structure

_DTYPE = "_DTYPE"
"""Attribute in which hdmf-zarr writes what the data type of an array is."""


def write_virtual_nwb(nwbfile: Any, path: str | os.PathLike[str], *, inline_limit: int = INLINE_LIMIT) -> Rfs:
    """Write an NWB file as references: its structure, and where the data of its placeholders are.

    Data, timestamps and columns of tables may be `VirtualArray.placeholder`: of a ``TimeSeries`` of any type,
    a ``DynamicTable``, or any other object of pynwb. What they stand for is referenced, in as many files as
    there are; all else is written by hdmf-zarr, and held in the references.

    Parameters
    ----------
    nwbfile : pynwb.NWBFile
        Assembled in memory. As with pynwb's own writing, it cannot be written to a second place afterwards.
    path : str or path
        As for `write_rfs`: a directory, or one file when it ends in ``.json``. References that are there are
        replaced, as a whole or not at all.
    inline_limit : int, optional
        As for `write_rfs`: bytes of real data in ``refs.json``; the rest lies beside it.

    Returns
    -------
    Rfs
        The references that were written.

    Raises
    ------
    UsageError
        When it is no ``NWBFile``, the path is a URL, pynwb or hdmf-zarr refuse the file, or NWB wants other
        numbers than a placeholder's files hold, as 64-bit timestamps, which references cannot make of them.
    OutputError
        When the place cannot be written, or holds something else than references.
    MissingDependencyError
        When hdmf-zarr is not installed.
    """
    require_installed("hdmf_zarr", extra="nwb")
    pynwb = require("pynwb", extra="nwb")
    if not isinstance(nwbfile, pynwb.NWBFile):
        raise UsageError(f"write_virtual_nwb writes a pynwb.NWBFile, found a {type(nwbfile).__name__}")
    target = written_path(path)
    check_replaceable(target)
    from .structure import write_structure

    structure = write_structure(nwbfile, str(target.absolute()))
    rfs = _references(structure)
    write_rfs(rfs, target, inline_limit=inline_limit)
    return rfs


def _references(structure: Structure) -> Rfs:
    """The document: nodes as hdmf-zarr wrote them, and the chunks of virtual arrays where they are."""
    builder = RfsBuilder()
    for path, node in structure.nodes.items():
        if node["node_type"] == "group":
            builder.add_group(path, node["attributes"])
        elif path in structure.virtual:
            _add_virtual(builder, path, node, structure.virtual[path])
        else:
            builder.add_array(
                path,
                shape=node["shape"],
                data_type=node["data_type"],
                chunk_shape=chunk_shape_of(node),
                codecs=node["codecs"],
                fill_value=node["fill_value"],
                attributes=node["attributes"],
                dimension_names=node.get("dimension_names"),
            )
    for key, data in structure.chunks.items():
        parsed = parse_chunk_key(key)
        if parsed is not None:
            builder.add_inline_chunk(*parsed, data)
    return builder.build()


def _add_virtual(builder: RfsBuilder, path: str, node: Mapping[str, Any], array: VirtualArray) -> None:
    """An array whose chunks are in files, with the attributes that NWB gives it."""
    attributes = dict(node["attributes"])
    _check_type(path, node["data_type"], array)
    if _DTYPE in attributes:
        attributes[_DTYPE] = array.dtype.newbyteorder("=").name
    array.with_attributes({}).add_to(
        builder, path, attributes=attributes, dimension_names=node.get("dimension_names")
    )


def _check_type(path: str, written: Any, array: VirtualArray) -> None:
    """Refuse an array that hdmf-zarr would have converted, as NWB wants it.

    Raises
    ------
    UsageError
        When the data types differ.
    """
    own = array.dtype.newbyteorder("=")
    try:
        is_same = np.dtype(written).newbyteorder("=") == own
    except TypeError:
        is_same = False
    if not is_same:
        raise UsageError(
            f"/{path}: NWB has {written} there, and the file {own}; references cannot convert numbers, so "
            "give the values themselves"
        )
