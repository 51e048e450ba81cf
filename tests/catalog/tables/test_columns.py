"""The page on the catalogue names every table, column and question."""

import re
from pathlib import Path

from shadowzarr.catalog.tables.columns import TABLES
from shadowzarr.catalog.tables.questions import QUESTIONS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "catalog.md").read_text(encoding="utf-8")


def test_every_column_is_described_as_in_the_code():
    for table, columns in TABLES.items():
        section = PAGE.partition(f"### `{table}`")[2].partition("###")[0]
        rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (.+) \|$", section, re.MULTILINE)
        assert rows == [(column.name, column.kind, column.meaning) for column in columns]


def test_every_question_is_named():
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+\?) \|$", PAGE, re.MULTILINE)
    assert rows == [(each.name, each.text) for each in QUESTIONS]
