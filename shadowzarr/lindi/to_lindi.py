"""rfs_to_lindi: a reference file system → a reference file of LINDI, as far as that can say it.

What LINDI cannot say is left out by name: the list is in ``generationMetadata``, which LINDI passes over. A
dataset whose codecs LINDI cannot run is an external array link where its HDF5 file is known.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ..attributes import decode_attributes
from ..errors import UnsupportedError, UsageError
from ..refs.chunk_key import METADATA_NAME
from ..refs.document import Rfs, SkippedEntry
from ..refs.inline import decode_inline
from ..refs.node_checks import parse_node
from ..refs.templates import make_templates, placeholder
from ..store.load_rfs import load_rfs
from ..store.open_rfs import open_loaded
from ..zarr_v2.reasons import NoV2FormError
from .listed_chunks import ListedChunks
from .marks import EXTERNAL, SOFT_LINK
from .v2_attributes import Attributes, ObjectIds
from .v2_numbers import plain_array
from .v2_objects import held_array, is_held

GENERATOR = "shadowzarr"
_UNSAYABLE = {
    "_RAGGED": "variable-length sequences, which LINDI cannot hold",
    "_COLUMNS": "a compound that LINDI cannot hold",
    "_NULL_DATASPACE": "a null dataspace, which LINDI cannot hold",
}


def rfs_to_lindi(
    rfs: str | os.PathLike[str] | Mapping[str, Any],
    *,
    on_unsupported: Literal["skip", "error"] = "skip",
) -> dict[str, Any]:
    """Make a reference file of LINDI.

    Parameters
    ----------
    rfs : Rfs, str or path
        References: generated, loaded, or where they are.
    on_unsupported : {"skip", "error"}, optional
        Whether what LINDI cannot say is left out by name, or an error.

    Returns
    -------
    dict
        To be written as ``.lindi.json``. Every chunk is listed. ``generationMetadata`` names what is left
        out: ``{"generator": "shadowzarr", "skipped": [{"path", "kind", "reason"}, …]}``.

    Raises
    ------
    InvalidReferencesError
        When ``rfs`` is no references.
    ReadError
        When values that LINDI holds in the document cannot be read.
    UnsupportedError
        With ``on_unsupported="error"``, for the first object that LINDI cannot say.
    """
    if on_unsupported not in ("skip", "error"):
        raise UsageError(f'on_unsupported is {on_unsupported!r}; expected "skip" or "error"')
    return _Writing(load_rfs(rfs), is_strict=on_unsupported == "error").document()


class _Writing:
    """One run of `rfs_to_lindi`."""

    def __init__(self, rfs: Rfs, *, is_strict: bool) -> None:
        self._rfs = rfs
        self._is_strict = is_strict
        self._refs: dict[str, Any] = {}
        self._skipped: list[SkippedEntry] = []
        self._chunks = ListedChunks(rfs)
        self._root = open_loaded(rfs)
        self._nodes = {
            key.removesuffix(METADATA_NAME).strip("/"): parse_node(decode_inline(value), key)
            for key, value in sorted(rfs["refs"].items())
            if key.rpartition("/")[2] == METADATA_NAME and isinstance(value, str)
        }
        self._attributes = {
            path: decode_attributes(node.get("attributes") or {}) for path, node in self._nodes.items()
        }
        self._ids = ObjectIds(self._attributes)

    def document(self) -> dict[str, Any]:
        """Every node, and the list of what is left out."""
        left_out: list[str] = []
        for path, node in self._nodes.items():
            if any(path.startswith(f"{each}/") for each in left_out):
                continue
            is_array = node.get("node_type") == "array"
            try:
                self._check(path)
                if is_array:
                    self._add_array(path, node)
                else:
                    self._add_group(path)
            except NoV2FormError as error:
                self._skip(
                    path, "dataset" if is_array or _is_marked(self._attributes[path]) else "group", error
                )
                left_out.append(path)
        document: dict[str, Any] = {
            "version": 1,
            "generationMetadata": {"generator": GENERATOR, "skipped": self._skipped},
        }
        return document | self._with_templates()

    def _check(self, path: str) -> None:
        for mark, reason in _UNSAYABLE.items():
            if mark in self._attributes[path]:
                raise NoV2FormError(reason)

    def _add_group(self, path: str) -> None:
        own = self._attributes[path]
        kept = own.get(EXTERNAL)
        if isinstance(kept, Mapping) and isinstance(kept.get("zarray"), Mapping):
            link = {name: value for name, value in kept.items() if name != "zarray"}
            self._put(path, ".zarray", dict(kept["zarray"]))
            self._put(path, ".zattrs", {**self._said(path), EXTERNAL: link})
            return
        self._put(path, ".zgroup", {"zarr_format": 2})
        said = self._said(path)
        if said:
            self._put(path, ".zattrs", said)
        for entry in own.get("_LINKS") or []:
            self._add_link(path, entry)

    def _add_link(self, path: str, entry: Mapping[str, Any]) -> None:
        name = f"{path}/{entry['name']}" if path else entry["name"]
        if entry.get("source", ".") != "." or name in self._nodes:
            self._skip(name, "link", NoV2FormError("a link into another file"))
            return
        self._put(name, ".zgroup", {"zarr_format": 2})
        self._put(name, ".zattrs", {SOFT_LINK: {"path": entry["path"]}})

    def _add_array(self, path: str, node: dict[str, Any]) -> None:
        own = self._attributes[path]
        if is_held(node):
            zarray, marks, chunks = held_array(node, own, self._read(path), self._ids)
        else:
            zarray, marks, chunks = plain_array(node, path, self._chunks)
        self._put(path, ".zarray", zarray)
        said = self._said(path) | marks
        if said:
            self._put(path, ".zattrs", said)
        for key, value in chunks.items():
            self._refs[f"{path}/{key}" if path else key] = value

    def _read(self, path: str) -> np.ndarray[Any, Any]:
        """All values of an array."""
        return np.asarray(self._root[path][...])  # type: ignore[index]

    def _said(self, path: str) -> dict[str, Any]:
        """Attributes that LINDI can say."""
        attributes = Attributes(self._attributes[path], self._ids, is_root=not path)
        for name, reason in attributes.skipped.items():
            self._skip(f"{path}@{name}", "attribute", NoV2FormError(reason))
        return attributes.values

    def _put(self, path: str, name: str, document: dict[str, Any]) -> None:
        self._refs[f"{path}/{name}" if path else name] = document

    def _skip(self, path: str, kind: Any, error: NoV2FormError) -> None:
        if self._is_strict:
            raise UnsupportedError(f"/{path}: {error}")
        self._skipped.append({"path": f"/{path}", "kind": kind, "reason": str(error)})

    def _with_templates(self) -> dict[str, Any]:
        urls = [value[0] for value in self._refs.values() if isinstance(value, list)]
        templates = make_templates(urls)
        names = {url: placeholder(name) for name, url in templates.items()}
        refs = {
            key: [names[value[0]], *value[1:]] if isinstance(value, list) else value
            for key, value in self._refs.items()
        }
        return {"templates": templates, "refs": refs} if templates else {"refs": refs}


def _is_marked(attributes: Mapping[str, Any]) -> bool:
    return any(mark in attributes for mark in _UNSAYABLE)
