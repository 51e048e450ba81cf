"""Names of NeuroConv's interfaces, read from its source: importing NeuroConv takes seconds."""

from __future__ import annotations

import ast
import difflib
import functools
import importlib.util
from pathlib import Path

from .._optional import require_installed
from ..errors import UsageError

_MODULES = ("datainterfaces", "converters")
_ENDINGS = ("Interface", "Converter", "ConverterPipe")


@functools.cache
def interface_modules() -> dict[str, str]:
    """Interfaces and converters of the NeuroConv that is installed: their modules, by their names.

    Raises
    ------
    MissingDependencyError
        When it is not installed.
    """
    require_installed("neuroconv", extra="neuroconv")
    spec = importlib.util.find_spec("neuroconv")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    found: dict[str, str] = {}
    for folder in folders:
        for module in _MODULES:
            for name in _imported(Path(folder, module, "__init__.py")):
                found.setdefault(name, f"neuroconv.{module}")
    return found


def check_interface(name: str) -> None:
    """Refuse a name that NeuroConv does not know.

    Raises
    ------
    UsageError
        With the nearest name.
    """
    known = interface_modules()
    if name in known:
        return
    folded = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    hint = f"; did you mean {folded[close[0]]}?" if close else ""
    raise UsageError(f"NeuroConv has no interface {name!r}{hint}")


def _imported(module: Path) -> list[str]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    names = (alias.asname or alias.name for node in imports for alias in node.names)
    return [name for name in names if name.endswith(_ENDINGS)]
