"""Verification shares nothing with the generators, so that one mistake cannot hide in both."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

FORBIDDEN = (
    "shadowzarr.formats",
    "shadowzarr.builder",
    "shadowzarr.write",
    "shadowzarr.catalog",
    "shadowzarr.virtual",
)


def imported(file):
    """Absolute names of what a file imports, inside functions too."""
    package = file.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def file_of(name):
    place = ROOT / Path(*name.split("."))
    candidates = (place.with_suffix(".py"), place / "__init__.py")
    return next((each for each in candidates if each.is_file()), None)


def reached(start):
    """Every module of ours that a package imports, transitively."""
    todo = sorted((ROOT / "shadowzarr" / start).rglob("*.py"))
    names = {}
    while todo:
        for name in imported(todo.pop()):
            if name.startswith("shadowzarr.") and name not in names:
                names[name] = file_of(name)
                todo += [names[name]] if names[name] else []
    return names


def test_no_import_leads_to_a_generator():
    names = reached("verify")
    assert "shadowzarr.store.open_rfs" in names  # the walk does follow imports
    assert [name for name in names if name.startswith(FORBIDDEN)] == []


def test_verifying_loads_no_generator():
    code = "import sys, shadowzarr.verify; print(*(m for m in sys.modules if m.startswith('shadowzarr')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "shadowzarr.verify.judge" in out.split()
    assert [name for name in out.split() if name.startswith(FORBIDDEN)] == []


def test_the_file_object_for_the_original_is_its_own():
    names = reached("verify")
    assert "shadowzarr.access.remfile.Remfile" in names
    source = (ROOT / "shadowzarr" / "verify" / "source_file.py").read_text()
    assert source.count("Remfile(") == 1
    assert "local_cache" not in source
