"""Numbers as they stand in the tables (pure)."""

from __future__ import annotations

MB = 1e6


def seconds(value: float) -> str:
    """Two figures below ten, whole numbers above 100."""
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def ratio(value: float) -> str:
    """One decimal below ten; two below one."""
    if value >= 10:
        return f"{value:.0f} ×"
    return f"{value:.1f} ×" if value >= 0.95 else f"{value:.2f} ×"


def megabytes(nbytes: int) -> str:
    """Of 10⁶ bytes."""
    value = nbytes / MB
    if value >= 10:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def depth(waiting: int, rounds: int) -> str:
    """The serial depth, and in brackets the rounds where waiting for a free place adds to it."""
    return f"{waiting}" if waiting == rounds else f"{waiting} ({rounds})"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table whose first column is text and whose others are numbers."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
