"""``zarr.json`` as the store serves it.

Differences from the document, all undone by ``strict_json``: attributes that are not finite are bare
NaN and infinities again, because hdmf-zarr does not know the convention they are stored by (0.14;
decoding them here can go when it does); attributes of CF of arrays whose axes have names are as xarray
reads them, unless `open_rfs` opens the document; and two codecs have the names of ours: ``bytes``, so that
zarr reads parts of chunks, and ``numcodecs.zlib``, which is quicker so. Where that is asked for, axes
without names get some. In both modes the root carries the consolidated metadata of all nodes, so that a
file opens with one read, and NaN in fill values is spelled as Zarr v3 does. Pure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from zarr.core.group import GroupMetadata
from zarr.core.metadata.v3 import ArrayV3Metadata

from ..attributes import decode_non_finite, encode_attributes
from ..blosc_codec import BLOSC, CHECKED_BLOSC
from ..codecs import PARTIAL_BYTES, register_named
from ..errors import InvalidReferencesError
from ..refs.chunk_key import METADATA_NAME
from ..refs.node_checks import check_node
from ..zlib_codec import FAST_ZLIB, ZLIB
from .announced import ANNOUNCED_KEYS
from .locate import Locator
from .phony_dims import phony_names
from .xarray_spelling import NO_VARIABLE, is_bare_dimension, spelled_for_xarray

_OURS = {ZLIB: FAST_ZLIB, BLOSC: CHECKED_BLOSC}
"""Codecs that are served under another name, by zarr's names."""


class ServedMetadata:
    """Makes and keeps the metadata documents of a store.

    Parameters
    ----------
    locator : Locator
        Where the document's own are.
    strict_json : bool
        Serve attributes and codecs as they are stored, in strict JSON.
    cf_attributes : bool, optional
        Serve attributes of CF as xarray reads them, and name no dimensions without values.
    phony_dims : bool, optional
        Name axes that have no names.
    """

    def __init__(
        self,
        locator: Locator,
        *,
        strict_json: bool,
        cf_attributes: bool = False,
        phony_dims: bool = False,
    ) -> None:
        self._locator = locator
        self._strict = strict_json
        self._spell = cf_attributes and not strict_json
        self._served: dict[str, bytes] = {}
        self._invents = phony_dims and not strict_json
        self._invented: dict[str, list[str]] | None = None

    def get(self, key: str) -> bytes | None:
        """The metadata document of a node, or None when the document has no such node."""
        if key not in self._locator.refs:
            return None
        served = self._served.get(key)
        if served is None:
            served = self._served[key] = _within_depth(self._serve, key)
        return served

    def node(self, key: str) -> ArrayV3Metadata | GroupMetadata:
        """The metadata of a node as zarr has it, without those of the nodes below it."""
        return _within_depth(lambda key: parse_by_zarr(self._document(key), _path_of(key)), key)

    def is_hidden(self, key: str) -> bool:
        """Whether the node with this key is served to who asks for it, and not named among the members."""
        stored = self._locator.refs.get(key) if self._spell else None
        if not isinstance(stored, str) or NO_VARIABLE not in stored:
            return False  # nearly all nodes, which are not parsed for this
        return is_bare_dimension(_within_depth(self._locator.metadata, key))

    def _serve(self, key: str) -> bytes:
        document = self._document(key)
        parse_by_zarr(document, _path_of(key))
        if key == METADATA_NAME and document.get("node_type") == "group":
            document |= self._consolidated()
        return _dump(document, strict=self._strict)

    def _consolidated(self) -> dict[str, Any]:
        """Consolidated metadata of all nodes, or nothing where it would do harm.

        Names with backslashes are never found in it (zarr 3.4 asks for them with slashes). One node that
        zarr does not understand, for want of a codec say, would keep it from opening the root; without
        consolidated metadata that node alone fails, when it is asked for.
        """
        suffix = f"/{METADATA_NAME}"
        keys = [key for key in self._locator.refs if key.endswith(suffix)]
        try:
            nodes = {key.removesuffix(suffix): self._document(key) for key in keys if not self.is_hidden(key)}
            if self._locator.renamed or not _are_understood(nodes):
                return {}
        except (InvalidReferencesError, RecursionError):
            return {}
        consolidated = {"kind": "inline", "must_understand": False, "metadata": nodes}
        return {"consolidated_metadata": consolidated}

    def _names(self, path: str) -> list[str] | None:
        """Names of the axes of an array, when some have none; None of any other node."""
        if self._invented is None:
            nodes = {}
            for key in filter(_is_metadata, self._locator.refs):
                try:
                    node = self._locator.metadata(key)
                    check_node(node, _path_of(key))
                except (InvalidReferencesError, RecursionError):
                    continue  # which costs this node alone, when it is asked for
                nodes[_path_of(key)] = node
            self._invented = phony_names(nodes)
        return self._invented.get(path)

    def _document(self, key: str) -> dict[str, Any]:
        document = self._locator.metadata(key)
        check_node(document, _path_of(key))
        document.pop("consolidated_metadata", None)  # a copy that a writer left may be stale
        attributes = document.get("attributes")
        if isinstance(attributes, Mapping):
            document["attributes"] = _strict(attributes) if self._strict else decode_non_finite(attributes)
        if self._invents and (names := self._names(_path_of(key))) is not None:
            document["dimension_names"] = names
        if self._spell:
            document = spelled_for_xarray(document)
        if "fill_value" in document:
            document["fill_value"] = _spelled_out(document["fill_value"])
        if not self._strict and isinstance(codecs := document.get("codecs"), list):
            document["codecs"] = _served_codecs(codecs)
        if not self._strict and _name(keys := document.get("chunk_key_encoding")) == "default":
            own = keys if isinstance(keys, Mapping) else {}
            document["chunk_key_encoding"] = {**own, "name": ANNOUNCED_KEYS}
        return document


