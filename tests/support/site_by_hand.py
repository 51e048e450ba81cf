"""Outputs with a catalogue of any size, without an archive or a file; and a page that is not built."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.site.built_page import MANIFEST, BuiltPage, built_page
from shadowzarr.catalog.tables.columns import ASSETS
from shadowzarr.catalog.tables.published import publish

FILES = {"page-AAAA.js": "import './chunk-BBBB.js'", "chunk-BBBB.js": "1", "page-CCCC.css": "p{}"}


def asset(number: int, **changes: Any) -> dict[str, Any]:
    """A row of the table of assets, with other values where they are given."""
    path = f"sub-{number % 40:02}/sub-{number % 40:02}_ses-{number:05}.nwb"
    row = dict.fromkeys(column.name for column in ASSETS) | {
        "dandiset": f"{number % 7 + 1:06}",
        "version": "draft",
        "asset_path": path,
        "asset_id": f"{number:08}-037a-4dcb-9d8f-1073895048e1",
        "etag": f"{number:032x}-1",
        "options_digest": "0123456789ab",
        "size": 1_000_000 + number,
        "url": f"https://api.dandiarchive.org/api/assets/{number:08}-037a-4dcb-9d8f-1073895048e1/download/",
        "outcome": "indexed",
        "references_path": f"dandisets/{number % 7 + 1:06}/draft/{path}.shadowzarr",
        "references_bytes": 9000 + number,
        "array_count": 60,
        "chunk_count": 1000,
        "left_out_count": 0,
        "verification": "sample",
        "is_verified": True,
        "indexed_at": f"2026-03-02T09:{number % 60:02}:00.000Z",
        "species": ("Mus musculus", "Rattus norvegicus", "Homo sapiens")[number % 3],
        "subject_id": f"{number % 40:02}",
        "session_description": f"Session {number} of a task with images and rewards",
        "experimenters": ["Example, Ada"],
        "keywords": [],
    }
    return row | changes


def failed(number: int, message: str, **changes: Any) -> dict[str, Any]:
    """The row of an asset that failed."""
    nothing = dict.fromkeys(("references_path", "references_bytes", "verification", "species"))
    error = {"outcome": "failed", "is_verified": False, "error_stage": "index", "error_message": message}
    return asset(number, **(nothing | error | changes))


def publish_assets(
    layout: OutputLayout,
    assets: list[dict[str, Any]],
    *,
    types: Iterable[str] = ("NWBFile", "ElectricalSeries"),
    is_private: bool = False,
) -> None:
    """Publish a catalogue of these assets, each of which has these neurodata types."""
    key = ("dandiset", "version", "asset_path", "asset_id")
    objects = [
        {name: row[name] for name in key} | {"path": f"a/{kind}", "kind": "group", "neurodata_type": kind}
        for row in assets
        if row["references_path"] is not None
        for kind in types
    ]
    tables = [("assets", assets), ("objects", objects), ("left_out", [])]
    publish(layout, tables, is_private=is_private)


def pass_over(layout: OutputLayout, dandiset: str, *assets: dict[str, Any]) -> None:
    """Write the list of assets of a dandiset's draft that were passed over."""
    usual = {"asset_id": "", "size": 5, "detail": "", "private": False, "failed": ""}
    rows = [usual | {"dandiset": dandiset, "version": "draft"} | each for each in assets]
    path = layout.skipped_path(dandiset, "draft")
    layout.store.write(layout.relative(path), json.dumps(rows).encode(), scratch=layout.staging)


def page_of(folder: Path, files: dict[str, str] = FILES) -> BuiltPage:
    """A page as one is built, of these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    script, _, style = list(files)[:3]
    manifest = {"script": script, "style": style, "first": list(files)[:3], "files": list(files)}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    return built_page(folder)
