"""What the project is made of and runs in: versions with known vulnerabilities, and the user of its image."""

import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def audit():
    loader = SourceFileLoader("audit", str(ROOT / ".ci" / "audit"))
    module = module_from_spec(spec_from_loader("audit", loader))
    loader.exec_module(module)
    return module


GOOD = {"name": "a", "version": "1", "vulns": []}
BAD = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1", "3"]}]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("found", "is_required", "code"),
    [
        ([GOOD], True, 0),
        ([GOOD, BAD], False, 1),
        ([GOOD, UNKNOWN], False, 0),
        ([GOOD, UNKNOWN], True, 1),
        ([BAD, UNKNOWN], False, 1),
    ],
)
def test_the_audit_tells_what_it_found_and_what_it_could_not_look_at(audit, found, is_required, code):
    ended, lines = audit.outcome({"dependencies": found}, is_required=is_required)
    assert ended == code
    assert ("audit: b 2 has PYSEC-1; mended in 2.1, 3" in lines) == (BAD in found)
    assert ("audit: c could not be checked: not found" in lines) == (UNKNOWN in found)
    bad, unknown = found.count(BAD), found.count(UNKNOWN)
    checked = len(found) - unknown
    assert lines[-1] == f"audit: {checked} versions checked, {bad} vulnerable, {unknown} not checked"


@pytest.mark.parametrize("is_required", [False, True])
def test_an_index_without_advisories_is_no_clean_bill(audit, monkeypatch, capsys, is_required):
    monkeypatch.setenv("AUDIT_REQUIRED", "1" if is_required else "")
    monkeypatch.setattr(audit, "audit", lambda requirements: {"dependencies": [UNKNOWN]})
    assert audit.main() == is_required
    assert capsys.readouterr().out.startswith("audit: NOT CHECKED: the package index tells no advisories")


def test_the_image_runs_as_an_ordinary_user():
    """The last USER of the last stage is not root, by name or by number."""
    files = [path for path in ROOT.glob("**/Dockerfile*") if not {".venv", "node_modules"} & set(path.parts)]
    if not files:
        pytest.skip("there is no Dockerfile")
    for path in files:
        last_stage = re.split(r"^FROM ", path.read_text(), flags=re.MULTILINE | re.IGNORECASE)[-1]
        users = re.findall(r"^USER\s+(\S+)", last_stage, flags=re.MULTILINE | re.IGNORECASE)
        assert users, f"{path.name} has no USER"
        assert users[-1].partition(":")[0] not in ("root", "0")
