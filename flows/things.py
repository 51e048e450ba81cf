"""What a flow works on, one after another, and how each that has ended is told to people and programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Things[R]:
    """The things of a run.

    Attributes
    ----------
    noun, plural : str
        What they are called; the former is the event of a JSON line, too.
    verb, doing : str
        What is done to them, as in "to check" and "checking".
    sizes : sequence of int
        Bytes of each, in no order; 0 where that is not known.
    size : callable
        Bytes of one that has ended.
    is_failed : callable
        Whether one that has ended is counted as a failure.
    line : callable
        What a person is told of one that has ended; nothing when that is nothing.
    event : callable
        What a program is told of it.
    passed_over : mapping of str to int
        Others, by the reason for which nothing is done to them.
    """

    noun: str
    plural: str
    verb: str
    doing: str
    sizes: Sequence[int]
    is_failed: Callable[[R], bool]
    line: Callable[[R], str]
    event: Callable[[R], dict[str, Any]]
    size: Callable[[R], int] = lambda ended: 0
    passed_over: Mapping[str, int] = field(default_factory=dict)
