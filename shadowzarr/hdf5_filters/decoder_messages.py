"""What the reader's process and a decoder process say to each other: a head of fixed size, then bytes.

A request is an operation on a chunk behind filters; an answer is a chunk, or an error's kind and message.
Nothing that a decoder says is unpickled: a damaged chunk may have got hold of it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from ..errors import (
    DamagedSourceError,
    InvalidReferencesError,
    MissingDependencyError,
    ShadowzarrError,
    UnsupportedError,
)
from .names import Filters

DECODE, ENCODE = 1, 2
READY, CHUNK, FAILED = 1, 2, 3
"""Kinds of answer; those from `FAILED` on are errors, in the order of `ERRORS`."""

ERRORS: Final[tuple[type[ShadowzarrError], ...]] = (
    DamagedSourceError,
    InvalidReferencesError,
    MissingDependencyError,
    UnsupportedError,
)
"""All that a pipeline raises of its own accord."""

_REQUEST, _ANSWER = struct.Struct("<BIQQ"), struct.Struct("<BQ")

ReadInto = Callable[[memoryview], int | None]
"""``readinto`` of an unbuffered pipe."""


class EndedError(Exception):
    """The other side has closed the pipe."""


class Request(NamedTuple):
    """Decode or encode one chunk.

    Attributes
    ----------
    operation : int
        `DECODE` or `ENCODE`.
    filters : tuple of (int, tuple of int)
        Numbers and client data values.
    nbytes : int
        Bytes of the decoded chunk.
    data : bytes-like
        The stored chunk, or the decoded one.
    """

    operation: int
    filters: Filters
    nbytes: int
    data: memoryview


def write_request(write: Callable[[memoryview], int | None], request: Request) -> None:
    """Send a request."""
    filters = _packed(request.filters)
    head = _REQUEST.pack(request.operation, len(filters), request.nbytes, len(request.data))
    _write(write, memoryview(head + filters))
    _write(write, request.data)


def read_request(readinto: ReadInto) -> Request:
    """Wait for a request.

    Raises
    ------
    EndedError
        When there will be none.
    """
    operation, size, nbytes, length = _REQUEST.unpack(_read(readinto, _REQUEST.size))
    filters = _unpacked(bytes(_read(readinto, size)))
    return Request(operation, filters, nbytes, _read(readinto, length))


def write_answer(write: Callable[[memoryview], int | None], kind: int, content: memoryview) -> None:
    """Send an answer."""
    _write(write, memoryview(_ANSWER.pack(kind, len(content))))
    _write(write, content)


def read_answer(readinto: ReadInto, most: int) -> tuple[int, memoryview]:
    """Wait for an answer: its kind, and a chunk or the text of an error.

    Parameters
    ----------
    readinto : callable
        Of the pipe.
    most : int
        Bytes that the answer may have.

    Raises
    ------
    EndedError
        When there will be none, or one that cannot be true.
    """
    kind, length = _ANSWER.unpack(_read(readinto, _ANSWER.size))
    if not READY <= kind < FAILED + len(ERRORS) or length > most:
        raise EndedError
    return kind, _read(readinto, length)


@lru_cache(maxsize=64)
def _packed(filters: Filters) -> bytes:
    return json.dumps(filters).encode()


@lru_cache(maxsize=64)
def _unpacked(content: bytes) -> Filters:
    return tuple((number, tuple(values)) for number, values in json.loads(content))


def _write(write: Callable[[memoryview], int | None], content: memoryview) -> None:
    while content:
        content = content[write(content) or 0 :]


def _read(readinto: ReadInto, length: int) -> memoryview:
    content = memoryview(bytearray(length))
    rest = content
    while rest:
        count = readinto(rest)
        if not count:
            raise EndedError
        rest = rest[count:]
    return content
