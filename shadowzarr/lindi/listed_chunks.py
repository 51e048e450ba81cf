"""Every chunk of a document, by array: from ``refs``, rules and chunk indexes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..access.index_arrays import read_index
from ..access.range_reader import default_reader
from ..refs import gen
from ..refs.byte_range import FileRange
from ..refs.chunk_index import MISSING
from ..refs.chunk_key import parse_chunk_key
from ..refs.document import Reference, Rfs
from ..refs.inline import encode_inline

Coordinates = tuple[int, ...]


class ListedChunks:
    """Where the chunks of each array are.

    Parameters
    ----------
    rfs : Rfs
        A loaded document.
    """

    def __init__(self, rfs: Rfs) -> None:
        self._rfs = rfs
        self._inline_files = tuple(rfs.get("inline_files", []))
        self._listed: dict[str, dict[Coordinates, Reference]] = {}
        for key, value in rfs["refs"].items():
            parsed = parse_chunk_key(key)
            if parsed is not None:
                self._listed.setdefault(parsed[0], {})[parsed[1]] = value

    def of(self, path: str) -> dict[Coordinates, Reference]:
        """Chunks of an array by their coordinates; inline ones as text, whole files with their size."""
        found: dict[Coordinates, Reference] = dict(self._by_index(path))
        found |= dict(self._by_rules(path))
        found |= self._listed.get(path, {})
        return {coordinates: self._whole(value) for coordinates, value in found.items()}

    def has_selection(self, path: str) -> bool:
        """Whether the references of an array hold bytes that are not its own."""
        return path in self._rfs.get("selections", {})

    def hdf5_file(self) -> str | None:
        """The HDF5 file that the document describes; None when it describes none, or several."""
        files = [url for url, entry in self._rfs.get("sources", {}).items() if not entry.get("linked")]
        return files[0] if "hdf5" in self._rfs and len(files) == 1 else None

    def _by_index(self, path: str) -> Iterator[tuple[Coordinates, Reference]]:
        entry = self._rfs.get("indexes", {}).get(path)
        if entry is None:
            return
        index = read_index(entry)
        written = index[..., 0] != np.uint64(MISSING)
        rows = zip(np.argwhere(written).tolist(), index[written].tolist(), strict=True)
        for coordinates, (offset, nbytes) in rows:
            yield tuple(coordinates), [entry["url"], offset, nbytes]

    def _by_rules(self, path: str) -> Iterator[tuple[Coordinates, Reference]]:
        templates = self._rfs.get("templates", {})
        for rule in reversed(self._rfs.get("gen", [])):  # so that of several the first wins
            if gen.array_path(rule) != path:
                continue
            for key, place in gen.expand(rule, templates):
                parsed = parse_chunk_key(key)
                if parsed is not None:
                    whole = place.length is None
                    yield parsed[1], [place.url] if whole else [place.url, place.offset, place.length]

    def _whole(self, value: Reference) -> Reference:
        if isinstance(value, str):
            return value
        if value[0].endswith(self._inline_files) and self._inline_files:
            part = FileRange(value[1], value[2])
            return encode_inline(bytes(default_reader().read_one(value[0], part)))
        if len(value) == 1:
            entry = self._rfs.get("sources", {}).get(value[0])
            return value if entry is None else [value[0], 0, entry["size"]]
        return value
