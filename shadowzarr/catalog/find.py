"""Where the results of an asset are, by its identifier, path or ETag: looked up in the output itself."""

from __future__ import annotations

from pathlib import Path, PurePath

from ..errors import UsageError
from .asset_names import safe_stem
from .layout import ListedRecord, OutputLayout, as_layout
from .records import IndexRecord, load_record


def find_records(output: OutputLayout | Path, wanted: str) -> list[tuple[PurePath, IndexRecord]]:
    """Find the records of an asset; names of files are looked at, and only what is found is read.

    Parameters
    ----------
    output : OutputLayout or Path
        The output, or its folder.
    wanted : str
        An asset's identifier, the ETag of its blob, its path, or the end of its path after a ``/``.

    Returns
    -------
    list of tuple
        The place of each record, and itself, in the order of their places.

    Raises
    ------
    UsageError
        When there is no such output.
    InvalidReferencesError
        When a record cannot be read.
    OutputError
        When the output cannot be listed.
    """
    layout = as_layout(output)
    if not layout.store.is_there():
        raise UsageError(f"the output {layout.title} does not exist")
    plain = wanted.strip().strip('"')
    found = [
        record.path
        for place, records in sorted(layout.list_all().records.items())
        for record in records
        if _is_wanted(record, plain) or _is_at(place, plain)
    ]
    return [(path, load_record(layout.store, layout.relative(path))) for path in found]


def _is_wanted(record: ListedRecord, wanted: str) -> bool:
    return wanted.lower() == record.key.asset_id or wanted == record.key.etag


def _is_at(place: PurePath, wanted: str) -> bool:
    *folders, name = wanted.strip("/").split("/")
    parts = (*folders, safe_stem(name))
    return bool(name) and place.parts[-len(parts) :] == parts
