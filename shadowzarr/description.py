"""What a document holds, in a few lines or a small table; read from the document alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .access.locations import without_query
from .formatting import format_bytes, format_count
from .notebook import folded, table, titled
from .refs.inline import decode_inline
from .refs.node_checks import check_node, codec_name, parse_node
from .refs.totals import METADATA, Totals, totals_of

MOST_LINES = 30
"""Arrays that the text names; a notebook's table has more."""


@dataclass(frozen=True, slots=True)
class ArrayRow:
    """One array.

    Attributes
    ----------
    path : str
        Without leading slash.
    shape, chunk_shape : tuple of int
        Elements along each axis, of the array and of a chunk; the latter is empty for a grid of another kind.
    data_type : str
        Zarr's name of it.
    codecs : tuple of str
        Names of the codecs after ``bytes``.
    """

    path: str
    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    data_type: str
    codecs: tuple[str, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """For a table."""
        return (self.path, self.data_type, str(self.shape), str(self.chunk_shape), ", ".join(self.codecs))


@dataclass(frozen=True, repr=False)
class Description:
    """What a document holds; shown as text, or as a table in a notebook.

    Attributes
    ----------
    totals : Totals
        Numbers of groups, arrays and chunks. Chunks of an index beside the document are not counted.
    sources : dict of str to int or None
        Sizes in bytes of the files that references point into, by location without query.
    arrays : tuple of ArrayRow
        In the document's order.
    left_out : tuple of (path, kind, reason)
        What is not represented.
    """

    totals: Totals
    sources: dict[str, int | None]
    arrays: tuple[ArrayRow, ...]
    left_out: tuple[tuple[str, str, str], ...]

    @property
    def title(self) -> str:
        """The numbers, in one line."""
        totals = self.totals
        counted = (
            f"{format_count(totals.groups, 'group')}, {format_count(totals.arrays, 'array')}, "
            f"{format_count(totals.chunks, 'chunk')}, {format_bytes(totals.inline_bytes)} inline"
        )
        return counted + (f", {len(self.left_out):,} left out" if self.left_out else "")

    def __repr__(self) -> str:
        lines = [f"references: {self.title}"]
        lines += [f"  of {place}{_sized(size)}" for place, size in self.sources.items()]
        lines += [f"  {'  '.join(filter(None, row.cells))}" for row in self.arrays[:MOST_LINES]]
        rest = len(self.arrays) - MOST_LINES
        lines += [f"  and {format_count(rest, 'array')} more"] if rest > 0 else []
        lines += [f"  left out: {kind} {path}: {reason}" for path, kind, reason in self.left_out[:MOST_LINES]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        sources = table((place, _sized(size).strip()) for place, size in self.sources.items())
        header = ("array", "data type", "shape", "chunks", "codecs")
        arrays = table((row.cells for row in self.arrays), header=header)
        parts = [
            folded(format_count(len(self.sources), "source file"), sources) if self.sources else "",
            folded(format_count(len(self.arrays), "array"), arrays) if self.arrays else "",
        ]
        if self.left_out:
            left = table(self.left_out, header=("left out", "kind", "reason"))
            parts.append(folded(f"{len(self.left_out):,} left out", left))
        return titled(f"references: {self.title}", *parts)


def describe_document(rfs: Mapping[str, Any]) -> Description:
    """Describe a document in memory.

    Raises
    ------
    InvalidReferencesError
        When the metadata of a node cannot be understood.
    """
    rows = []
    for key, value in rfs["refs"].items():
        path, _, name = key.rpartition("/")
        if name != METADATA or not isinstance(value, str):
            continue
        node = parse_node(decode_inline(value), key)
        check_node(node, path)
        if node["node_type"] == "array":
            rows.append(_row(path, node))
    skipped, sources = rfs.get("skipped", []), rfs.get("sources") or {}
    return Description(
        totals=totals_of(rfs),
        sources={without_query(place): each.get("size") for place, each in sources.items()},
        arrays=tuple(rows),
        left_out=tuple((each["path"], each["kind"], each["reason"]) for each in skipped),
    )


def _row(path: str, node: Mapping[str, Any]) -> ArrayRow:
    configuration = node["chunk_grid"].get("configuration") or {}
    data_type = node["data_type"]
    names = (codec_name(each) for each in node["codecs"])
    return ArrayRow(
        path,
        tuple(node["shape"]),
        tuple(configuration.get("chunk_shape") or ()),
        data_type if isinstance(data_type, str) else str(data_type.get("name")),
        tuple(name.removeprefix("numcodecs.") for name in names if name != "bytes"),
    )


def _sized(size: int | None) -> str:
    return "" if size is None else f" ({format_bytes(size)})"
