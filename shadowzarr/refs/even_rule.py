"""Gen entries whose offsets grow evenly: recognised without evaluating them chunk by chunk. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .document import GenEntry
from .gen import count, dimension_range, inner_expression, parse_expression, parse_key


@dataclass(frozen=True, slots=True)
class EvenRule:
    """A rule by which offsets grow evenly along each axis of the chunk grid, and lengths do not.

    Attributes
    ----------
    start, length : int
        Offset of the chunk at the first coordinates, and bytes of each chunk.
    coordinates : tuple of range
        Along each axis: those that the rule gives.
    strides : tuple of int
        Along each axis: bytes from one coordinate to the next that the rule gives.
    """

    start: int
    length: int
    coordinates: tuple[range, ...]
    strides: tuple[int, ...]


def even_rule(entry: GenEntry) -> EvenRule | None:
    """A rule as `EvenRule`; None when it is another kind of rule, or for whole files.

    Raises
    ------
    InvalidReferencesError
        When the rule cannot be understood.
    """
    _, parts = parse_key(entry["key"])
    names = [part for part in parts if isinstance(part, str)]
    dimensions = {name: dimension_range(dimension) for name, dimension in entry["dimensions"].items()}
    if "offset" not in entry or sorted(names) != sorted(dimensions) or count(entry) == 0:
        return None
    offset, length = (_linear(entry[key], tuple(dimensions)) for key in ("offset", "length"))
    if offset is None or length is None or any(length.get(name) for name in dimensions):
        return None
    first = {name: numbers[0] for name, numbers in dimensions.items()}
    return EvenRule(
        offset.get("", 0) + sum(offset.get(name, 0) * number for name, number in first.items()),
        length.get("", 0),
        tuple(range(part, part + 1) if isinstance(part, int) else dimensions[part] for part in parts),
        tuple(0 if isinstance(part, int) else offset.get(part, 0) * dimensions[part].step for part in parts),
    )


def _linear(template: str | int, names: tuple[str, ...]) -> dict[str, int] | None:
    """Coefficients of an expression by name, the constant by ""; None when it is not a sum of multiples."""
    return _coefficients(parse_expression(inner_expression(template)), names)


def _coefficients(node: ast.expr, names: tuple[str, ...]) -> dict[str, int] | None:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return {"": number}
        case ast.Name(id=name) if name in names:
            return {name: 1}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(_coefficients(operand, names), -1)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=right):
            one, other = _coefficients(left, names), _coefficients(right, names)
            if one is None or other is None:
                return None
            if isinstance(op, ast.Mult):
                constant, rest = (one, other) if set(one) <= {""} else (other, one)
                return _scaled(rest, constant.get("", 0)) if set(constant) <= {""} else None
            other = other if isinstance(op, ast.Add) else {name: -value for name, value in other.items()}
            return {name: one.get(name, 0) + other.get(name, 0) for name in {*one, *other}}
    return None


def _scaled(coefficients: dict[str, int] | None, factor: int) -> dict[str, int] | None:
    return None if coefficients is None else {name: factor * value for name, value in coefficients.items()}
