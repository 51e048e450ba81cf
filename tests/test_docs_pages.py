"""Pages of the documentation: links lead somewhere, names exist, and the newcomer's examples run."""

import importlib
import inspect
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), ROOT / "js" / "README.md", *DOCS.rglob("*.md")]
    if not any(part.startswith("_") for part in path.relative_to(ROOT).parts)
)
NOTES = [f"design/{path.name}" for path in DOCS.glob("design/00[67]*")]
NAMED = ("architecture.md", "add-a-format.md", "add-a-flow.md", *NOTES)
"""Pages whose dotted names are all names of the code."""


def without_code(text: str) -> str:
    return re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """Anchors of a page's headings, as code hosts and the site make them."""
    headings = re.findall(r"^#+ +(.*?) *$", without_code(path.read_text(encoding="utf-8")), re.MULTILINE)
    found: set[str] = set()
    for heading in headings:
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        number = next(n for n in range(100) if (f"{slug}-{n}" if n else slug) not in found)
        found.add(f"{slug}-{number}" if number else slug)
    return found


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run_blocks(page: str, language: str, names: dict[str, object]) -> None:
    for number, example in enumerate(blocks(page, language)):
        exec(compile(example, f"docs/{page}, example {number}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = without_code(page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            assert re.fullmatch(r"https?://[\w.\-]+(:\d+)?(/[\w./~%\-+#=?&]*)?", link), link
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


def test_every_page_is_in_the_site() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        is_listed = page.stem == "index" or re.search(rf"^{page.stem}$", index, re.MULTILINE)
        assert is_listed, f"docs/{page.name} is in no table of contents of docs/index.md; add a line there"


@pytest.mark.parametrize("page", NAMED)
def test_dotted_names_are_those_of_the_code(page: str) -> None:
    text = without_code((DOCS / page).read_text(encoding="utf-8"))
    names = set(re.findall(r"`((?:shadowzarr|tasks|flows)(?:\.\w+)+)`", text))
    assert names
    for name in names:
        resolve(name)


def test_every_folder_has_a_row_that_says_what_is_changed_there() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    rows = page.partition("## What is where")[2].partition("\n## ")[0].splitlines()
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.partition(" | ")[0])}
    folders = {path.parent.name for path in (ROOT / "shadowzarr").glob("*/__init__.py")}
    assert named >= folders
    assert not named - folders - {"shadowzarr", "tasks", "flows", "js", "benchmarks", "tests"}
    layers = page.partition("## Which part")[2].partition("\n## ")[0]
    assert folders <= set(re.findall(r"`(\w+)`", layers))


def resolve(name: str) -> object:
    """The module, class or function of a dotted name."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize("page", ["add-a-format.md", "add-a-flow.md"])
def test_files_that_are_named_exist(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for path in re.findall(r"`((?:shadowzarr|tests|configs)/[\w/.]+)`", text):
        if "NAME" not in path:
            assert (ROOT / path).exists(), path


def test_the_example_of_a_format_runs(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    run_blocks("add-a-format.md", "python", names)
    assert "traces  int16  (30000, 4)" in capsys.readouterr().out
    (tmp_path / "cut.rawj").write_bytes((tmp_path / "session.rawj").read_bytes()[:-1])
    from shadowzarr.errors import DamagedSourceError

    with pytest.raises(DamagedSourceError, match="not whole"):
        names["generate_rfs_rawj"]("cut.rawj")
    (tmp_path / "other.rawj").write_bytes(b'{"magic": "X"}'.ljust(512))
    with pytest.raises(DamagedSourceError, match="expected the magic"):
        names["generate_rfs_rawj"]("other.rawj")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hdmf_zarr")
    from shadowzarr.testing.sample_nwb import write_recording

    folder = tmp_path_factory.mktemp("how-to")
    write_recording(folder / "session.nwb")
    return folder


def test_how_tos_run(session: Path, monkeypatch, capsys) -> None:
    from shadowzarr.cli import main

    monkeypatch.chdir(session)
    assert main(["generate", "session.nwb", "session.shadowzarr"]) == 0
    run_blocks("how-to.md", "python", {})
    assert "left out" not in capsys.readouterr().err
    for line in "".join(blocks("how-to.md", "sh")).splitlines():
        program, *arguments = shlex.split(line)
        elsewhere = any(word in line for word in ("://", "/data/old", "flows"))
        if program == "shadowzarr" and not elsewhere:
            force = ["--force"] if arguments[0] == "generate" else []
            assert main([*arguments, *force]) == 0, line


@pytest.mark.parametrize("page", ["notebooks/read-a-file.md", "notebooks/plot-a-recording.md"])
def test_notebooks_run(page: str, monkeypatch, tmp_path) -> None:
    pytest.importorskip("hdmf_zarr")
    if "plot" in page:
        pytest.importorskip("matplotlib")
    monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path))
    names: dict[str, object] = {}
    run_blocks(page, "{code-cell}", names)
    if "plot" in page:
        assert (tmp_path / "traces.png").stat().st_size > 10_000
        names["plt"].close("all")
    else:
        np.testing.assert_array_equal(names["window"][:5, :4], names["series"][30_000:30_005, :4])
