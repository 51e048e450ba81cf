"""From staging to their final name: references replaced so that every reader sees old or new whole.

The order: a note in staging says what is going on; old records go, so that no record describes what
lies beside it wrongly; new index folders; ``refs.json`` by one rename; the record
(`finish_asset`); old index folders; the staging folder with its note. A run that finds a note of an
interrupted one clears the leavings, and the asset, having no record, is done again.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import orjson

from ..errors import OutputError
from ..write import DOCUMENT_NAME, INDEX_FOLDER, INLINE_FOLDER
from .assets import CatalogAsset
from .layout import OutputLayout, RecordKey, parse_record_name
from .records import IndexRecord, write_record

NOTE = "publishing.json"


def publish_references(layout: OutputLayout, asset: CatalogAsset) -> tuple[Path, int, int]:
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
        final.parent.mkdir(parents=True, exist_ok=True)
        for record in records_beside(layout.place(asset)):
            record.unlink()
        if staged.is_dir() and final.is_dir():
            _replace_directory(staged, final)
        else:
            staged.replace(final)
    except OSError as error:
        raise OutputError(f"cannot publish {final}: {error.strerror or error}") from error
    return final, nbytes, files


def finish_asset(layout: OutputLayout, asset: CatalogAsset, record: IndexRecord) -> None:
    """Write the record of an asset that succeeded, then clear what nothing needs any more."""
    key_path = _record_path(layout, asset, record)
    write_record(record, key_path, scratch=layout.staging_folder(asset))
    try:
        clear_unused(layout.references_path(asset))
        remove(layout.other_form_path(asset))
        remove(layout.staging_folder(asset))
    except OSError as error:
        raise OutputError(f"cannot clear up after {asset.path}: {error.strerror or error}") from error


def finish_failed(layout: OutputLayout, asset: CatalogAsset, record: IndexRecord) -> None:
    """Write the record of an asset that failed; references of an earlier state stay as they are."""
    key_path = _record_path(layout, asset, record)
    remove(layout.staging_folder(asset))
    write_record(record, key_path, scratch=layout.staging)
    for path in records_beside(layout.place(asset)):
        parsed = parse_record_name(path.name)
        if path != key_path and parsed is not None and parsed[2] == "failed":
            path.unlink()


def clear_staging(layout: OutputLayout) -> None:
    """Remove what an interrupted run left in staging, and beside what it was publishing."""
    try:
        for note in sorted(layout.staging.glob(f"*/{NOTE}")):
            clear_unused(layout.folder / orjson.loads(note.read_bytes()))
        remove(layout.staging)
    except (OSError, orjson.JSONDecodeError) as error:
        raise OutputError(f"cannot clear {layout.staging}: {error}; remove it by hand") from error


def remove_empty_staging(layout: OutputLayout) -> None:
    """Remove the folder of unpublished work at the end of a run."""
    remove(layout.staging)


def clear_unused(references: Path) -> None:
    """Remove index arrays and inline files that the document does not name."""
    if not (references / INDEX_FOLDER).is_dir() and not (references / INLINE_FOLDER).is_dir():
        return
    document = references / DOCUMENT_NAME
    used = _named_by(orjson.loads(document.read_bytes())) if document.is_file() else set()
    for folder in (references / INDEX_FOLDER, references / INLINE_FOLDER):
        if not folder.is_dir():
            continue
        for item in folder.iterdir():
            if f"{folder.name}/{item.name}" not in used:
                remove(item)
        if not any(folder.iterdir()):
            folder.rmdir()


def records_beside(place: Path) -> list[Path]:
    """List the records of the asset at a place."""
    try:
        names = sorted(entry.name for entry in os.scandir(place.parent))
    except FileNotFoundError:
        return []
    parsed = ((name, parse_record_name(name)) for name in names if name.startswith(place.name))
    return [place.with_name(name) for name, parts in parsed if parts is not None and parts[0] == place.name]


def size_of(path: Path) -> tuple[int, int]:
    """Return the bytes and the number of the files at a path."""
    files = [path] if path.is_file() else [item for item in path.rglob("*") if item.is_file()]
    return sum(item.stat().st_size for item in files), len(files)


def _replace_directory(staged: Path, final: Path) -> None:
    for name in (INDEX_FOLDER, INLINE_FOLDER):
        for item in (staged / name).iterdir() if (staged / name).is_dir() else ():
            target = final / name / item.name
            if not target.exists():  # the name is a digest of the content
                target.parent.mkdir(exist_ok=True)
                item.rename(target)
    (staged / DOCUMENT_NAME).replace(final / DOCUMENT_NAME)


def _named_by(document: dict[str, object]) -> set[str]:
    indexes = document.get("indexes", {})
    assert isinstance(indexes, dict)  # noqa: S101 (a document that was verified)
    inline = document.get("inline_files", [])
    assert isinstance(inline, list)  # noqa: S101
    return {entry["index"] for entry in indexes.values()} | set(inline)


def _record_path(layout: OutputLayout, asset: CatalogAsset, record: IndexRecord) -> Path:
    key = RecordKey(record.asset_id, record.etag, record.options_digest, record.format_version)
    return layout.record_path(asset, key, record.outcome)


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder; one that is not there is no error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
