"""The page docs/icechunk.md: its examples run, and its tables are those of the code."""

import inspect
import re
from pathlib import Path

import pytest

from shadowzarr import generate_rfs
from shadowzarr.icechunk import Retention, commit_changes
from shadowzarr.refs.extension import NAME, TRAVELLING

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "icechunk.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"(<!-- needs the network -->\n)?```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_examples_run(tmp_path, monkeypatch):
    pytest.importorskip("hdmf_zarr")
    from shadowzarr.testing.sample_nwb import write_behavior

    monkeypatch.chdir(tmp_path)
    source = write_behavior(tmp_path / "session.nwb")
    names = {"source": source}
    ran = 0
    for needs_network, code in EXAMPLES:
        compile(code, "example", "exec")
        if not needs_network:
            exec(code, names)
            ran += 1
    assert ran == 3
    assert names["again"]["sources"] == generate_rfs(source)["sources"]
    assert names["nwbfile"].session_description == names["root"]["session_description"][()]
    assert names["many"].list_tags() == {"v1"}


def test_options_are_those_of_the_command():
    from shadowzarr.cli.icechunk import icechunk

    rows = set(re.findall(r"^\| `--([a-z-]+)", PAGE, re.MULTILINE))
    options = [
        each for each in inspect.signature(icechunk).parameters.values() if each.kind is each.KEYWORD_ONLY
    ]
    assert rows == {each.name.replace("_", "-") for each in options}


def test_names_and_numbers():
    for part in TRAVELLING:
        assert f"`{part}`" in PAGE
    assert f"a member `{NAME}`" in PAGE
    assert f"`tries` ({inspect.signature(commit_changes).parameters['tries'].default})" in PAGE
    assert f"({Retention().keep.days} days)" in PAGE
    assert f"({Retention().grace.days} day)" in PAGE


def test_it_is_linked_and_its_links_lead_somewhere():
    assert "(docs/icechunk.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
