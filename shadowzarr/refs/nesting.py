"""How deep JSON is nested, found without recursion: what is deeper than people write is refused. Pure."""

from __future__ import annotations

from typing import Any

MOST_NESTED = 100
"""Lists and objects within each other: HDF5 has 32 axes, and compounds in compounds a few more."""


def is_too_deep(value: Any, most: int = MOST_NESTED) -> bool:
    """Whether lists and objects lie in each other deeper than that.

    Parameters
    ----------
    value
        Parsed JSON.
    most : int, optional
        The limit.
    """
    level = [value]
    for _ in range(most + 1):
        level = [item for part in level if isinstance(part, dict | list) for item in _items(part)]
        if not level:
            return False
    return True


def _items(part: dict[str, Any] | list[Any]) -> list[Any]:
    held = part.values() if isinstance(part, dict) else part
    return [item for item in held if isinstance(item, dict | list)]
