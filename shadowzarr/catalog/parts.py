"""A run that is done in parts, each by a run of its own, perhaps on a machine that sees the same folder.

The run and its parts share the lock of the output, so that no other run is there, and hold a lock of their
own each: one run in parts at a time, each part once. A part indexes and publishes the assets of one dandiset,
folder or manifest. Everything about the output as a whole is done by the run, which also does what its parts
leave undone: it takes over their locks.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ..errors import OutputBusyError, UsageError
from .folder_output import remove
from .layout import OutputLayout
from .lock import is_held, output_lock
from .publish import clear_staging

TAKE_SECONDS = 5.0
"""How long a lock is tried for that somebody may just look at."""
_RUN = ".run"
"""The place of the run among those of its parts, whose names begin otherwise."""


@contextlib.contextmanager
def held_in_parts(layout: OutputLayout) -> Iterator[None]:
    """Hold an output for a run whose parts are done by others.

    Raises
    ------
    OutputBusyError
        When another run holds it.
    OutputError
        When it cannot be written.
    UsageError
        When it is no folder.
    """
    with _sharing(layout), output_lock(_lock(layout, _RUN), output=layout.title):
        yield


@contextlib.contextmanager
def held_part(layout: OutputLayout, name: str) -> Iterator[None]:
    """Hold a part of an output, ``name`` being that of a dandiset, folder or manifest; errors as above."""
    lock, deadline = _lock(layout, name), time.monotonic() + TAKE_SECONDS
    with _sharing(layout), contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(output_lock(lock, output=f"{name} in {layout.title}"))
                break
            except OutputBusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        yield


@contextlib.contextmanager
def taken_over(layouts: Iterable[OutputLayout], names: Iterable[str]) -> Iterator[set[str]]:
    """Hold parts that nobody is at work on, in every output; gives their names."""
    free, places = set(), list(layouts)
    with contextlib.ExitStack() as stack:
        for name in names:
            with contextlib.suppress(OutputBusyError):
                for layout in places:
                    stack.enter_context(held_part(layout, name))
                free.add(name)
        yield free


def is_at_work(layout: OutputLayout, name: str) -> bool:
    """Whether a process holds a part."""
    return is_held(_lock(layout, name))


def clear_parts(layout: OutputLayout) -> None:
    """Remove what parts left in an output that is held for one run."""
    room = _room(layout)
    for place in sorted(room.iterdir()) if room.is_dir() else ():
        clear_staging(replace(layout, part=place.name))
    remove(room)


def _sharing(layout: OutputLayout) -> contextlib.AbstractContextManager[None]:
    if layout.bucket is not None:
        raise UsageError(f"{layout.title} is in a bucket; a run in parts needs an output in a folder")
    return output_lock(layout.lock, is_shared=True)


def _room(layout: OutputLayout) -> Path:
    return layout.workings / "parts"


def _lock(layout: OutputLayout, name: str) -> Path:
    return _room(layout) / name / "lock"
