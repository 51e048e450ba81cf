"""How notebooks show what one holds: small HTML tables, in which everything is escaped. Pure."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

MOST_ROWS = 200
"""Rows of a table that are shown; a page with all 100,000 arrays of a file would not open."""


def table(rows: Iterable[Sequence[object]], *, header: Sequence[str] = ()) -> str:
    """A table; texts keep to the left, as paths are read.

    Parameters
    ----------
    rows : iterable of sequence
        Cells, shown by ``str``.
    header : sequence of str, optional
        Titles of the columns.
    """
    every = list(rows)
    head = "".join(f"<th style='text-align:left'>{_escaped(each)}</th>" for each in header)
    lines = [f"<tr>{head}</tr>"] if header else []
    for row in every[:MOST_ROWS]:
        lines.append(f"<tr>{''.join(f'<td style={_LEFT!r}>{_escaped(each)}</td>' for each in row)}</tr>")
    rest = len(every) - MOST_ROWS
    if rest > 0:
        lines.append(f"<tr><td colspan='9' style={_LEFT!r}>and {rest:,} more</td></tr>")
    return f"<table>{''.join(lines)}</table>"


def folded(title: object, inner: str) -> str:
    """HTML below a title that opens it."""
    return f"<details><summary>{_escaped(title)}</summary>{inner}</details>"


def titled(title: object, *parts: str) -> str:
    """HTML below a title."""
    return f"<div><b>{_escaped(title)}</b>{''.join(parts)}</div>"


class SummaryShown(ABC):
    """A report that is shown by its `summary`: the first line in ``repr``, all lines in a notebook."""

    __slots__ = ()

    @abstractmethod
    def summary(self) -> str:
        """The report as a few lines of text."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.summary().partition(chr(10))[0]}>"

    def _repr_html_(self) -> str:
        first, _, rest = self.summary().partition("\n")
        lines = f"<pre style='margin:0'>{_escaped(rest)}</pre>" if rest else ""
        return titled(f"{type(self).__name__}: {first}", lines)


_LEFT = "text-align:left"


def _escaped(value: object) -> str:
    return html.escape(str(value))
