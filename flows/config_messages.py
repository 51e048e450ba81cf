"""What is said about a value that does not fit its model: found, expected, and the nearest valid name.

Where the value stands is the subject of `flows.load_config`.
"""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, SecretStr
from pydantic.fields import FieldInfo

from .report.safe_text import safe_text

_KINDS = {dict: "a section", list: "a list", str: "text", bool: "true or false", type(None): "nothing"}
_FIELD_KINDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    SecretStr: "text",
    type(None): "null",
}
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a section",
    "model_type": "a section with keys",
    "model_attributes_type": "a section with keys",
    "string_too_short": "text that is not empty",
    "too_short": "at least one entry",
}
LONGEST_FOUND = 80
SECRET = ("notify",)
"""Where a URL that is a secret may stand, also by mistake."""
_SECTION_TYPES = ("model_type", "model_attributes_type")
_NUMBER_TYPES = ("int_type", "float_type")


class Explainer:
    """Explains the problems of one document.

    Parameters
    ----------
    model : type of BaseModel
        What the document should have been.
    values : mapping
        What it is.
    """

    def __init__(self, model: type[BaseModel], values: Mapping[str, Any]) -> None:
        self._model = model
        self._values = values

    def explain(
        self, problem: Mapping[str, Any], *, raw: str | None = None, is_argument: bool = False
    ) -> str:
        """Say what is wrong in half a sentence.

        Parameters
        ----------
        problem : mapping
            What pydantic says of it.
        raw : str, optional
            The value as it was written.
        is_argument : bool
            Whether it was written on a command line, where shells take quotes away.
        """
        location = problem["loc"]
        if problem["type"] == "extra_forbidden":
            return self._unknown_key(location)
        if problem["type"] == "missing":
            return f"missing; expected {self._kind(location)}: {self._description(location)}"
        if problem["type"] == "value_error":
            return self._refused(problem)
        found = "a value (not shown)" if location[:1] == SECRET else found_text(problem["input"], raw)
        if problem["type"] == "literal_error":
            return f"found {found}, expected {problem['ctx']['expected']}{self._literal_hint(problem)}"
        if _is_identifier(location, problem):
            quoted = "" if is_argument else " in quotes"
            return f'found {found}, expected six digits{quoted}, such as "000006"'
        if problem["type"] == "string_pattern_mismatch":
            return f"found {found}, expected {self._kind(location)}: {self._description(location)}"
        if problem["type"] in _NUMBER_TYPES and _is_quoted_number(problem["input"]):
            return f"found {found} (text), expected {_expected(problem)}; write it without quotes"
        message = f"found {found}, expected {_expected(problem)}{self._keys(location, problem)}"
        return message + self._quotes_hint(location, problem)

    def _keys(self, location: tuple[Any, ...], problem: Mapping[str, Any]) -> str:
        model = model_at(self._model, location) if problem["type"] in _SECTION_TYPES else None
        return f": {', '.join(model.model_fields)}" if model is not None else ""

    def _unknown_key(self, location: tuple[Any, ...]) -> str:
        name, model = str(location[-1]), model_at(self._model, location[:-1])
        valid = list(model.model_fields) if model is not None else []
        close = nearest(name, valid)
        if close:
            return f"unknown key; did you mean {close}?"
        elsewhere = [place for place in _places(self._model) if place[-1] == name]
        if elsewhere:
            return f"unknown key here; it belongs at {'.'.join(elsewhere[0])}"
        return f"unknown key; expected one of {', '.join(valid)}"

    def _kind(self, location: tuple[Any, ...]) -> str:
        field = field_at(self._model, location)
        return kind_text(field.annotation, field.metadata) if field is not None else "a value"

    def _description(self, location: tuple[Any, ...]) -> str:
        field = field_at(self._model, location)
        return field.description or "a value" if field is not None else "a value"

    def _literal_hint(self, problem: Mapping[str, Any]) -> str:
        choices = problem["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
        close = nearest(str(problem["input"]), choices)
        return f"; did you mean {close}?" if close else ""

    def _refused(self, problem: Mapping[str, Any]) -> str:
        expected, _, names = str(problem["ctx"]["error"]).partition("|")
        close = nearest(str(problem["input"]), names.strip("[]").replace("'", "").split(", "))
        hint = f"; did you mean {close}?" if close else ""
        found = f"found {found_text(problem['input'], None)}, " if problem["loc"] else ""
        return f"{found}{expected}{hint}"

    def _quotes_hint(self, location: tuple[Any, ...], problem: Mapping[str, Any]) -> str:
        is_number = isinstance(problem["input"], (int, float)) and not isinstance(problem["input"], bool)
        if problem["type"] != "string_type":
            return ""
        return f"; put it in quotes: {self._description(location)}" if is_number else ""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the valid name that was probably meant."""
    candidates = [candidate for candidate in names if candidate]
    found = difflib.get_close_matches(name.lower(), candidates, n=1, cutoff=0.6)
    return found[0] if found else None


def found_text(value: Any, raw: str | None) -> str:
    """Show a value, as it was written where that is known; of a URL nothing that may be a secret."""
    if isinstance(value, (dict, list)) or value is None:
        return _KINDS[type(value)]
    text = safe_text(raw if raw is not None else repr(value))
    text = text if len(text) <= LONGEST_FOUND else text[: LONGEST_FOUND - 1] + "…"
    kind = (
        "a number"
        if isinstance(value, (int, float)) and not isinstance(value, bool)
        else _KINDS.get(type(value))
    )
    return f"{text} ({kind})" if kind and not isinstance(value, str) else text


def kind_text(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    """Name the kind of value that a field takes: ``text``, ``a whole number or null``."""
    if any(isinstance(each, BeforeValidator) for each in metadata):  # a short form of the same
        return f"text or {kind_text(annotation)}"
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return kind_text(arguments[0], arguments[1:])
    if origin in (types.UnionType, typing.Union):
        return " or ".join(kind_text(each) for each in arguments)
    if origin is Literal:
        return " or ".join(map(str, arguments))
    if origin is list:
        return "a list"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "a section"
    return _FIELD_KINDS.get(annotation, "a value")


def _is_identifier(location: tuple[Any, ...], problem: Mapping[str, Any]) -> bool:
    """Whether text or a number stands where the identifier of a dandiset should."""
    is_there = location[:1] == ("dandisets",) and (len(location) == 2 or location[2:] == ("id",))
    return is_there and isinstance(problem["input"], (str, int, float))


def _is_quoted_number(value: Any) -> bool:
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False


def field_at(model: type[BaseModel], location: tuple[Any, ...]) -> FieldInfo | None:
    """Find the field that a location names, or encloses it when the last part is a position."""
    names = [part for part in location if isinstance(part, str)]
    parent = model_at(model, tuple(names[:-1])) if names else None
    return parent.model_fields.get(names[-1]) if parent is not None and names else None


def model_at(model: type[BaseModel], location: tuple[Any, ...]) -> type[BaseModel] | None:
    """Find the model of the section that a location names."""
    found: type[BaseModel] | None = model
    is_named = False
    for part in location:
        if isinstance(part, int) or found is None:
            continue
        if is_named:  # one of sections that have names of their own
            is_named = False
            continue
        field = found.model_fields.get(part)
        found = next(_models_in(field.annotation), None) if field is not None else None
        is_named = field is not None and _is_named(field.annotation)
    return found


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    if typing.get_origin(annotation) in (Annotated, list, dict, types.UnionType, typing.Union):
        for argument in typing.get_args(annotation):
            yield from _models_in(argument)


def _is_named(annotation: Any) -> bool:
    """Whether an annotation is that of sections by names of the user's choice."""
    return typing.get_origin(annotation) is dict and any(_models_in(annotation))


def _places(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        yield (*above, name)
        for inner in _models_in(field.annotation):
            yield from _places(inner, (*above, name))


def _expected(problem: Mapping[str, Any]) -> str:
    if problem["type"] in _EXPECTED:
        return _EXPECTED[problem["type"]]
    message = str(problem["msg"])
    return message.removeprefix("Input should be ").replace("a valid ", "a ")
