"""What a chunk index is refused for; whoever asked goes on with h5py's own walk, or without the dataset."""

from __future__ import annotations


class IndexRefusedError(Exception):
    """A chunk index that is not read here: of a kind or form that is not known. h5py may know it."""


class DamagedIndexError(IndexRefusedError):
    """A chunk index that contradicts itself or the file. h5py's walk of it says nothing of its lookups."""


def understood(condition: object, reason: str) -> None:
    """Refuse what is not known.

    Raises
    ------
    IndexRefusedError
        Unless the condition holds.
    """
    if not condition:
        raise IndexRefusedError(reason)


def sound(condition: object, reason: str) -> None:
    """Refuse what contradicts itself.

    Raises
    ------
    DamagedIndexError
        Unless the condition holds.
    """
    if not condition:
        raise DamagedIndexError(reason)
