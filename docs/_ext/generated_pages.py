"""Pages of the reference that are made from the code: the API, the command lines and the configurations."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

MODULES = (
    "shadowzarr.nwb",
    "shadowzarr.icechunk",
    "shadowzarr.virtualizarr",
    "shadowzarr.neuroconv_bridge",
    "shadowzarr.verify",
    "shadowzarr.doctor",
    "shadowzarr.testing",
)
"""Modules whose public names are promised beside those of the package itself."""


def write_all(folder: Path) -> None:
    """Write all pages into a folder; those that are unchanged keep their time and are not built anew."""
    folder.mkdir(exist_ok=True)
    pages = {
        "api.md": api_page(),
        "errors.md": errors_page(),
        "commands.md": commands_page(),
        "configuration.md": configuration_page(),
    }
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def api_page() -> str:
    """Every public name, by its docstring."""
    import shadowzarr

    parts = [
        "# The library",
        "Everything that is promised, from the docstrings; [errors](errors.md) have their own page.",
        "## shadowzarr",
        *_entries("shadowzarr", shadowzarr, known=()),
    ]
    for name in MODULES:
        module = importlib.import_module(name)
        parts += [f"## {name}", (module.__doc__ or "").splitlines()[0]]
        parts += _entries(name, module, known=shadowzarr.__all__)
    return "\n\n".join(parts)


def _entries(name: str, module: Any, *, known: Sequence[str]) -> Iterable[str]:
    for public in module.__all__:
        value = getattr(module, public)
        if public in known or (isinstance(value, type) and issubclass(value, Exception)):
            continue
        if not callable(value):
            yield f"`{name}.{public}` ({type(value).__name__})"
            continue
        kind = "class" if isinstance(value, type) else "function"
        members = _members(value) if isinstance(value, type) else ""
        yield _directive(f".. auto{kind}:: {name}.{public}{members}")


def _members(cls: type) -> str:
    """Have the members of a class shown, with those that it has from classes of this package and no other."""
    others = {each.__name__ for each in cls.__mro__ if each.__module__.partition(".")[0] != "shadowzarr"}
    return f"\n   :members:\n   :inherited-members: {', '.join(sorted(others))}"


def _directive(text: str) -> str:
    return f"```{{eval-rst}}\n{text}\n```"


def errors_page() -> str:
    """The tree of errors, and each of them."""
    from shadowzarr import errors

    every = [each for each in vars(errors).values() if isinstance(each, type)]
    own = [each for each in every if each.__module__ == errors.__name__ and issubclass(each, Exception)]
    names = [each.__name__ for each in own]
    tree = _directive(".. automodule:: shadowzarr.errors\n   :no-index:")
    entries = [_directive(f".. autoexception:: shadowzarr.errors.{name}") for name in names]
    return "\n\n".join(["# Errors", tree, *entries])


def commands_page() -> str:
    """What ``--help`` says of each command, 100 characters wide."""
    from flows.__main__ import EXAMPLES
    from flows.__main__ import main as flows_main
    from shadowzarr.cli import main
    from shadowzarr.cli.verbs import VERBS

    parts = [
        "# Commands and their options\n",
        "What `--help` says. [The command lines](../command-line.md) tells what is alike.\n",
    ]
    parts += ["## shadowzarr\n", _help(main, [])]
    for verb in VERBS:
        parts += [f"### shadowzarr {verb}\n", _help(main, [verb])]
    parts += ["## python -m flows\n", _help(flows_main, [])]
    for command in EXAMPLES:
        parts += [f"### python -m flows {command}\n", _help(flows_main, command.split())]
    return "\n".join(parts)


def _help(main: Any, arguments: list[str]) -> str:
    printed, before = io.StringIO(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"
    try:
        with contextlib.redirect_stdout(printed):
            main([*arguments, "--help"])
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)
    return f"```text\n{printed.getvalue().rstrip()}\n```\n"


def configuration_page() -> str:
    """Every key of every flow's configuration, from the pydantic models."""
    from flows.models import FLOWS

    parts = [
        "# Keys of configurations\n\nFrom the models that check them; "
        "`python -m flows schema FLOW` prints the same as JSON Schema, for editors.\n"
    ]
    for flow, model in FLOWS.items():
        schema = model.model_json_schema()
        rows = list(_rows(schema, schema.get("$defs", {}), ""))
        table = ["| key | type | default | meaning |", "|---|---|---|---|", *rows]
        parts += [f"## {flow}\n", f"{_one_line(schema.get('description', ''))}\n", "\n".join(table), ""]
    return "\n".join(parts)


def _rows(schema: dict[str, Any], known: dict[str, Any], prefix: str) -> Iterable[str]:
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        section, dots = _section(field, known)
        default = "required" if name in required else _default(field)
        words = _one_line(field.get("description", "")).translate(_ESCAPES)
        yield f"| `{prefix}{name}` | {_type(field, known)} | {default} | {words} |"
        if section is not None:
            yield from _rows(section, known, f"{prefix}{name}{dots}")


_ESCAPES = str.maketrans({"|": "\\|", "*": "\\*", "<": "&lt;"})


def _section(field: dict[str, Any], known: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The model that a field holds, and how keys in it are written after the field's."""
    for each in (field, *field.get("anyOf", ())):
        if "$ref" in each:
            found = known[each["$ref"].rpartition("/")[2]]
            if "properties" in found:
                return found, "."
        if "$ref" in each.get("items", {}):
            return known[each["items"]["$ref"].rpartition("/")[2]], "[]."
    return None, ""


_KINDS = {"object": "section", "array": "list", "boolean": "true or false", "string": "text"}


def _type(field: dict[str, Any], known: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(each, known) for each in field["anyOf"]))
    if "$ref" in field:
        return _type(known[field["$ref"].rpartition("/")[2]], known)
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    kind = str(field.get("type", "anything"))
    return {"object": "section", "array": "list", "boolean": "true or false", "string": "text"}.get(
        kind, kind
    )


def _default(field: dict[str, Any]) -> str:
    import json

    value = field.get("default")
    return "" if "default" not in field else f"`{json.dumps(value)}`"


def _one_line(text: str) -> str:
    return " ".join(text.split())
