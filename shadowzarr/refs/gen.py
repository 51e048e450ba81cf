"""Gen entries: many evenly spaced references written as one rule.

A rule is kerchunk's ``{"key": "a/c/{{i}}", "url": "{{u0}}", "offset": "{{2048 + i * 64}}",
"length": "64", "dimensions": {"i": {"stop": 58}}}``. Kerchunk evaluates it with a template engine;
here a parser of our own knows integers, the dimensions' names, ``+ - * // %`` and parentheses, so
that a document cannot run code. A rule is evaluated for the one chunk that is asked for.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidReferencesError
from . import templates as url_templates
from .byte_range import ChunkLocation
from .chunk_key import chunk_key
from .document import Dimension, GenEntry
from .node_checks import LARGEST

_EXPRESSION = re.compile(r"\{\{(.*?)\}\}")
_MAX_EXPRESSION = 500
MOST_LISTED = 2**24
"""Chunks up to which a rule is expanded: 16 million, in slabs of 4 MiB a dataset of 64 TiB."""
_KEY = re.compile(r"^(?:(?P<path>.*)/)?c(?P<coordinates>(?:/[^/]+)*)$", re.DOTALL)
_NAME = re.compile(r"^\{\{\s*([A-Za-z_]\w*)\s*\}\}$")


def array_path(entry: GenEntry) -> str:
    """Path of the array whose chunks the rule gives."""
    return parse_key(entry["key"])[0]


def location_at(
    entry: GenEntry, templates: Mapping[str, str], coordinates: tuple[int, ...]
) -> ChunkLocation | None:
    """Where a chunk is by this rule, or None when the rule does not reach it.

    Parameters
    ----------
    entry : GenEntry
        The rule.
    templates : mapping of str to str
        The document's templates.
    coordinates : tuple of int
        Chunk coordinates in the array that `array_path` names.

    Raises
    ------
    InvalidReferencesError
        When the rule cannot be understood.
    """
    values = _solve(entry, coordinates)
    return None if values is None else _location(entry, templates, values)


def expand(entry: GenEntry, templates: Mapping[str, str]) -> Iterator[tuple[str, ChunkLocation]]:
    """Every key the rule gives, with its location, last dimension fastest.

    Raises
    ------
    InvalidReferencesError
        When there are more than `MOST_LISTED`, or the rule cannot be understood.
    """
    _refuse_many(entry)
    path, parts = parse_key(entry["key"])
    names = list(entry["dimensions"])
    ranges = [dimension_range(entry["dimensions"][name]) for name in names]
    for numbers in itertools.product(*ranges):
        values = dict(zip(names, numbers, strict=True))
        coordinates = tuple(part if isinstance(part, int) else values[part] for part in parts)
        yield chunk_key(path, coordinates), _location(entry, templates, values)


def table(
    entry: GenEntry,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64] | None, npt.NDArray[np.uint64] | None]:
    """Every chunk the rule gives, as arrays, in the order of `expand`.

    Returns
    -------
    coordinates : numpy.ndarray
        int64 of shape (chunks, axes).
    offsets, lengths : numpy.ndarray or None
        uint64 of shape (chunks,), in bytes; None when the chunks are whole files.

    Raises
    ------
    InvalidReferencesError
        As `expand` does.
    """
    _refuse_many(entry)
    _, parts = parse_key(entry["key"])
    names = list(entry["dimensions"])
    ranges = [dimension_range(entry["dimensions"][name]) for name in names]
    shape = tuple(map(len, ranges))
    # Of Python's integers, which have no end: what lies between may be larger than 64 bits hold.
    axes = np.meshgrid(*[np.array(numbers, dtype=object) for numbers in ranges], indexing="ij", sparse=True)
    values = dict(zip(names, axes, strict=True))

    def flat(value: Any) -> npt.NDArray[np.object_]:
        return np.broadcast_to(np.asarray(value, dtype=object), shape).ravel()

    columns = [flat(part if isinstance(part, int) else values[part]) for part in parts]
    coordinates = np.array(columns, dtype=np.int64).reshape(len(parts), math.prod(shape)).T
    if "offset" not in entry or "length" not in entry:
        return coordinates, None, None
    offsets, lengths = (flat(_number(entry[end], values)) for end in ("offset", "length"))
    wrong = (offsets < 0) | (lengths < 0) | (offsets + lengths > LARGEST)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        raise _no_place(entry, offsets[first], lengths[first])
    return coordinates, offsets.astype(np.uint64), lengths.astype(np.uint64)


def count(entry: GenEntry) -> int:
    """How many references the rule stands for."""
    ranges = map(dimension_range, entry["dimensions"].values())
    return math.prod(max(0, -((r.start - r.stop) // r.step)) for r in ranges)  # len() ends at 2**63


def check(entry: GenEntry) -> None:
    """Refuse a rule that cannot be evaluated: its first and last chunk are.

    The types of its parts are right already.

    Raises
    ------
    InvalidReferencesError
        With the rule and what is wrong with it.
    """
    used = {part for part in parse_key(entry["key"])[1] if isinstance(part, str)}
    dimensions = entry["dimensions"]
    for name in sorted(used ^ set(dimensions)):
        does = "uses" if name in used else "does not use"
        has = "is none of its dimensions" if name in used else "is one of its dimensions"
        raise InvalidReferencesError(f"gen entry {entry['key']!r}: its key {does} {name!r}, which {has}")
    if count(entry) and "offset" in entry:
        ranges = {name: dimension_range(dimension) for name, dimension in dimensions.items()}
        for end in (0, -1):
            _place(entry, {name: _end(numbers, end) for name, numbers in ranges.items()})


def ndim(entry: GenEntry) -> int:
    """How many coordinates the rule's chunks have."""
    return len(parse_key(entry["key"])[1])


