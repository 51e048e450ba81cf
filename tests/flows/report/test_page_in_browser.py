"""The report in a real browser: its own script works, and nobody else's runs."""

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

from flows.report import render_report

from .conftest import make_failure, make_record, make_summary

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=2000",
    "--dump-dom",
)
ROOT = Path(__file__).resolve().parents[3]


def chromium() -> str:
    spec = importlib.util.spec_from_file_location("root_conftest", ROOT / "tests" / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.system_program("chromium")


def dom(page: str, folder: Path) -> str:
    """What the page has become once its scripts have run."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [chromium(), *FLAGS, profile, path.as_uri()]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def shown_names(document: str) -> list[str]:
    rows = re.findall(r"<tr class=\"\w+\"[^>]*>.*?</tr>", document, re.DOTALL)
    visible = [row for row in rows if " hidden" not in row.partition(">")[0]]
    return [re.search(r"</small><(?:a|span)[^>]*>([^<]*)<", row)[1] for row in visible]


def driven(page: str, steps: str) -> str:
    """The page with a script of the test's own, which its policy would refuse."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    return page.replace("</body>", f"<script>{steps}</script></body>")


@pytest.fixture
def page() -> str:
    records = [
        make_record("sub-1/small.nwb", size=1_000),
        make_record("sub-2/large.nwb", size=9_000_000),
        make_record("sub-3/middle.nwb", size=50_000, outcome="partial"),
        make_failure("sub-4/broken.nwb", size=10),
    ]
    return render_report(make_summary(records))


def test_a_click_on_a_column_sorts_by_its_numbers_and_another_turns_it(page: str, tmp_path: Path) -> None:
    click = 'document.querySelectorAll("#table thead button")[2].click();'
    once = dom(driven(page, click), tmp_path)
    assert shown_names(once) == ["large.nwb", "middle.nwb", "small.nwb", "broken.nwb"]
    assert 'aria-sort="descending"' in once
    twice = dom(driven(page, click * 2), tmp_path)
    assert shown_names(twice) == ["broken.nwb", "small.nwb", "middle.nwb", "large.nwb"]
    assert 'aria-sort="ascending"' in twice


def test_search_and_outcome_choose_rows_and_say_how_many(page: str, tmp_path: Path) -> None:
    steps = """
      const field = document.getElementById("search");
      field.value = "SUB-3 nwb";
      field.dispatchEvent(new Event("input", {bubbles: true}));
    """
    searched = dom(driven(page, steps), tmp_path)
    assert shown_names(searched) == ["middle.nwb"]
    assert "1 of 4 shown" in searched
    steps = """
      const outcome = document.getElementById("outcome");
      outcome.value = "failed";
      outcome.dispatchEvent(new Event("input", {bubbles: true}));
    """
    assert shown_names(dom(driven(page, steps), tmp_path)) == ["broken.nwb"]


def test_scripts_of_strangers_do_not_run(tmp_path: Path) -> None:
    attack = "document.title='taken'"
    names = [
        f"<script>{attack}</script>.nwb",
        f'"><img src=x onerror="{attack}">.nwb',
        f"<svg onload={attack}>",
    ]
    records = [make_record(name) for name in names] + [make_failure(name) for name in names]
    document = dom(render_report(make_summary(records)), tmp_path)
    assert "<title>taken" not in document
    assert "6 of 6 shown" in document


def test_even_a_script_that_got_into_the_page_is_refused(page: str, tmp_path: Path) -> None:
    smuggled = page.replace("</body>", "<script>document.title='taken'</script></body>")
    assert "<title>taken" not in dom(smuggled, tmp_path)
