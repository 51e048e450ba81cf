"""kerchunk_to_rfs: a document of kerchunk's form → a reference file system.

How documents are read is said in ``refs.kerchunk_form`` and `parquet`, what Zarr v2 becomes in ``zarr_v2``,
and keys of Zarr v3 are taken by `v3_keys`. What has no form is left out by name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from ..access.describing import describe_each, refuse_local, refuse_signed
from ..access.locations import canonical, is_remote, without_query
from ..builder import RfsBuilder
from ..errors import InvalidReferencesError, UsageError
from ..refs.chunk_index import CHUNK_INDEX_THRESHOLD
from ..refs.chunk_key import METADATA_NAME
from ..refs.document import Reference, Rfs
from ..refs.kerchunk_form import listed_references
from ..store.places import folder_of, resolve
from ..store.read_json import read_json
from ..zarr_v2 import NoV3FormError, V2Node, nodes_of, to_v3
from ..zarr_v2.adding import add_translated
from ..zarr_v2.progress import NodeProgress, unheard
from .parquet import is_parquet, parquet_nodes
from .v3_keys import add_v3_nodes

_DIMENSIONS = "_ARRAY_DIMENSIONS"
_CONVENTIONS = "zarr_conventions"


def kerchunk_to_rfs(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    allow_local_files: bool = False,
    chunk_index_threshold: int | None = CHUNK_INDEX_THRESHOLD,
    describe_sources: bool = True,
    progress: NodeProgress | None = None,
) -> Rfs:
    """Make kerchunk's references ours.

    Parameters
    ----------
    source : str, path or mapping
        A JSON document (version 0 or 1) or a directory of Parquet references, by path or URL; or a document
        in memory. Keys may be of Zarr v2 or v3.
    allow_local_files : bool, optional
        Whether a document that came over the network may name files of this machine.
    chunk_index_threshold : int or None, optional
        Chunks in one file above which an array has a chunk index; None for never.
    describe_sources : bool, optional
        Whether the files that references name are asked for their size and ETag, so that a reader notices
        when one is replaced from now on.
    progress : callable, optional
        Called with the path of each array or group, their number so far, and in all.

    Returns
    -------
    Rfs
        Places that the document names relative to its folder are absolute. What is left out is in
        ``skipped``, by name.

    Raises
    ------
    InvalidReferencesError
        When it is no such document, or uses template expressions that are not understood.
    ReadError
        When it cannot be read.
    UsageError
        When references name a file by a signed URL, or a file of this machine that they may not.
    MissingDependencyError
        When Parquet references are given and what reads them is not installed (extra ``parquet``).
    """
    builder = RfsBuilder()
    heard = progress or unheard
    urls: set[str]
    if not isinstance(source, Mapping) and is_parquet(location := canonical(source)):
        nodes = parquet_nodes(location)
        urls = _make_absolute(nodes, location)
        _add_v2_nodes(builder, nodes, chunk_index_threshold, heard)
    else:
        refs, name = _references(source)
        urls = {value[0] for value in refs.values() if not isinstance(value, str)}
        if any(key.rpartition("/")[2] == METADATA_NAME for key in refs):
            add_v3_nodes(builder, refs, name, chunk_index_threshold, heard)
        else:
            _add_v2_nodes(builder, nodes_of(refs, name), chunk_index_threshold, heard)
    refuse_signed(urls)
    if not allow_local_files and not isinstance(source, Mapping):
        refuse_local(urls, canonical(source))
    if describe_sources:
        _describe(builder, urls)
    return builder.build()


def _references(
    source: str | os.PathLike[str] | Mapping[str, Any],
) -> tuple[dict[str, Reference], str]:
    """References by key, in absolute places where the document is a file, and what messages call it."""
    if isinstance(source, Mapping):
        return listed_references(source, "the document"), "the document"
    location = canonical(source)
    if not is_remote(location) and Path(location).is_dir():
        raise InvalidReferencesError(
            f"{location} is a directory without .zmetadata; expected a JSON document, or a directory of "
            "Parquet references"
        )
    name = without_query(location)
    refs = listed_references(read_json(location), name)
    folder = folder_of(location)
    places = {value[0]: "" for value in refs.values() if not isinstance(value, str)}
    places = {place: resolve(place, folder) for place in places}
    for value in refs.values():
        if not isinstance(value, str):
            value[0] = places[value[0]]
    return refs, name


def _make_absolute(nodes: Mapping[str, V2Node], folder: str) -> set[str]:
    urls: set[str] = set()
    for node in nodes.values():
        for value in node.chunks.values():
            if not isinstance(value, str):
                value[0] = resolve(value[0], folder)
                urls.add(value[0])
    return urls


def _add_v2_nodes(
    builder: RfsBuilder, nodes: Mapping[str, V2Node], threshold: int | None, progress: NodeProgress
) -> None:
    for done, (path, node) in enumerate(nodes.items()):
        progress(path, done, len(nodes))
        kind: Literal["group", "dataset"] = "group" if node.zarray is None else "dataset"
        try:
            if node.zarray is None:
                builder.add_group(path, _attributes(builder, node))
            else:
                _add_array(builder, node, node.zarray, threshold)
        except (NoV3FormError, UsageError) as error:
            builder.add_skipped(f"/{path}", kind, str(error))


def _add_array(builder: RfsBuilder, node: V2Node, zarray: dict[str, Any], threshold: int | None) -> None:
    array = to_v3(zarray)
    chunks = array.within(node.chunks)
    array.check_lengths(chunks, node.path)
    attributes = _attributes(builder, node)
    names = attributes.get(_DIMENSIONS)
    if _are_names(names, len(array.shape)):
        del attributes[_DIMENSIONS]
    else:
        names = None
    add_translated(
        builder,
        node.path,
        array,
        chunks,
        attributes=attributes,
        dimension_names=names or None,
        chunk_index_threshold=threshold,
    )


def _are_names(names: Any, rank: int) -> bool:
    """Whether an attribute names the axes; where it does not, it is left as it is."""
    is_list = isinstance(names, list) and len(names) == rank
    return is_list and all(name is None or isinstance(name, str) for name in names)


def _attributes(builder: RfsBuilder, node: V2Node) -> dict[str, Any]:
    attributes = dict(node.attributes)
    if not isinstance(attributes.get(_CONVENTIONS, []), list):
        del attributes[_CONVENTIONS]
        builder.add_skipped(f"/{node.path}@{_CONVENTIONS}", "attribute", "Zarr keeps that name for a list")
    return attributes


def _describe(builder: RfsBuilder, urls: set[str]) -> None:
    sources, reasons = describe_each(sorted(urls))
    for source in sources:
        builder.add_source(source.url, source.size, source.etag)
    for url, reason in reasons.items():
        builder.add_converted(
            "/",
            f"{without_query(url)} could not be asked for its size, so no change of it is noticed: {reason}",
        )
