"""Warnings are of one kind: who reads them sees where they come from, and programs read none as a result."""

import ast
import builtins
import warnings
from pathlib import Path

import pytest

from flows.warning_lines import BEGIN, warn
from shadowzarr.access.local_cache import CacheWarning, LocalCache
from shadowzarr.access.source_identity import Source
from shadowzarr.refs.byte_range import FileRange

ROOT = Path(__file__).resolve().parents[1]
FILES = [
    path for folder in ("shadowzarr", "tasks", "flows") for path in sorted((ROOT / folder).rglob("*.py"))
]
PARSED = [(path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))) for path in FILES]


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_a_warning_of_the_library_has_a_category_of_its_own_and_names_the_line_of_the_caller():
    """Whatever thread or helper it comes from, so that Python shows it once, and filters can name it."""
    found = [
        (path, call)
        for path, tree in PARSED
        for call in calls(tree)
        if ast.unparse(call.func) == "warnings.warn"
    ]
    assert found
    for path, call in found:
        (_, category) = call.args
        assert ast.unparse(category).endswith("Warning"), path
        assert ast.unparse(category) not in vars(builtins), path
        assert "skip_file_prefixes" in [keyword.arg for keyword in call.keywords], path


def test_lines_that_warn_are_written_by_one_function():
    texts = [
        path
        for path, tree in PARSED
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value.lower().startswith(BEGIN.strip())
    ]
    assert set(texts) == {Path("flows/warning_lines.py")}


def test_they_go_to_standard_error(capsys):
    warn("one: do this", "two: do that")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "warning: one: do this\nwarning: two: do that\n")


def test_a_cache_that_cannot_be_used_is_told_of_once_with_what_to_do(tmp_path):
    (tmp_path / "file").touch()
    cache = LocalCache(tmp_path / "file" / "folder")
    source = Source("https://host/a", 10, '"e"')
    with pytest.warns(CacheWarning, match="read without it: name another folder") as told:
        read = [cache.get_many(source, [FileRange(0, 4)]) for _ in range(3)]
    assert read == [[None]] * 3
    (warning,) = told
    assert warning.filename == __file__


def test_a_cache_that_can_be_used_says_nothing(tmp_path):
    with warnings.catch_warnings(action="error"):
        LocalCache(tmp_path).get_many(Source("https://host/a", 10, '"e"'), [FileRange(0, 4)])
