"""From staging to their final name: references replaced so that every reader sees old or new whole.

The order: a note in staging says what is going on; old records go, so that no record describes what
lies beside it wrongly; new index folders; ``refs.json`` by one rename; the record
(`finish_asset`); old index folders; the staging folder with its note. A run that finds a note of an
interrupted one clears the leavings, and the asset, having no record, is done again.
"""

from __future__ import annotations

from pathlib import Path, PurePath

import orjson

from ..errors import OutputError
from ..write import DOCUMENT_NAME, INDEX_FOLDER, INLINE_FOLDER
from .asset_names import DIRECTORY_SUFFIX
from .assets import CatalogAsset
from .folder_output import remove
from .layout import OutputLayout, RecordKey, parse_record_name
from .output_store import OutputStore, output_error
from .records import IndexRecord, record_bytes

NOTE = "publishing.json"


def publish_references(layout: OutputLayout, asset: CatalogAsset) -> tuple[PurePath, int, int]:
    """Give staged references their final name.

    Returns
    -------
    tuple
        Their place, their bytes, and the number of their files.

    Raises
    ------
    OutputError
        When that cannot be done.
    """
    staged, final = layout.staged_references(asset), layout.references_path(asset)
    try:
        nbytes, files = size_of(staged)
        (layout.staging_folder(asset) / NOTE).write_bytes(orjson.dumps(layout.relative(final)))
        withdraw_records(layout, asset)
        _adopt(layout.store, staged, layout.relative(final))
    except OSError as error:
        raise output_error(f"cannot publish {layout.location(final)}", error) from error
    return final, nbytes, files


def withdraw_records(layout: OutputLayout, asset: CatalogAsset) -> None:
    """Remove the records of an asset before what they describe is replaced: nothing of it counts as done."""
    layout.store.remove(map(layout.relative, records_beside(layout, layout.place(asset))))


def finish_asset(layout: OutputLayout, asset: CatalogAsset, record: IndexRecord) -> None:
    """Write the record of an asset that succeeded, then clear what nothing needs any more."""
    name = layout.relative(_record_path(layout, asset, record))
    layout.store.write(name, record_bytes(record), scratch=layout.staging_folder(asset))
    try:
        clear_unused(layout.store, layout.relative(layout.references_path(asset)))
        layout.store.remove([layout.relative(layout.other_form_path(asset))])
        remove(layout.staging_folder(asset))
    except OSError as error:
        raise output_error(f"cannot clear up after {asset.path}", error) from error


def finish_failed(layout: OutputLayout, asset: CatalogAsset, record: IndexRecord) -> None:
    """Write the record of an asset that failed; references of an earlier state stay as they are."""
    key_path = _record_path(layout, asset, record)
    remove(layout.staging_folder(asset))
    layout.store.write(layout.relative(key_path), record_bytes(record), scratch=layout.staging)
    earlier = [path for path in records_beside(layout, layout.place(asset)) if path != key_path]
    layout.store.remove(layout.relative(path) for path in earlier if _is_of_failure(path))


def clear_staging(layout: OutputLayout) -> None:
    """Remove what an interrupted run left in staging, and beside what it was publishing."""
    try:
        for note in sorted(layout.staging.glob(f"*/{NOTE}")):
            if layout.bucket is None:  # in a bucket, the run that does the asset again clears up
                clear_unused(layout.store, orjson.loads(note.read_bytes()))
        remove(layout.staging)
    except (OSError, orjson.JSONDecodeError) as error:
        raise OutputError(f"cannot clear {layout.staging}: {error}; remove it by hand") from error


def remove_empty_staging(layout: OutputLayout) -> None:
    """Remove the folder of unpublished work at the end of a run."""
    remove(layout.staging)


def clear_unused(store: OutputStore, references: str) -> None:
    """Remove index arrays and inline files that the document does not name."""
    rooms = [f"{references}/{folder}" for folder in (INDEX_FOLDER, INLINE_FOLDER)]
    items = [item for room in rooms for item in store.children(room)]
    if items:
        used = {f"{references}/{name}" for name in _named_in(store, f"{references}/{DOCUMENT_NAME}")}
        store.remove(item for item in items if item not in used)
    for room in rooms:
        store.drop_empty(room, up_to=references)


def records_beside(layout: OutputLayout, place: PurePath) -> list[PurePath]:
    """List the records of the asset at a place."""
    names = (file.name for file in layout.store.files(layout.relative(place) + ".", closed=DIRECTORY_SUFFIX))
    paths = (layout.folder / name for name in names)
    return [path for path in paths if (parse_record_name(path.name) or ("",))[0] == place.name]


def size_of(path: Path) -> tuple[int, int]:
    """Return the bytes and the number of the files at a path."""
    files = [path] if path.is_file() else [item for item in path.rglob("*") if item.is_file()]
    return sum(item.stat().st_size for item in files), len(files)


def _adopt(store: OutputStore, staged: Path, final: str) -> None:
    """Publish a file, or what a document names and then the document."""
    if staged.is_file():
        store.adopt(staged, final, is_final=True)
        return
    for folder in (INDEX_FOLDER, INLINE_FOLDER):
        for item in sorted((staged / folder).iterdir()) if (staged / folder).is_dir() else ():
            store.adopt(item, f"{final}/{folder}/{item.name}")  # the name is a digest of the content
    store.adopt(staged / DOCUMENT_NAME, f"{final}/{DOCUMENT_NAME}", is_final=True)


def _named_in(store: OutputStore, name: str) -> set[str]:
    """What a document names in its own folder; nothing when there is no document."""
    try:
        document = orjson.loads(store.read(name))
    except FileNotFoundError:
        return set()
    indexes = document.get("indexes", {})
    return {entry["index"] for entry in indexes.values()} | set(document.get("inline_files", []))


def _record_path(layout: OutputLayout, asset: CatalogAsset, record: IndexRecord) -> PurePath:
    key = RecordKey(record.asset_id, record.etag, record.options_digest, record.format_version)
    return layout.record_path(asset, key, record.outcome)


def _is_of_failure(record: PurePath) -> bool:
    parsed = parse_record_name(record.name)
    return parsed is not None and parsed[2] == "failed"
