"""What a caller hears while a document of others is made ours."""

from __future__ import annotations

from collections.abc import Callable

NodeProgress = Callable[[str, int, int], None]
"""Hears the path of a group or array, how many are done, and how many there will be."""


def unheard(path: str, done: int, total: int) -> None:
    """What hears of progress when nobody asked for it."""
