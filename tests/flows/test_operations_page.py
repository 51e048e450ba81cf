"""The page on operating the pipeline names every flow, every verdict and the keys that are a flow's own."""

import re
from pathlib import Path
from typing import get_args

import pytest

from flows.models import FLOWS
from shadowzarr.catalog.output_checks import Verdict

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def test_every_flow_has_a_section_and_an_example():
    rows = dict(re.findall(r"^\| `(\w+)` \| .*\]\(\.\./(configs/\S+\.yaml)\) \|$", PAGE, re.MULTILINE))
    assert set(rows) == set(FLOWS)
    for flow, example in rows.items():
        assert re.search(rf"^## .*`{flow}`$", PAGE, re.MULTILINE)
        assert f"flow: {flow}" in (ROOT / example).read_text(encoding="utf-8")


def test_every_verdict_is_explained():
    section = PAGE.partition("| verdict |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(get_args(Verdict))


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        ("verify_outputs", {"sample.count": "50", "sample.seed": "null", "mode": "`sample`"}),
        ("backfill", {"budget.bytes": "null", "budget.seconds": "null"}),
        (
            "materialize_assets",
            {
                **dict.fromkeys(["references", "destination"], "required"),
                **{"dandisets": "`[]`", "include": '`["**"]`', "exclude": "`[]`", "embargoed": "false"},
                **{"layout": "`default`", "form": "`folder`", "verify": "true", "max_memory": "1073741824"},
            },
        ),
        (
            "convert_recordings",
            {
                **dict.fromkeys(
                    ["recordings", "output", "materialize.form", "materialize.folder"], "required"
                ),
                **{"name": "`recordings`", "metadata": "`[]`", "form": "`directory`", "strict": "true"},
                **{"url_for": "`{}`", "check_hosts": "true", "validation.critical": "`refuse`"},
                **{"verification.mode": "`sample`", "verification.seed": "0"},
            },
        ),
        (
            "refresh_icechunk",
            {
                "icechunk.repository": "null",
                "icechunk.branch": "`main`",
                "icechunk.versions": "`all`",
                "icechunk.keep_days": "30.0",
                "icechunk.grace_days": "1.0",
                "icechunk.copy_selections": "false",
                "redo.force": "false",
                "run.retries": "3",
            },
        ),
    ],
)
def test_keys_of_its_own_are_described(flow, expected):
    section = PAGE.partition(f"`{flow}`\n")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `([a-z_.]+)` \| (\S+) \|", section, re.MULTILINE)) == expected
