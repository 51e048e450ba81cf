"""A configuration file → its model, or messages that say where, what was found and what was expected.

What may stand in a configuration is the subject of `flows.index_config`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import ScalarEvent

from shadowzarr.errors import ConfigError

from .config_messages import Explainer, nearest
from .index_command import ARGUMENTS, PLACE
from .index_config import long_form
from .models import FLOWS, AnyConfig

Location = tuple[int | str, ...]

FLAGS = {"redo.force": "--force", "redo.only_failed": "--only-failed", "redo.since": "--since"}
"""Keys that the command line has a flag of its own for."""

_HINTS = {
    "'\\t' that cannot start any token": "use spaces in place of tabs",
    "mapping values are not allowed": "check the indentation",
    "expected <block end>": "check the indentation",
    "expected '<document start>'": "check the indentation",
}
"""What to do about what YAML says, by a part of it."""
_TWICE = re.compile(r'found duplicate key "(.*?)"', re.DOTALL)


def load_config(path: str | Path, *, changes: Sequence[str] = (), text: str | None = None) -> AnyConfig:
    """Read a configuration.

    Parameters
    ----------
    path : str or Path
        A YAML file.
    changes : sequence of str
        Values from the command line, as ``output.folder=out``; they win over the file's.
    text : str, optional
        The configuration itself; ``path`` then is what messages call it.

    Raises
    ------
    ConfigError
        With one line for everything that is wrong, each with file and line.
    """
    place = Path(path)
    text = _read(place) if text is None else text
    document = _parse(place, text)
    positions = _Positions(place, text, document)
    values = _plain(document)
    for change in changes:
        positions.changed.append(_apply(values, change))
    model = _model(values, positions)
    try:
        return model.model_validate(values).read_from(str(path))
    except ValidationError as error:
        explainer = Explainer(model, values)
        problems = sorted(error.errors(include_url=False), key=lambda each: positions.line(each["loc"]))
        lines = [_line(problem, explainer, positions) for problem in problems]
        raise ConfigError("\n".join(dict.fromkeys(lines))) from None


class _Positions:
    """Where in the file, or on the command line, a value stands."""

    def __init__(self, path: Path, text: str, document: CommentedMap) -> None:
        self._path = path
        self._written = _written_scalars(text)
        self._document = document
        self.changed: list[Location] = []

    def where(self, location: Location) -> str:
        """Name the place of a value; of what encloses it when it is not there."""
        if location and location in self.changed:
            name = ".".join(map(str, location))
            return f"command line, {FLAGS[name]} ({name})" if name in FLAGS else f"command line, --set {name}"
        if str(self._path) == PLACE:
            return f"{PLACE}, {ARGUMENTS[location]}" if location in ARGUMENTS else PLACE
        return f"{self._path}:{self.line(location)}"

    def is_named(self, location: Location) -> bool:
        """Whether `where` names the value itself, as the user wrote it."""
        return location in self.changed or (str(self._path) == PLACE and location in ARGUMENTS)

    def raw(self, location: Location) -> str | None:
        """Return a scalar as it was written."""
        parent, position = self._enclosing(location)
        if not location or parent is None or position is None or self.is_named(location):
            return None
        value = parent[location[-1]]
        if isinstance(value, (CommentedMap, CommentedSeq)):
            return None
        return self._written.get(position)

    def line(self, location: Location) -> int:
        """Return the line of a value, from 1, or of what encloses it."""
        for length in range(len(location), 0, -1):
            parent, position = self._enclosing(location[:length], of_key=True)
            if parent is not None and position is not None:
                return position[0] + 1
        return 1

    def _enclosing(self, location: Location, *, of_key: bool = False) -> tuple[Any, tuple[int, int] | None]:
        node: Any = self._document
        for part in location[:-1]:
            node = _child(node, part)
        if not location or _child(node, location[-1], _ABSENT) is _ABSENT:
            return None, None
        position = node.lc.data.get(location[-1])
        if position is None:
            return node, None
        is_value = isinstance(node, CommentedMap) and not of_key
        return node, tuple(position[2:4]) if is_value else tuple(position[:2])


_ABSENT = object()


def _written_scalars(text: str) -> dict[tuple[int, int], str]:
    """Find every scalar of a document as it is written, by line and column, both from 0."""
    scalars = (event for event in YAML(typ="rt").parse(text) if isinstance(event, ScalarEvent))
    return {
        (event.start_mark.line, event.start_mark.column): " ".join(
            text[event.start_mark.index : event.end_mark.index].split()
        )
        for event in scalars
    }


def _child(node: Any, part: int | str, default: Any = None) -> Any:
    if isinstance(node, Mapping):
        return node.get(part, default)
    if isinstance(node, list) and isinstance(part, int) and part < len(node):
        return node[part]
    return default


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        beside = [p.name for p in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
        close = nearest(path.name, beside)
        hint = f"; did you mean {path.parent / close}?" if close else ""
        raise ConfigError(f"{path}: there is no such file{hint}") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: found a folder, expected a YAML file") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: found bytes that are not UTF-8, expected a YAML file") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None


def _parse(path: Path, text: str) -> CommentedMap:
    try:
        document = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark is not None else ""
        problem = " ".join(str(error.problem or error.context).split())
        raise ConfigError(f"{path}{line}: {_syntax_problem(problem)}") from None
    except YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(document, CommentedMap):
        found = "nothing" if document is None else f"a {type(document).__name__.lower()}"
        found = {"a commentedseq": "a list", "a str": "text"}.get(found, found)
        raise ConfigError(f"{path}:1: found {found}, expected keys and values that begin with flow:")
    return document


def _syntax_problem(problem: str) -> str:
    """Say what is wrong with the text; a key that is there twice without its values, which may be secrets."""
    twice = _TWICE.match(problem)
    if twice is not None:
        return f"the key {twice[1]} is there twice; keep one"
    hint = next((f"; {hint}" for part, hint in _HINTS.items() if part in problem), "")
    return f"not YAML: {problem}{hint}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def _apply(values: dict[str, Any], change: str) -> Location:
    name, is_given, text = change.partition("=")
    parts: list[int | str] = [int(part) if part.isdecimal() else part for part in name.strip().split(".")]
    if not is_given or not all(str(part) for part in parts):
        raise ConfigError(f"command line, --set {change}: expected KEY=VALUE, such as output.folder=out")
    node: Any = values
    for depth, (part, following) in enumerate(itertools.pairwise(parts), 1):
        _lengthen(node, tuple(parts[:depth]), change, replaced=following)
        node = _enter(node, part, change, is_list=isinstance(following, int))
    if isinstance(node, list) and not (isinstance(parts[-1], int) and parts[-1] < len(node)):
        raise ConfigError(f"command line, --set {change}: the list has {len(node)} entries, counted from 0")
    try:
        # Quotes around digits get lost in shells, so an identifier is text here with or without them.
        is_identifier = parts[-1] == "id" and text.isdecimal()
        node[parts[-1]] = text if is_identifier else _plain(YAML(typ="safe").load(text))
    except (YAMLError, TypeError):
        raise ConfigError(f"command line, --set {change}: found {text!r}, expected a YAML value") from None
    return tuple(parts)


def _lengthen(node: Any, location: Location, change: str, *, replaced: int | str) -> None:
    """Put the whole section in place of its short form, as ``output: out`` is one of ``output.folder``."""
    found = _child(node, location[-1], _ABSENT)
    if found is _ABSENT:
        return
    try:
        node[location[-1]] = long_form(location, found, replaced=replaced)
    except ValueError as error:
        expected = str(error).partition("|")[0]
        raise ConfigError(
            f"command line, --set {change}: the file's {location[-1]} is {found!r}, {expected}"
        ) from None


def _enter(node: Any, part: int | str, change: str, *, is_list: bool) -> Any:
    if isinstance(node, list) and isinstance(part, int) and part < len(node):
        found = node[part]
    elif isinstance(node, dict):
        found = node.setdefault(part, [] if is_list else {})
    else:
        found = None
    if isinstance(found, (dict, list)):
        return found
    raise ConfigError(f"command line, --set {change}: {part} is no section that holds more")


def _model(values: Mapping[str, Any], positions: _Positions) -> type[AnyConfig]:
    if "flow" not in values:
        close = nearest("flow", map(str, values))
        hint = f"; did you mean it by {close}?" if close else ""
        raise ConfigError(
            f"{positions.where(())}: flow: missing; expected the name of a flow: {_names(FLOWS)}{hint}"
        )
    found = values["flow"]
    if found in FLOWS:
        return FLOWS[found]
    close = nearest(str(found), FLOWS)
    hint = f"; did you mean {close}?" if close else ""
    raise ConfigError(f"{positions.where(('flow',))}: flow: found {found!r}, expected {_names(FLOWS)}{hint}")


def _names(names: Iterable[str]) -> str:
    return " or ".join(names)


def _line(problem: Any, explainer: Explainer, positions: _Positions) -> str:
    location: Location = problem["loc"]
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".")
    is_named = positions.is_named(location)
    explanation = explainer.explain(problem, raw=positions.raw(location), is_argument=is_named)
    if is_named:
        name = ""  # where it stands is named by it
    return ": ".join(filter(None, (positions.where(location), name, explanation)))
