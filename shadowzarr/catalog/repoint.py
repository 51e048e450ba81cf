"""References of a blob that was indexed before, pointed at another asset with the same blob.

The document names its source in few places; when the old URL stands in exactly those, putting the new
one there gives byte for byte what generating again would. Anything else is left to generating.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson

from ..errors import InvalidReferencesError
from ..refs.document import Rfs
from ..write import DOCUMENT_NAME
from .output_store import OutputStore
from .records import IndexRecord, load_record


def repoint(twin: str, *, output: OutputStore, url: str, etag: str, staged: Path) -> IndexRecord | None:
    """Write the twin's references, pointed at another URL, to staging.

    Parameters
    ----------
    twin : str
        Record of the asset whose references are there, relative to the output.
    output : OutputStore
        The output it belongs to.
    url : str
        The URL to point at.
    etag : str
        Of the blob, without quotes; a twin that was replaced meanwhile has another.
    staged : Path
        Where to write.

    Returns
    -------
    IndexRecord or None
        The twin's record; none when generating is the safer way.
    """
    try:
        record = load_record(output, twin)
        with output.local_copy(str(record.references)) as references:
            document = references if references.is_file() else references / DOCUMENT_NAME
            content = replace_url(document.read_bytes(), record.url, url, etag=etag)
            if content is None:
                return None
            _write(content, references, staged)
    except (OSError, InvalidReferencesError):
        # Gone or replaced meanwhile: nothing is lost but the shortcut.
        shutil.rmtree(staged, ignore_errors=True)
        return None
    return record


def replace_url(document: bytes, old: str, new: str, *, etag: str) -> bytes | None:
    """Replace a source's URL in a document.

    Returns nothing when the URL stands where it should not, or the source is another than ``etag``.
    """
    quoted_old, quoted_new = orjson.dumps(old), orjson.dumps(new)
    rfs = orjson.loads(document)
    if rfs.get("sources", {}).get(old, {}).get("etag", "").strip('"') != etag:
        return None
    places = count_places(rfs, old)
    if not places or document.count(quoted_old) != places or document.count(old.encode()) != places:
        return None
    return document.replace(quoted_old, quoted_new)


def count_places(rfs: Rfs, url: str) -> int:
    """Count where a document names a source by its whole URL."""
    found = [*rfs.get("templates", {}).values(), *rfs.get("sources", {})]
    found += [entry["url"] for entry in rfs.get("indexes", {}).values()]
    found += [entry["url"] for entry in rfs.get("gen", [])]
    found += [value[0] for value in rfs["refs"].values() if isinstance(value, list)]
    return found.count(url)


def _write(document: bytes, references: Path, staged: Path) -> None:
    if references.is_file():
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.write_bytes(document)
        return
    shutil.copytree(references, staged, ignore=shutil.ignore_patterns(DOCUMENT_NAME), dirs_exist_ok=True)
    (staged / DOCUMENT_NAME).write_bytes(document)
