"""Keys of Zarr v3 in kerchunk's form → the builder; chunk keys of either encoding become ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..attributes import decode_attributes
from ..builder import RfsBuilder
from ..errors import InvalidReferencesError, UsageError
from ..refs.array_layout import ArrayLayout
from ..refs.chunk_key import METADATA_NAME
from ..refs.document import Reference
from ..refs.inline import decode_inline
from ..refs.nesting import MOST_NESTED, is_too_deep
from ..refs.node_checks import check_node, parse_node
from ..zarr_v2 import NoV3FormError, V3Array
from ..zarr_v2.adding import add_translated
from ..zarr_v2.progress import NodeProgress

Chunks = dict[tuple[int, ...], Reference]


def add_v3_nodes(
    builder: RfsBuilder,
    refs: Mapping[str, Reference],
    name: str,
    chunk_index_threshold: int | None,
    progress: NodeProgress,
) -> None:
    """Add every group and array of a Zarr v3 store.

    Parameters
    ----------
    builder : RfsBuilder
        What collects the document.
    refs : mapping
        As `kerchunk_form.listed_references` gives them.
    name : str
        What messages call the document.
    chunk_index_threshold : int or None
        Chunks in one file above which there is a chunk index; None for never.
    progress : callable
        Hears of each node.

    Raises
    ------
    InvalidReferencesError
        When metadata are not JSON objects, or nested too deep.
    """
    documents = {
        key.strip("/").removesuffix(METADATA_NAME).strip("/"): _parsed(value, key, name)
        for key, value in refs.items()
        if key.rpartition("/")[2] == METADATA_NAME
    }
    chunks = _chunks_by_array(refs, documents)
    for done, (path, document) in enumerate(sorted(documents.items())):
        progress(path, done, len(documents))
        is_array = document.get("node_type") == "array"
        try:
            check_node(document, path)
            if is_array:
                _add_array(builder, path, document, chunks.get(path, {}), chunk_index_threshold)
            else:
                builder.add_group(path, decode_attributes(document.get("attributes") or {}))
        except (NoV3FormError, UsageError) as error:
            builder.add_skipped(f"/{path}", "dataset" if is_array else "group", str(error))


def _parsed(value: Reference, key: str, name: str) -> dict[str, Any]:
    if not isinstance(value, str):
        raise UsageError(
            f"{name}: {key!r} is in a file of its own ({value[0]}); expected metadata in the document"
        )
    node = parse_node(decode_inline(value), key)
    if is_too_deep(node):
        raise InvalidReferencesError(f"{name}: {key!r} is nested more than {MOST_NESTED} deep")
    return node


def _chunks_by_array(
    refs: Mapping[str, Reference], documents: Mapping[str, dict[str, Any]]
) -> dict[str, dict[str, Reference]]:
    """References by the rest of their key, by the array whose key theirs begins with."""
    found: dict[str, dict[str, Reference]] = {}
    for key, value in refs.items():
        parts = key.strip("/").split("/")
        if parts[-1] == METADATA_NAME:
            continue
        for number in range(len(parts) - 1, -1, -1):
            path = "/".join(parts[:number])
            if path in documents:
                found.setdefault(path, {})["/".join(parts[number:])] = value
                break
    return found


def _add_array(
    builder: RfsBuilder,
    path: str,
    document: dict[str, Any],
    tails: Mapping[str, Reference],
    chunk_index_threshold: int | None,
) -> None:
    layout = ArrayLayout.from_metadata(document, path)
    if layout.chunk_shape is None:
        raise NoV3FormError("its chunk grid is not a regular one")
    if document.get("storage_transformers"):
        raise NoV3FormError("it has storage transformers")
    array = V3Array(
        layout.shape,
        tuple(max(1, edge) for edge in layout.chunk_shape),
        document["data_type"],
        [codec if isinstance(codec, dict) else {"name": codec} for codec in document["codecs"]],
        document.get("fill_value"),
        None,
    )
    located: Chunks = {}
    for tail, value in tails.items():
        coordinates = layout.coordinates(tail)
        if coordinates is not None:
            located[coordinates] = value
    chunks = array.within(located)
    array.check_lengths(chunks, path)
    names = document.get("dimension_names")
    add_translated(
        builder,
        path,
        array,
        chunks,
        attributes=decode_attributes(document.get("attributes") or {}),
        dimension_names=names,
        chunk_index_threshold=chunk_index_threshold,
    )
