"""How the command names what references leave out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

MOST_LINES = 20
"""How many lines of a list are shown where the document has them all."""


def left_out_lines(
    entries: Iterable[tuple[str, str, str]], *, limit: int = MOST_LINES, where: str = "refs.json"
) -> list[str]:
    """One line for each object that is left out.

    Parameters
    ----------
    entries : iterable of (path, kind, reason)
        What is left out.
    limit : int, optional
        How many lines to give at most; one more then says how many there are besides.
    where : str, optional
        The document that names all.
    """
    lines = [f"left out: {kind} {_absolute(path)}: {reason}" for path, kind, reason in entries]
    return shortened(lines, limit=limit, rest=f'see "skipped" in {where}')


def shortened(lines: Sequence[str], *, limit: int = MOST_LINES, rest: str) -> list[str]:
    """The first lines, and one that says how many there are besides and where.

    Parameters
    ----------
    lines : sequence of str
        All of them.
    limit : int, optional
        How many to give.
    rest : str
        Where the rest is.
    """
    if len(lines) <= limit:
        return list(lines)
    return [*lines[:limit], f"... and {len(lines) - limit:,} more; {rest}"]


def document_name(refs: str) -> str:
    """The JSON document of references that were written to a path."""
    return refs if refs.endswith(".json") else str(PurePath(refs) / "refs.json")


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"
