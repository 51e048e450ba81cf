"""The manifest of one array as columns of numbers, each checked: a manifest may be anybody's.

A manifest of VirtualiZarr (2.8, ``manifests/manifest.py``) is three numpy arrays shaped like the chunk grid,
of paths, offsets and lengths, and a dictionary of chunks that it holds itself. An empty path is a chunk that
was never written; ``"__inlined__"`` stands for one that is held. They are private attributes; there is no
public way to them but chunk by chunk. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from virtualizarr.manifests import ChunkManifest
from virtualizarr.manifests.manifest import INLINED_CHUNK_PATH, MISSING_CHUNK_PATH

from ..refs.array_layout import ArrayLayout
from ..refs.chunk_key import chunk_key
from ..refs.node_checks import LARGEST
from .reasons import NoReferencesError

_FEW_FILES = 16
"""Files that are looked for one after the other, before all paths are sorted."""

Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint64]
Coordinates = tuple[int, ...]


@dataclass(frozen=True)
class ManifestTable:
    """Where the chunks of one array are.

    Attributes
    ----------
    grid : tuple of int
        Shape of the chunk grid.
    positions : numpy.ndarray
        int64: places in the grid of the chunks that are in files, in C order, ascending.
    paths : tuple of str
        Files, as the manifest spells them.
    files : numpy.ndarray
        int64, for each chunk: which of them it is in.
    offsets, lengths : numpy.ndarray
        uint64, in bytes.
    inlined : dict
        Bytes of the chunks that the manifest holds, by chunk coordinates.
    """

    grid: Coordinates
    positions: Numbers
    paths: tuple[str, ...]
    files: Numbers
    offsets: Bytes
    lengths: Bytes
    inlined: dict[Coordinates, bytes]

    @property
    def coordinates(self) -> Numbers:
        """Chunk coordinates: int64 of shape (chunks, axes)."""
        return coordinates_of(self.positions, self.grid)

    def ends(self) -> dict[str, int]:
        """By path: where the last byte that is needed of a file ends."""
        last = self.offsets + self.lengths
        return {path: int(last[self.files == number].max()) for number, path in enumerate(self.paths)}


def coordinates_of(positions: Numbers, grid: Sequence[int]) -> Numbers:
    """Coordinates in a grid: int64 of shape (positions, axes)."""
    if not grid:
        return np.empty((len(positions), 0), np.int64)
    return np.stack(np.unravel_index(positions, tuple(grid)), axis=1).astype(np.int64)


def read_manifest(manifest: ChunkManifest, grid: Coordinates, layout: ArrayLayout) -> ManifestTable:
    """Read the manifest of an array.

    Parameters
    ----------
    manifest : ChunkManifest
        Any; nothing in it is believed.
    grid : tuple of int
        Chunk grid of the array.
    layout : ArrayLayout
        How it is cut into chunks.

    Raises
    ------
    NoReferencesError
        When the manifest is not one of this array, or no file or array has such chunks.
    """
    paths, offsets, lengths = _columns(manifest, grid)
    inlined = _inlined(manifest, grid)
    is_there = paths != MISSING_CHUNK_PATH
    if inlined:
        at = tuple(np.array(list(inlined), np.int64).reshape(len(inlined), len(grid)).T)
        is_there[np.ravel_multi_index(at, grid) if grid else 0] = False
    positions = np.flatnonzero(is_there).astype(np.int64)
    names, files = _numbered(paths[positions])
    if INLINED_CHUNK_PATH in names:
        first = positions[int((files == names.index(INLINED_CHUNK_PATH)).argmax())]
        raise NoReferencesError(f"its manifest says that it holds {_named(first, grid)}, and does not")
    found = ManifestTable(grid, positions, names, files, offsets[positions], lengths[positions], inlined)
    _check_ranges(found)
    _check_lengths(found, layout)
    return found


def _columns(manifest: ChunkManifest, grid: Coordinates) -> tuple[Any, Bytes, Bytes]:
    """Paths, offsets and lengths, each flat."""
    paths, offsets, lengths = manifest._paths, manifest._offsets, manifest._lengths
    shape = paths.shape
    if offsets.shape != shape or lengths.shape != shape:
        raise NoReferencesError(
            f"its manifest has {shape} paths, {offsets.shape} offsets and {lengths.shape} lengths"
        )
    # Of arrays without elements, and of those without axes, parsers shape manifests in several ways.
    if shape != grid and not (math.prod(shape) == math.prod(grid) <= 1):
        raise NoReferencesError(f"its manifest is for a chunk grid of {shape}; its own is {grid}")
    return (
        paths.reshape(-1),
        np.asarray(offsets, np.uint64).reshape(-1),
        np.asarray(lengths, np.uint64).reshape(-1),
    )


def _inlined(manifest: ChunkManifest, grid: Coordinates) -> dict[Coordinates, bytes]:
    held: Mapping[Coordinates, bytes] = manifest._inlined
    shape = manifest.shape_chunk_grid
    found: dict[Coordinates, bytes] = {}
    for at, data in held.items():
        if len(at) != len(shape) or not all(0 <= c < n for c, n in zip(at, shape, strict=True)):
            raise NoReferencesError(f"its manifest holds a chunk {at}, outside of the chunk grid {shape}")
        found[tuple(map(int, at)) if shape == grid else (0,) * len(grid)] = bytes(data)
    return found


def _numbered(paths: Any) -> tuple[tuple[str, ...], Numbers]:
    """Files in the order in which they are met, and the number of each chunk's."""
    files = np.full(len(paths), -1, np.int64)
    names: list[str] = []
    left = np.arange(len(paths))
    while len(left) and len(names) < _FEW_FILES:
        names.append(str(paths[left[0]]))
        is_this = paths[left] == names[-1]
        files[left[is_this]] = len(names) - 1
        left = left[~is_this]
    if len(left):
        others, numbers = np.unique(paths[left], return_inverse=True)
        files[left] = numbers + len(names)
        names += [str(name) for name in others]
    return tuple(names), files


def _check_ranges(table: ManifestTable) -> None:
    """Refuse byte ranges that no file has."""
    largest = np.uint64(LARGEST)
    wrong = (table.offsets > largest) | (table.lengths > largest) | (table.lengths == 0)
    wrong |= table.offsets + table.lengths > largest
    if wrong.any():
        row = int(wrong.argmax())
        raise NoReferencesError(
            f"{_named(table.positions[row], table.grid)} has {table.lengths[row]} bytes at offset "
            f"{table.offsets[row]}, which is no range of a file"
        )


def _check_lengths(table: ManifestTable, layout: ArrayLayout) -> None:
    """Refuse chunks that are not compressed and have too few bytes for their values, or too many."""
    whole = layout.chunk_nbytes
    if whole is None:
        return
    for row in np.flatnonzero(table.lengths != np.uint64(whole)):
        at = tuple(coordinates_of(table.positions[row : row + 1], table.grid)[0].tolist())
        _check_length(at, int(table.lengths[row]), whole, layout)
    for at, data in table.inlined.items():
        _check_length(at, len(data), whole, layout)


def _check_length(at: Coordinates, length: int, whole: int, layout: ArrayLayout) -> None:
    if length != whole and not layout.needed_nbytes(at) <= length <= whole:
        raise NoReferencesError(f"its chunk {chunk_key('', at)} has {length} bytes; it takes {whole}")


def _named(position: Any, grid: Coordinates) -> str:
    at = coordinates_of(np.array([position], np.int64), grid)[0].tolist()
    return f"chunk {chunk_key('', tuple(at))}"