def _within_depth[T](make: Callable[[str], T], key: str) -> T:
    try:
        return make(key)
    except RecursionError:
        raise InvalidReferencesError(f"refs[{key!r}] is nested too deeply to be read") from None


def _served_codecs(codecs: list[Any]) -> list[Any]:
    """The codecs of an array, those of ours in place of zarr's where that does any good."""
    if len(codecs) == 1 and isinstance(codecs[0], Mapping) and _name(codecs[0]) == "bytes":
        return [{**codecs[0], "name": PARTIAL_BYTES}]
    return [
        {**codec, "name": _OURS[name]}
        if isinstance(codec, Mapping) and (name := _name(codec)) in _OURS
        else codec
        for codec in codecs
    ]


def _are_understood(nodes: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether zarr understands these nodes; of arrays that differ in extents alone one is asked."""
    kinds: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for path, node in nodes.items():
        kinds.setdefault(_kind(node), (path, node))
    try:
        for path, node in kinds.values():
            parse_by_zarr(node, path)
    except InvalidReferencesError:
        return False
    return True


def _kind(node: Mapping[str, Any]) -> str:
    """What of a node zarr may fail to understand; shapes are checked already."""
    parts = {name: value for name, value in node.items() if name not in ("attributes", "shape", "chunk_grid")}
    grid = node.get("chunk_grid", {})
    if grid.get("name") != "regular" or any(_name(codec) == "sharding_indexed" for codec in node["codecs"]):
        parts["grid"] = grid  # which must fit to the inner chunks, or is not checked here
    return json.dumps([len(node.get("shape", ())), parts], default=str)


def parse_by_zarr(node: Mapping[str, Any], path: str) -> ArrayV3Metadata | GroupMetadata:
    """Let zarr parse a metadata document, so that what it does not understand is an error of ours.

    Raises
    ------
    InvalidReferencesError
        With the node and what zarr says of it: an unknown codec, a fill value of another type.
    """
    kind: Any = ArrayV3Metadata if node["node_type"] == "array" else GroupMetadata
    register_named(node.get("codecs") or ())
    try:
        parsed: ArrayV3Metadata | GroupMetadata = kind.from_dict(dict(node))
    except Exception as error:  # zarr raises errors of any kind here, all about this document
        raise InvalidReferencesError(
            f"{node['node_type']} {'/' + path!r} cannot be opened: its {METADATA_NAME} is not understood "
            f"by zarr ({type(error).__name__}: {error})"
        ) from error
    return parsed


def _is_metadata(key: str) -> bool:
    return key == METADATA_NAME or key.endswith(f"/{METADATA_NAME}")


def _path_of(key: str) -> str:
    return key.removesuffix(METADATA_NAME).rstrip("/")


def _name(codec: Any) -> str:
    return str(codec.get("name") if isinstance(codec, Mapping) else codec)


def _strict(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as they are stored; those of older writers, with bare NaN, as they should be."""
    return encode_attributes(attributes) if _has_non_finite(attributes) else dict(attributes)


def _has_non_finite(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_non_finite(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_non_finite(item) for item in value)
    return isinstance(value, float) and not math.isfinite(value)


def _spelled_out(value: Any) -> Any:
    """A fill value with NaN and infinities as Zarr v3 writes them."""
    if isinstance(value, Mapping):
        return {key: _spelled_out(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_spelled_out(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _dump(document: Mapping[str, Any], *, strict: bool) -> bytes:
    def dump(ensure_ascii: bool) -> bytes:
        options: Any = {"allow_nan": not strict, "separators": (",", ":")}
        return json.dumps(document, ensure_ascii=ensure_ascii, **options).encode()

    try:
        return dump(False)
    except UnicodeEncodeError:  # what is no Unicode text remains when it is escaped
        return dump(True)
