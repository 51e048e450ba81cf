"""What an asset may be called so that its files have a place of their own in an output.

Names come from an archive and are whatever somebody once uploaded. One that cannot be a file's name, or
would meet other files, is refused for its asset alone.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PurePath

DIRECTORY_SUFFIX = ".shadowzarr"
JSON_SUFFIX = ".shadowzarr.json"
RECORD_SUFFIX = ".record.json"
LONGEST_STEM = 130
"""Bytes of an asset's file name; with the longest record name this stays under 255."""
LONGEST_PATH = 2000
"""Bytes of an asset's path; the folder it lies in and the suffixes must fit into the system's 4096."""

_ASSET_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ETAG = re.compile(r"[0-9a-f]{32}-\d{1,5}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SHORTENED = re.compile(r".*~[0-9a-f]{16}", re.DOTALL)


def printable_text(text: str) -> str:
    """Return a name that can be written: JSON may hold half of a surrogate pair, UTF-8 may not."""
    return text.encode(errors="backslashreplace").decode()


def path_problem(path: str) -> str | None:
    """Say why an asset's path cannot be a path of the output, or nothing."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "it has an empty part, . or .."
    if "\\" in path or _CONTROL.search(path):
        return "it holds a backslash or a control character"
    # In any case of letters, for file systems that take those for the same.
    if any(part.lower().endswith((DIRECTORY_SUFFIX, JSON_SUFFIX, RECORD_SUFFIX)) for part in parts):
        return "a part of it ends like the files of this output"
    if any(len(part.encode()) > 255 for part in parts[:-1]):
        return "a folder of it is longer than 255 bytes"
    if len(path.encode()) > LONGEST_PATH:
        return f"it is longer than {LONGEST_PATH:,} bytes"
    return None


def identity_problem(asset_id: str, etag: str) -> str | None:
    """Say why an asset's id or ETag cannot be part of a record's name, or nothing."""
    if not _ASSET_ID.fullmatch(asset_id):
        return f"the archive gives it the id {asset_id!r}, which is no UUID"
    if not _ETAG.fullmatch(etag):
        return f"the archive gives it the ETag {etag!r}, expected one such as {'0' * 32}-1"
    return None


def safe_stem(name: str) -> str:
    """Shorten a file name that would leave no room for suffixes; a digest keeps it unique.

    Names that look shortened get a digest too, so that none is what another one becomes.
    """
    encoded = name.encode()
    if len(encoded) <= LONGEST_STEM and not _SHORTENED.fullmatch(name):
        return name
    digest = hashlib.sha256(encoded).hexdigest()[:16]
    return encoded[: LONGEST_STEM - 17].decode(errors="ignore") + "~" + digest


def is_shortened(name: str) -> bool:
    """Tell whether a file name may be one that `safe_stem` shortened."""
    return _SHORTENED.fullmatch(name) is not None


def repeated(names: Sequence[str]) -> str | None:
    """Return the first name that stands there twice, or None; in whatever case, and form of Unicode."""
    same = [folded(PurePath(name)) for name in names]
    return next((name for name, each in zip(names, same, strict=True) if same.count(each) > 1), None)


def folded(place: PurePath) -> str:
    """Return what a file system that ignores case takes a path for."""
    return unicodedata.normalize("NFC", str(place)).casefold()


def ignores_case(folder: Path) -> bool:
    """Tell whether the file system of a folder, which need not exist, takes ``A`` and ``a`` for the same."""
    for there in (folder, *folder.parents):
        other = there.with_name(there.name.swapcase()) if there.name else there
        if other != there and there.exists():
            return other.exists() and there.samefile(other)
    return False
