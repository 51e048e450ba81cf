"""How the command names what references leave out."""

from __future__ import annotations

from collections.abc import Iterable


def left_out_lines(entries: Iterable[tuple[str, str, str]], *, limit: int | None = None) -> list[str]:
    """One line for each object that is left out.

    Parameters
    ----------
    entries : iterable of (path, kind, reason)
        What is left out.
    limit : int, optional
        How many lines to give at most; the last one then says how many there are besides.
    """
    lines = [f"left out: {kind} {_absolute(path)}: {reason}" for path, kind, reason in entries]
    if limit is not None and len(lines) > limit:
        return [*lines[:limit], f"left out: {len(lines) - limit:,} more"]
    return lines


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"
