"""Records and references of an output → its catalogue: what changed is read, all is published at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...errors import ShadowzarrError
from ...store.load_rfs import load_rfs
from ..layout import OutputLayout
from ..output_store import OutputStore
from ..records import IndexRecord, load_record
from .asset_rows import asset_key, asset_row, left_out_rows
from .columns import TABLES, Row
from .object_rows import object_rows, session_facts
from .published import FOLDER, MANIFEST, Published, publish
from .working_state import WorkingState

STATE_NAME = "catalog.sqlite"


@dataclass(frozen=True)
class CatalogUpdate:
    """What an update did.

    Attributes
    ----------
    read : int
        Records that were read, new or changed since the last update.
    dropped : int
        Records that are gone.
    left_out : int
        Records of embargoed assets that a public catalogue does not take.
    problems : list of str
        Records, and references of records, that could not be read; a line for each.
    published : Published or None
        None when there is nothing to tell and nothing was told before.
    """

    read: int = 0
    dropped: int = 0
    left_out: int = 0
    problems: list[str] = field(default_factory=list)
    published: Published | None = None


def update_catalog(layout: OutputLayout, *, is_private: bool = False, anew: bool = False) -> CatalogUpdate:
    """Bring the catalogue of an output up to date; the output must be held (`output_lock`).

    Parameters
    ----------
    layout : OutputLayout
        The output.
    is_private : bool
        Whether it is the private output. The catalogue of a public one takes no record of an embargoed
        asset, wherever it lies.
    anew : bool
        Whether everything is read again.

    Raises
    ------
    OutputError
        When it cannot be written, or the output cannot be listed.
    MissingDependencyError
        When DuckDB is not installed.
    """
    there = dict(_record_files(layout))
    state_path = layout.workings / STATE_NAME
    if not there and not anew and not state_path.exists():
        return CatalogUpdate()
    state = WorkingState(state_path, anew=anew)
    try:
        known = state.known()
        changed = [path for path in sorted(there) if known.get(path) != there[path]]
        gone = sorted(set(known) - set(there))
        for path in gone:
            state.forget(path)
        left_out = sum(_take(state, layout, path, there[path], is_private=is_private) for path in changed)
        if changed or gone:
            state.commit()
        is_told = layout.store.exists(f"{FOLDER}/{MANIFEST}")
        if not changed and not gone and is_told:
            return CatalogUpdate(problems=state.problems())
        published = publish(layout, ((table, state.rows(table)) for table in TABLES), is_private=is_private)
        return CatalogUpdate(len(changed), len(gone), left_out, state.problems(), published)
    finally:
        state.close()


def rows_of(record: IndexRecord, output: OutputStore) -> tuple[dict[str, list[Row]], str | None]:
    """All rows of a record, and what of it could not be read.

    Parameters
    ----------
    record : IndexRecord
    output : OutputStore
        The output that it lies in.
    """
    asset = asset_row(record)
    rows: dict[str, list[Row]] = {"assets": [asset], "left_out": left_out_rows(record)}
    if record.references is None:
        return rows, None
    try:
        with output.local_copy(record.references) as references:
            rfs = load_rfs(references)
            objects, facts = object_rows(rfs), session_facts(rfs)
    except (ShadowzarrError, FileNotFoundError) as error:
        return rows, f"its references cannot be read: {error}"
    key = asset_key(record)
    rows["objects"] = [key | row for row in objects]
    stored = [row["stored_bytes"] for row in objects if row["kind"] == "array"]
    asset["stored_bytes"] = None if None in stored else sum(stored)
    asset.update(facts)
    return rows, None


def _record_files(layout: OutputLayout) -> Iterator[tuple[str, str]]:
    for records in layout.list_all().records.values():
        for record in records:
            yield layout.relative(record.path), record.state


def _take(state: WorkingState, layout: OutputLayout, path: str, file: str, *, is_private: bool) -> int:
    """Read one record into the state; 1 when it is about an embargoed asset and stays out."""
    try:
        record = load_record(layout.store, path)
    except (ShadowzarrError, FileNotFoundError) as error:
        state.replace(path, file, {}, problem=str(error))
        return 0
    if record.private and not is_private:
        state.replace(path, file, {})
        return 1
    rows, problem = rows_of(record, layout.store)
    state.replace(path, file, rows, problem=problem)
    return 0
