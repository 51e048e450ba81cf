"""The catalogue follows the records: what is read, what is published, and what never gets in."""

import sqlite3
from contextlib import closing
from types import SimpleNamespace

import orjson
import pytest

from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.tables import working_state
from shadowzarr.catalog.tables.published import read_published
from shadowzarr.catalog.tables.query import ask
from shadowzarr.catalog.tables.update import update_catalog
from shadowzarr.errors import InvalidReferencesError, UsageError


def answer(layout, sql):
    return list(ask(layout.folder, sql).rows)


def published_bytes(layout):
    return {
        str(path.relative_to(layout.folder)): path.read_bytes()
        for path in sorted((layout.folder / "catalog").rglob("*"))
        if path.is_file()
    }


def test_records_become_rows(layout, put, failed, partial):
    put(1)
    put(2, **failed)
    put(3, **partial)
    update = update_catalog(layout)
    assert (update.read, update.dropped, update.left_out, update.problems) == (3, 0, 0, [])
    assert answer(layout, "SELECT asset_path, outcome, species, error_kind FROM assets ORDER BY 1") == [
        ("sub-1/1.nwb", "indexed", "Mus musculus", None),
        ("sub-2/2.nwb", "failed", None, "DamagedSourceError"),
        ("sub-3/3.nwb", "partial", "Mus musculus", None),
    ]
    assert answer(layout, "SELECT requests, bytes_read, seconds, indexed_at, is_verified FROM assets")[0] == (
        (5, 700, 1.75, "2026-03-02T09:30:00.000Z", True)
    )
    assert answer(layout, "SELECT asset_path, path, reason FROM left_out") == [
        ("sub-3/3.nwb", "odd/link", "it leads nowhere")
    ]
    assert answer(layout, "SELECT DISTINCT asset_path FROM objects ORDER BY 1") == [
        ("sub-1/1.nwb",),
        ("sub-3/3.nwb",),
    ]
    (stored,) = answer(layout, "SELECT sum(stored_bytes) FROM objects WHERE asset_path LIKE 'sub-1%'")
    assert answer(layout, "SELECT stored_bytes FROM assets WHERE asset_path LIKE 'sub-1%'") == [stored]


def test_an_update_reads_only_what_changed_and_equals_a_rebuild(
    layout, put, failed, tmp_path, write_nwb_file
):
    put(1)
    put(2)
    gone = put(3, **failed)
    update_catalog(layout)
    first = read_published(layout).folder
    before = published_bytes(layout)
    state = layout.workings / "catalog.sqlite"
    content = state.read_bytes()
    idle = update_catalog(layout)
    assert (idle.read, idle.dropped, idle.published) == (0, 0, None)
    assert (published_bytes(layout), state.read_bytes()) == (before, content)

    (file,) = layout.folder.glob(f"dandisets/**/*{gone.asset_id}*")
    file.unlink()
    put(2, file=write_nwb_file(tmp_path / "other.nwb", species="Rattus norvegicus"))
    update = update_catalog(layout)
    assert (update.read, update.dropped) == (1, 1)
    assert answer(layout, "SELECT asset_path, species FROM assets ORDER BY 1") == [
        ("sub-1/1.nwb", "Mus musculus"),
        ("sub-2/2.nwb", "Rattus norvegicus"),
    ]
    followed = read_published(layout).folder
    assert (first.is_dir(), followed == first) == (True, False)  # for those who are reading it
    assert update_catalog(layout, anew=True).read == 2
    assert read_published(layout).folder == followed


def test_only_the_state_before_is_kept(layout, put):
    for number in (1, 2, 3):
        put(number)
        update_catalog(layout)
    assert len([path for path in (layout.folder / "catalog").iterdir() if path.is_dir()]) == 2


def test_embargoed_assets_stay_out_of_a_public_catalogue_wherever_their_records_lie(layout, put, tmp_path):
    put(1)
    put(2, path="sub-secret/2.nwb", private=True)
    update = update_catalog(layout)
    assert update.left_out == 1
    for table in ("assets", "objects", "left_out"):
        assert answer(layout, f"SELECT count(*) FROM {table} WHERE asset_path LIKE '%secret%'") == [(0,)]
    with closing(sqlite3.connect(layout.workings / "catalog.sqlite")) as state:
        assert state.execute("SELECT count(*) FROM objects WHERE asset_path LIKE '%secret%'").fetchone() == (
            0,
        )
    private = OutputLayout(tmp_path / "private", layout.options)
    put(2, path="sub-secret/2.nwb", private=True, into=private)
    assert update_catalog(private, is_private=True).left_out == 0
    assert answer(private, "SELECT asset_path FROM assets") == [("sub-secret/2.nwb",)]
    manifest = orjson.loads((private.folder / "catalog" / "catalog.json").read_bytes())
    assert manifest["private"] is True


def test_what_cannot_be_read_is_named_and_costs_nothing_else(layout, put):
    put(1)
    broken = put(2)
    (layout.folder / broken.references / "refs.json").write_text("{")
    strange = put(3)
    (file,) = layout.folder.glob(f"dandisets/**/*{strange.asset_id}*.record.json")
    file.write_text('{"of": "a later version"}')
    update = update_catalog(layout)
    assert [problem.partition(": ")[0].rpartition("/")[2][:5] for problem in update.problems] == [
        "2.nwb",
        "3.nwb",
    ]
    assert "references cannot be read" in update.problems[0]
    assert answer(layout, "SELECT asset_path, stored_bytes IS NULL FROM assets ORDER BY 1") == [
        ("sub-1/1.nwb", False),
        ("sub-2/2.nwb", True),
    ]
    assert update_catalog(layout).problems == update.problems


def test_a_damaged_working_state_is_made_anew(layout, put):
    put(1)
    update_catalog(layout)
    before = published_bytes(layout)
    (layout.workings / "catalog.sqlite").write_bytes(b"no data base" * 1000)
    assert update_catalog(layout).read == 1
    assert published_bytes(layout) == before


def test_an_output_of_nothing_gets_a_catalogue_only_when_asked(layout):
    assert update_catalog(layout).published is None
    assert not layout.folder.exists()
    assert update_catalog(layout, anew=True).published.counts == {"assets": 0, "objects": 0, "left_out": 0}
    assert answer(layout, "SELECT * FROM objects") == []


def test_a_catalogue_that_is_not_there_or_of_another_version_is_refused(layout, put):
    with pytest.raises(UsageError, match="does not exist"):
        read_published(layout)
    put(1)
    with pytest.raises(UsageError, match="catalog rebuild"):
        read_published(layout)
    update_catalog(layout)
    manifest = layout.folder / "catalog" / "catalog.json"
    good = orjson.loads(manifest.read_bytes())
    for wrong in ({"version": 99}, {"folder": "../../elsewhere"}):
        manifest.write_bytes(orjson.dumps(good | wrong))
        with pytest.raises(InvalidReferencesError, match="anew"):
            read_published(layout)


def test_a_data_base_that_cannot_be_made_is_not_kept_open(tmp_path, monkeypatch):
    """As on a full disk; what is still open is a warning, which is an error here."""
    opened = []

    def refuse(connection):
        opened.append(connection)
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(working_state, "_create", refuse)
    with pytest.raises(sqlite3.OperationalError, match="full"):
        working_state.WorkingState._opened(SimpleNamespace(_path=tmp_path / "catalog.sqlite"))
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")
