"""What a builder has collected → the document: templates, inline values, conventions, version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..attributes import encode_attributes
from ..errors import UsageError
from ..refs.chunk_key import chunk_key, metadata_key
from ..refs.document import FORMAT_VERSION, Reference, Rfs
from ..refs.inline import encode_inline
from ..refs.templates import make_templates, placeholder
from .parts import ArrayPart, Parts

COMPRESS_INLINE_FROM = 4096
"""Bytes of an inline chunk from which zstd makes the document smaller, its codec entry included."""

_ZSTD_CODEC: dict[str, Any] = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}


def make_document(parts: Parts) -> Rfs:
    """The document of what was collected; version 2 exactly when it uses gen, indexes or selections."""
    templates = make_templates(parts.urls)
    names = {url: placeholder(name) for name, url in templates.items()}
    arrays = {path: node for path, node in parts.nodes.items() if isinstance(node, ArrayPart)}
    lists: dict[str, Any] = {
        "gen": [run.entry(path, names[run.url]) for path, array in arrays.items() for run in array.runs],
        "indexes": {path: array.index for path, array in arrays.items() if array.index is not None},
        "selections": {
            path: array.selection for path, array in arrays.items() if array.selection is not None
        },
    }
    requires = [name for name in ("indexes", "gen", "selections") if lists[name]]
    rfs: Rfs = {"version": 2 if requires else 1, "format": FORMAT_VERSION, "refs": {}}
    if requires:
        rfs["requires"] = requires
    if templates:
        rfs["templates"] = templates
    rfs["refs"] = dict(_references(parts, names))
    facts = {"sources": parts.sources, "skipped": parts.skipped, "converted": parts.converted}
    rfs.update({name: part for name, part in (lists | facts).items() if part})  # type: ignore[typeddict-item]
    return rfs


def _references(parts: Parts, names: Mapping[str, str]) -> Iterator[tuple[str, Reference]]:
    for path, node in parts.nodes.items():
        if not isinstance(node, ArrayPart):
            yield metadata_key(path), _dump(node, path)
            continue
        metadata, inline = node.metadata, node.inline
        if _is_worth_compressing(node):
            metadata = {**metadata, "codecs": [*metadata["codecs"], _ZSTD_CODEC]}
            inline = _compress(inline)
        yield metadata_key(path), _dump(metadata, path)
        for coordinates, (url, *place) in node.chunks.items():
            yield chunk_key(path, coordinates), [names[url], *place]
        for coordinates, data in inline.items():
            yield chunk_key(path, coordinates), encode_inline(data)


def _is_worth_compressing(array: ArrayPart) -> bool:
    """Whether all chunks of an array are inline and large enough to be worth a codec."""
    is_large = any(len(data) >= COMPRESS_INLINE_FROM for data in array.inline.values())
    return is_large and not array.is_referenced and array.metadata["codecs"][-1] != _ZSTD_CODEC


def _compress(inline: Mapping[tuple[int, ...], bytes]) -> dict[tuple[int, ...], bytes]:
    from numcodecs import Zstd

    codec = Zstd(level=_ZSTD_CODEC["configuration"]["level"])
    return {coordinates: bytes(codec.encode(data)) for coordinates, data in inline.items()}


def _dump(metadata: Mapping[str, Any], path: str) -> str:
    """Strict JSON; `json` rather than orjson, which writes NaN as null without a word."""
    try:
        metadata = {**metadata, "attributes": encode_attributes(metadata["attributes"])}
        return json.dumps(metadata, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise UsageError(f"{path!r}: its metadata is no strict JSON: {error}") from error
