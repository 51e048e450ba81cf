"""A writer of the page is killed before some of its steps: the page is whole, and the next call writes it."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from other_processes import Nursery
from site_by_hand import asset, publish_assets

from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.site.built_page import ASSETS
from shadowzarr.catalog.site.write_site import write_site

pytest.importorskip("duckdb")
pytestmark = pytest.mark.skipif(not ASSETS.is_dir(), reason="the page is not built (make site-assets)")

KILLS = int(os.environ.get("KILLED_SITES", "3"))


def rows_of_page(folder: Path) -> int:
    """Rows that the page leads to; all that it names has to be there."""
    index = (folder / "index.html").read_text()
    found = re.search(r'content="(site/data/[0-9a-f]{16}/)"', index)
    assert found is not None
    overview = json.loads((folder / found[1] / "catalog.json").read_bytes())
    files = [f"site/files/{name}" for name in overview["page"]] + re.findall(
        r'(?:src|href)="(site/[^"]+)"', index
    )
    assert [name for name in files if not (folder / name).is_file()] == []
    parts = [json.loads((folder / found[1] / part["file"]).read_bytes()) for part in overview["parts"]]
    return sum(len(part["path"]) for part in parts)


def test_a_killed_writer_leaves_a_whole_page(tmp_path):
    before, folder = tmp_path / "before", tmp_path / "out"
    publish_assets(layout_at(before), [asset(number) for number in range(3)])
    write_site(layout_at(before))
    publish_assets(layout_at(before), [asset(number) for number in range(5)])
    with Nursery("work_to_kill:site") as nursery:
        shutil.copytree(before, folder)
        for kill in nursery.kills("steps", KILLS, str(folder)):
            shutil.rmtree(folder)
            shutil.copytree(before, folder)
            nursery.run(str(folder), **kill)
            assert rows_of_page(folder) in (3, 5)
            nursery.run(str(folder))
            assert rows_of_page(folder) == 5
