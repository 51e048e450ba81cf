"""Where a new store is made, so that nobody takes a part of it for the whole.

A folder or a zip file is made in a folder beside it, ``<name>.partial``, and renamed when it is complete.
Below an S3 prefix all chunks come first and the root's metadata last; until then there is nothing to open. In
an Icechunk session all is seen at once, by the commit. What a run that ended early has written is found
again by the next with the same references and layout: chunks appear whole or not at all in all these places.
"""

from __future__ import annotations

import contextlib
import re
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from zarr.abc.store import Store

from .target import NOTHING

OTHERS = (
    "{} holds what an earlier run has written from other references, or with another layout; remove it, or "
    "name another place"
)
"""What is told of a place where something else was begun."""
NOTE = "shadowzarr-materialize.json"
"""The key of the note in a store that is being filled."""
LEFT_BY_ZARR = re.compile(r"\.[0-9a-f]{32}\.partial$")
"""Names of files that zarr's local store had not renamed when its process was killed."""
_GO_ON = ", and the same call goes on from there"
_REMOVE = ": remove it, or name another place, to materialize references that are made anew"


class Place(ABC):
    """Where a store is made.

    Attributes
    ----------
    name : str
        What messages call it.
    store : zarr.abc.store.Store
        Where keys are written meanwhile.
    is_metadata_first : bool
        Whether nodes have to be there before their chunks.
    is_anywhere : bool
        Whether other processes, of other machines too, can write to a copy of the store.
    present : container of str
        Keys that an earlier run has written.
    """

    name: str
    store: Store
    is_metadata_first = False
    is_anywhere = False
    present: Container[str] = NOTHING

    @abstractmethod
    def begin(self, digest: str) -> None:
        """Make sure that there is room, and find what an earlier run has written of the same plan.

        Raises
        ------
        OutputError
            When something is there, or it cannot be written.
        """

    @abstractmethod
    def finish(self, *, verify: bool) -> None:
        """Make the store appear, once everything is written."""

    def scratch(self) -> Path | None:
        """A folder for files that are needed meanwhile, on the same disk; None for the usual one."""
        return None

    def give_up(self, own: Sequence[str]) -> bool:
        """After a failure, take away what was written when there is nothing of use in it.

        Parameters
        ----------
        own : sequence of str
            Prefixes of the keys of arrays whose values the references hold, so that they cost no reading.

        Returns
        -------
        bool
            Whether nothing is left.
        """
        return False

    def advice(self, *, is_changed: bool) -> str:
        """What to do after a failure that leaves something, or after one since a source has changed."""
        return ""

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other runs away."""
        yield


def going_on(*, is_changed: bool) -> str:
    """How to go on where something is written; differently since a source has changed."""
    return _REMOVE if is_changed else _GO_ON


def is_of_no_use(key: str, own: Sequence[str]) -> bool:
    """Whether a key is worth nothing to the next run; ``own`` as for `Place.give_up`."""
    return key == NOTE or key.startswith(tuple(own)) or bool(LEFT_BY_ZARR.search(key))
