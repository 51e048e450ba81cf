"""Writes the site into an output: its files first, ``index.html`` last, and then what nobody names goes.

::

    OUTPUT/index.html                 the page; names one state of the data
    OUTPUT/site/files/<name>-<hash>.js, .css
    OUTPUT/site/data/<digest>/catalog.json, assets-<n>.json

Files are never changed. The state before stays until the next one, for pages that are open.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import orjson

from ...errors import UsageError
from ..layout import OutputLayout
from ..output_store import OutputStore, output_error
from ..tables.published import Published, read_published
from .built_page import BuiltPage, built_page
from .index_page import DATA, DIGEST_DIGITS, FILES, index_page, named_data, plain_origin
from .site_data import DATA_VERSION, OVERVIEW, site_files
from .site_rows import passed_over_files, read_passed_over, site_rows

INDEX = "index.html"


@dataclass(frozen=True)
class WrittenSite:
    """A site of an output.

    Attributes
    ----------
    index : PurePath
        The page.
    is_new : bool
        Whether anything was written; nothing is when the site is that of the output's state already.
    """

    index: PurePath
    is_new: bool


def write_site(
    layout: OutputLayout, *, page: BuiltPage | None = None, has_report: bool | None = None
) -> WrittenSite:
    """Write the site of an output, which must be held.

    Parameters
    ----------
    layout : OutputLayout
        A public output with a catalogue.
    page : BuiltPage, optional
        The built page; the one that is installed by default.
    has_report : bool, optional
        Whether there will be a report; by default whether there is one.

    Raises
    ------
    UsageError
        When the page is not built, there is no catalogue, the output is a private one, or its ``index.html``
        is somebody else's.
    InvalidReferencesError, ReadError
        When what the output holds cannot be read.
    OutputError
        When it cannot be written.
    """
    page = page or built_page()
    published = read_published(layout)
    if published.is_private:
        raise UsageError(f"{layout.title} is about embargoed assets; no site is written of a private output")
    report = layout.relative(layout.report)
    try:
        before = _index_of(layout)
        lists = {name: layout.store.read(name) for name in passed_over_files(layout.store)}
        is_linked = layout.store.exists(report) if has_report is None else has_report
        digest = _digest(layout, published, page, lists, is_linked)
        if before is not None and named_data(before) == digest:
            return WrittenSite(layout.folder / INDEX, is_new=False)
        _write(layout, page, lists, digest, report if is_linked else None, before)
    except OSError as error:
        raise output_error(f"cannot write the site in {layout.title}", error) from error
    return WrittenSite(layout.folder / INDEX, is_new=True)


def _index_of(layout: OutputLayout) -> bytes | None:
    """The page that is there."""
    try:
        index = layout.store.read(INDEX)
    except FileNotFoundError:
        return None
    if named_data(index) is None:
        raise UsageError(
            f"{layout.location(layout.folder / INDEX)} is not a page of this catalogue, and stays; move it "
            "away, or switch the site off by output.site: false"
        )
    return index


def _digest(
    layout: OutputLayout, published: Published, page: BuiltPage, lists: Mapping[str, bytes], is_linked: bool
) -> str:
    """What decides all that is written: the state of the tables, the lists, and the page."""
    state = [DATA_VERSION, layout.relative(published.folder), page.files, is_linked]
    digest = hashlib.sha256(orjson.dumps(state))
    for name in sorted(lists):
        digest.update(orjson.dumps([name, len(lists[name])]) + lists[name])
    return digest.hexdigest()[:DIGEST_DIGITS]


def _write(
    layout: OutputLayout,
    page: BuiltPage,
    lists: Mapping[str, bytes],
    digest: str,
    report: str | None,
    before: bytes | None,
) -> None:
    store = layout.store
    passed_over = [
        asset for name in sorted(lists) for asset in read_passed_over(lists[name], store.location(name))
    ]
    rows = site_rows(layout, passed_over)
    origins = {origin for row in rows if (origin := plain_origin(row["url"])) is not None}
    staged = layout.staging / "site"
    try:
        shutil.rmtree(staged, ignore_errors=True)
        _stage(staged / "data", site_files(rows, page_files=page.files, report=report))
        there = set(store.children(FILES))
        for name in page.files:
            if f"{FILES}/{name}" not in there:
                copy = staged / name
                shutil.copyfile(page.folder / name, copy)
                store.adopt(copy, f"{FILES}/{name}")
        store.remove([f"{DATA}/{digest}"])  # what an interrupted writing left
        store.adopt(staged / "data", f"{DATA}/{digest}")
        store.write(INDEX, index_page(page, digest, origins=origins), scratch=layout.staging)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    _remove_old(store, {digest, named_data(before or b"")}, set(page.files))


def _stage(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _remove_old(store: OutputStore, digests: set[str | None], files: set[str]) -> None:
    """Remove what neither the page nor the one before it names."""
    for digest in digests:
        files |= _page_files(store, digest)
    kept = {f"{DATA}/{digest}" for digest in digests} | {f"{FILES}/{name}" for name in files}
    store.remove(name for place in (DATA, FILES) for name in store.children(place) if name not in kept)


def _page_files(store: OutputStore, digest: str | None) -> set[str]:
    try:
        overview: dict[str, Any] = orjson.loads(store.read(f"{DATA}/{digest}/{OVERVIEW}"))
        return set(map(str, overview["page"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return set()  # removed by hand: nothing of it is needed
