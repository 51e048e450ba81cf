"""Templates of kerchunk's documents: ``{{u}}``, ``{{f(c='text')}}``, ``{{(i + 1) * 1000}}``.

A document from elsewhere must not run code, so this is no template engine: names, calls of templates with
constants or names, and the integer arithmetic of `gen.evaluate`. Anything else is refused by name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache

from ..errors import InvalidReferencesError
from .gen import evaluate

_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_DEEPEST = 8
"""Templates within templates."""


def render(text: str, templates: Mapping[str, str], values: Mapping[str, str | int], depth: int = 0) -> str:
    """A text with its expressions replaced.

    Parameters
    ----------
    text : str
        With expressions in double braces.
    templates : mapping of str to str
        The document's templates; one whose text has braces takes what it is called with.
    values : mapping of str to str or int
        What names stand for here, before templates.
    depth : int, optional
        How many templates this one lies in.

    Raises
    ------
    InvalidReferencesError
        For an expression that is not understood, or a name that the document does not have.
    """
    if "{{" not in text:
        return text
    if depth > _DEEPEST:
        raise InvalidReferencesError(f"the template {text[:60]!r} refers to itself, or lies too deep")
    return _EXPRESSION.sub(lambda match: str(_value(match[1].strip(), templates, values, depth)), text)


def _value(
    expression: str, templates: Mapping[str, str], values: Mapping[str, str | int], depth: int
) -> str | int:
    if expression in values:
        return values[expression]
    if expression in templates:
        return render(templates[expression], templates, values, depth + 1)
    match _parsed(expression):
        case ast.Name(id=name):
            raise InvalidReferencesError(
                f"the references use the template {name!r}, but the document has "
                f"{', '.join(sorted(templates)) or 'no templates'}"
            )
        case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords) if name in templates:
            given = {each.arg: _argument(each.value, values, expression) for each in keywords if each.arg}
            if len(given) == len(keywords):
                return render(templates[name], templates, given, depth + 1)
        case ast.BinOp() | ast.UnaryOp() | ast.Constant(value=int()):
            numbers: dict[str, int] = {
                name: value for name, value in values.items() if isinstance(value, int)
            }
            return int(evaluate(expression, numbers))
    raise _unknown(expression)


def _argument(node: ast.expr, values: Mapping[str, str | int], expression: str) -> str | int:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name) if name in values:
            return values[name]
        case _:
            raise _unknown(expression)


@lru_cache(maxsize=1024)
def _parsed(expression: str) -> ast.expr:
    try:
        return ast.parse(expression[:500], mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _unknown(expression) from None


def _unknown(expression: str) -> InvalidReferencesError:
    return InvalidReferencesError(
        f"the template expression {expression[:80]!r} is not understood: only names, calls with named "
        "arguments and integer arithmetic are; write the references out first, with what made them"
    )