def evaluate(expression: str, values: Mapping[str, Any]) -> Any:
    """Value of an integer expression over the dimensions' names.

    The names stand for integers, or for arrays of them that fit each other; then so is the value.

    Raises
    ------
    InvalidReferencesError
        For anything but integers, known names, ``+ - * // %`` and parentheses.
    """
    return _evaluate(parse_expression(expression), values, expression)


def _solve(entry: GenEntry, coordinates: tuple[int, ...]) -> dict[str, int] | None:
    """Values of the dimensions that make the key's coordinates these, if there are any."""
    _, parts = parse_key(entry["key"])
    if len(parts) != len(coordinates):
        return None
    values: dict[str, int] = {}
    for part, coordinate in zip(parts, coordinates, strict=True):
        if isinstance(part, int):
            if part != coordinate:
                return None
        elif values.setdefault(part, coordinate) != coordinate:
            return None
    for name, dimension in entry["dimensions"].items():
        if name not in values:
            raise InvalidReferencesError(f"gen entry {entry['key']!r}: its key does not use {name!r}")
        if values[name] not in dimension_range(dimension):
            return None
    return values


def _location(entry: GenEntry, templates: Mapping[str, str], values: Mapping[str, int]) -> ChunkLocation:
    url = url_templates.expand(entry["url"], templates)
    if "offset" not in entry or "length" not in entry:
        return ChunkLocation(url)
    return ChunkLocation(url, *_place(entry, values))


def _place(entry: GenEntry, values: Mapping[str, int]) -> tuple[int, int]:
    offset, length = _number(entry["offset"], values), _number(entry["length"], values)
    if offset < 0 or length < 0 or offset + length > LARGEST:
        raise _no_place(entry, offset, length)
    return offset, length


def _no_place(entry: GenEntry, offset: int, length: int) -> InvalidReferencesError:
    return InvalidReferencesError(f"gen entry {entry['key']!r} gives offset {offset}, length {length}")


def _refuse_many(entry: GenEntry) -> None:
    if count(entry) > MOST_LISTED:
        raise InvalidReferencesError(
            f"gen entry {entry['key']!r} stands for {count(entry):,} chunks; no more than {MOST_LISTED:,} "
            "are listed one by one"
        )


def _end(numbers: range, end: int) -> int:
    """First (0) or last (-1) number of a range that is not empty, and may be longer than `len` can say."""
    if end == 0:
        return numbers.start
    return numbers.start + (numbers.stop - 1 - numbers.start) // numbers.step * numbers.step


def _number(template: str | int, values: Mapping[str, Any]) -> Any:
    return evaluate(inner_expression(template), values)


def inner_expression(template: str | int) -> str:
    """The expression of a template that is one in braces; else the template is one itself."""
    text = str(template)
    match = _EXPRESSION.fullmatch(text.strip())
    return match[1] if match else text


@lru_cache(maxsize=1024)
def parse_key(key: str) -> tuple[str, tuple[int | str, ...]]:
    """Path of the array, and for each axis a coordinate or the name of a dimension."""
    match = _KEY.match(key)
    if match is None:
        raise InvalidReferencesError(f"gen entry {key!r}: the key is not <array>/c/<coordinates>")
    parts: list[int | str] = []
    for part in match["coordinates"].split("/")[1:]:
        name = _NAME.match(part)
        if name is not None:
            parts.append(name[1])
        elif part.isascii() and part.isdigit():
            parts.append(int(part))
        else:
            raise InvalidReferencesError(
                f"gen entry {key!r}: {part!r} is neither a number nor one dimension's name in braces"
            )
    return match["path"] or "", tuple(parts)


def dimension_range(dimension: Dimension) -> range:
    """The numbers of a dimension."""
    return range(dimension.get("start", 0), dimension["stop"], dimension.get("step", 1))


@lru_cache(maxsize=1024)
def parse_expression(expression: str) -> ast.expr:
    """An expression as a tree."""
    if len(expression) > _MAX_EXPRESSION:
        raise InvalidReferencesError(f"gen expression of {len(expression)} characters: too long")
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InvalidReferencesError(f"gen expression {expression!r}: {error}") from error


def _evaluate(node: ast.expr, values: Mapping[str, Any], expression: str) -> Any:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, values, expression)
        case ast.BinOp(left=left, op=op, right=right):
            return _operate(
                op, _evaluate(left, values, expression), _evaluate(right, values, expression), expression
            )
        case _:
            raise InvalidReferencesError(
                f"gen expression {expression!r}: only integers, {', '.join(values) or 'no names'}, "
                "+ - * // % and parentheses are allowed"
            )


def _operate(op: ast.operator, left: Any, right: Any, expression: str) -> Any:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv() if np.all(right):
            return left // right
        case ast.Mod() if np.all(right):
            return left % right
        case _:
            raise InvalidReferencesError(f"gen expression {expression!r}: only + - * // % are allowed")
