"""write_rfs: a reference file system → one JSON file, or a directory with index arrays.

A directory holds ``refs.json``, ``index/<name>-<digest>/`` for each array with a chunk index (an
ordinary zarr array), and ``inline/<digest>.bin`` when the document would hold too many bytes itself.
What ``refs.json`` points to has a name made from its content and is written first; ``refs.json``
follows by one rename, and what only the old one pointed to goes last. So a reader sees the old
references whole or the new ones whole, whenever it comes and wherever this is interrupted. Writers of one
directory wait for each other.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson

from .access.locations import written_path
from .errors import OutputError, ShadowzarrError, UsageError
from .refs.absolute_places import with_absolute_places
from .refs.byte_range import ChunkLocation
from .refs.chunk_index import index_array_metadata
from .refs.chunk_key import METADATA_NAME, chunk_key, parse_chunk_key
from .refs.document import IndexArray, IndexEntry, Reference, Rfs
from .refs.index_codec import encode_index
from .refs.inline import decode_inline, encode_inline, inline_size
from .replacing import bring_names_to_disk, bring_to_disk, held_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT_NAME = "refs.json"
INDEX_FOLDER = "index"
INLINE_FOLDER = "inline"

_OWN_NAME = re.compile(r"\..+\.tmp|[A-Za-z0-9_-]+-[0-9a-f]{16}|[0-9a-f]{16}\.bin")
"""Temporary files, index folders and inline files."""

INLINE_LIMIT = 64 * 2**20
"""Inline bytes a document of the directory form holds; what is above goes to a file beside it."""


def write_rfs(rfs: Rfs, path: str | os.PathLike[str], *, inline_limit: int = INLINE_LIMIT) -> None:
    """Write references to disk, replacing references that are there and never anything else.

    Parameters
    ----------
    rfs : Rfs
        Generated, built or loaded. A relative path of a source is one from the working directory, and
        written absolute.
    path : str or path
        A path that ends in ``.json`` gives one file with every chunk listed, which any kerchunk
        reader opens (version 1, unless the document has selections). Any other path gives a
        directory, opened by its name.
    inline_limit : int, optional
        Directory form: bytes of inline chunks in ``refs.json``, in all. The largest above it go to
        a file beside it.

    Raises
    ------
    UsageError
        When ``rfs`` is no references, or the path is a URL.
    OutputError
        When the place cannot be written, or holds something else than references.
    """
    if not isinstance(rfs, Mapping) or "refs" not in rfs:
        raise UsageError(
            f"write_rfs writes references, found a {type(rfs).__name__} without them; generate_rfs(source) "
            "makes them, load_rfs(path) reads them"
        )
    _write(rfs, written_path(path), inline_limit, lambda listed: listed)


def write_listed(rfs: Rfs, target: Path, form: Callable[[Rfs], Rfs]) -> None:
    """Write references to one JSON file in another form; errors as for `write_rfs`.

    Parameters
    ----------
    rfs : Rfs
        As for `write_rfs`.
    target : Path
        Ends in ``.json``.
    form : callable
        Makes the document that is written of the one with every chunk listed, which it leaves as it is.
    """
    _write(rfs, target, INLINE_LIMIT, form)


def _write(rfs: Rfs, target: Path, inline_limit: int, form: Callable[[Rfs], Rfs]) -> None:
    loaded = _in_memory(rfs)
    try:
        check_replaceable(target)
        with contextlib.ExitStack() as held:
            with _Made() as made:
                if target.suffix == ".json":
                    _write_file(loaded, target, form, made)
                    return
                _hold(target, made, held)
                document = _write_directory(loaded, target, inline_limit, made)
            _remove_unused(document, target)
    except ShadowzarrError:
        raise
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        raise OutputError(f"cannot write {target}: {getattr(error, 'strerror', None) or error}") from error


def replace_document(path: Path, document: Rfs, *, made_of: bytes | None = None) -> None:
    """Replace the JSON document of references by one rename; what it names stays as it is.

    Parameters
    ----------
    path : Path
        The document.
    document : Rfs
        As it is to be, without index arrays in memory.
    made_of : bytes, optional
        What was there when the new one was made of it, and still has to be.

    Raises
    ------
    OutputError
        When it cannot be written; the old one is there then.
    """
    data = _serialise(document)
    is_alone = path.name != DOCUMENT_NAME
    try:
        with contextlib.nullcontext() if is_alone else held_folder(path.parent):
            is_as_read = made_of is None or path.read_bytes() == made_of
            if is_as_read:
                replace_file(path, data)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    if not is_as_read:
        raise OutputError(f"{path} was written anew meanwhile and stays as it is; do it again")


class _Made:
    """What a call made, which is taken away again when the call fails; what was there before stays."""

    def __init__(self) -> None:
        self._paths: list[tuple[Path, bool]] = []
        self._document: tuple[Path, os.stat_result] | None = None

    def __enter__(self) -> _Made:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or self._is_in_place():
            return
        for path, whole in reversed(self._paths):
            with contextlib.suppress(OSError):  # the failure itself is what is told
                if not path.is_dir():
                    path.unlink(missing_ok=True)
                elif whole:
                    shutil.rmtree(path)
                else:
                    path.rmdir()  # only an empty one: what others put there since is theirs

    def folder(self, path: Path) -> None:
        """Make a folder and those that it is in, where they are missing."""
        for missing in reversed([each for each in (path, *path.parents) if not each.exists()]):
            self._paths.append((missing, False))
            try:
                missing.mkdir()
            except FileExistsError:
                self._paths.pop()  # somebody else has made it meanwhile, or it is a link to nowhere
        if not path.is_dir():
            path.mkdir()  # which says what is there instead

    def will_make(self, path: Path) -> None:
        """Say what is about to be made, a file or a whole folder."""
        self._paths.append((path, True))

    def will_rename(self, temporary: Path, target: Path) -> None:
        """Say what makes the new references the ones that are there: from then on nothing is taken away."""
        self._document = target, temporary.stat()

    def _is_in_place(self) -> bool:
        if self._document is None:
            return False
        target, written = self._document
        return target.exists() and os.path.samestat(target.stat(), written)


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Refuse a place that holds anything but references; `write_rfs` does so too, after the work.

    An empty .json file and an empty directory hold nothing, and what a killed writer left is no loss.

    Raises
    ------
    OutputError
        With what is there.
    """
    target = Path(path)
    if target.suffix == ".json":
        if target.is_dir():
            raise _not_ours(target, "it is a directory")
        if target.exists() and not _is_document(target):
            raise _not_ours(target, "it holds no references")
    elif target.is_dir():
        _check_directory(target)
    elif target.exists():
        raise _not_ours(target, "it is a file, and references not named .json are a directory")


def _check_directory(target: Path) -> None:
    if (target / DOCUMENT_NAME).exists():
        if not _is_document(target / DOCUMENT_NAME):
            raise _not_ours(target, f"its {DOCUMENT_NAME} holds no references")
        return
    for item in target.iterdir():
        is_folder = item.name in (INDEX_FOLDER, INLINE_FOLDER) and item.is_dir()
        other = next((each for each in item.iterdir() if not _is_ours(each)), None) if is_folder else item
        if other is not None and not _is_ours(other):
            name = str(other.relative_to(target))
            raise _not_ours(target, f"it holds {name!r} and no {DOCUMENT_NAME}, so they are no references")


def _is_document(file: Path) -> bool:
    """Whether a file is a document of references, or empty."""
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        if opened.read(1) not in (
            b"",
            b"{",
        ):  # no reference writer begins with a space; the rest may be large
            return False
    data = file.read_bytes()
    if not data:
        return True
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            document = json.loads(data)  # older writers wrote bare NaN
        except ValueError:
            return False
    return isinstance(document, dict) and isinstance(document.get("refs"), dict)


def _is_ours(item: Path) -> bool:
    """Whether a file or folder has a name that only this module gives."""
    return _OWN_NAME.fullmatch(item.name) is not None


def _not_ours(target: Path, reason: str) -> OutputError:
    return OutputError(
        f"cannot write {target}: {reason}; only references are replaced: choose another place, or remove it"
    )


def _write_file(rfs: Rfs, target: Path, form: Callable[[Rfs], Rfs], made: _Made) -> None:
    from .refs.listing import list_every_chunk  # needs zarr's data types, which take long to import

    listed = list_every_chunk(rfs, size_of=lambda url: _size_of(rfs, url), read=lambda at: _read(rfs, at))
    data = _serialise(form(listed))
    made.folder(target.parent)
    _replace(target, data, made)


def _hold(target: Path, made: _Made, held: contextlib.ExitStack) -> None:
    """Make a directory and keep other writers of it waiting, which would take away what this one writes."""
    while True:
        made.folder(target)
        if held.enter_context(held_folder(target)):
            return


def _write_directory(rfs: Rfs, target: Path, inline_limit: int, made: _Made) -> Rfs:
    document = cast("Rfs", dict(rfs))
    if "indexes" in rfs:
        document["indexes"] = {
            path: _write_index(target, path, entry, made) for path, entry in rfs["indexes"].items()
        }
    _write_large_inline(document, target, inline_limit, made)
    rooms = [each for each in (target / INDEX_FOLDER, target / INLINE_FOLDER) if each.is_dir()]
    _replace(target / DOCUMENT_NAME, _serialise(document), made, named_in=[*rooms, target] if rooms else [])
    return document


def _serialise(document: Rfs) -> bytes:
    try:
        return orjson.dumps(document)
    except TypeError as error:
        raise UsageError(f"the references cannot be written as JSON: {error}") from error


def _write_index(target: Path, path: str, entry: IndexEntry, made: _Made) -> IndexEntry:
    index = cast("IndexArray", entry["index"])
    metadata = index_array_metadata(index.shape[:-1])
    name = f"{INDEX_FOLDER}/{_safe_name(path)}-{_digest(path, index)}"
    if not (target / name).is_dir():
        made.folder(target / INDEX_FOLDER)
        temporary = target / INDEX_FOLDER / f".{uuid.uuid4().hex}.tmp"
        made.will_make(temporary)
        _write_array(temporary, metadata, encode_index(index))
        bring_to_disk(temporary)
        made.will_make(target / name)
        temporary.rename(target / name)
    return {"url": entry["url"], "index": name, "metadata": metadata}


def _write_array(
    folder: Path, metadata: dict[str, Any], chunks: Iterator[tuple[tuple[int, ...], bytes]]
) -> None:
    folder.mkdir(parents=True)
    for coordinates, data in chunks:
        file = folder / chunk_key("", coordinates)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (folder / METADATA_NAME).write_text(json.dumps(metadata, separators=(",", ":")))


def _safe_name(path: str) -> str:
    """A file name that is safe everywhere and tells a person which array it is."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", path)[-60:].strip("_") or "array"


def _digest(path: str, index: IndexArray) -> str:
    digest = hashlib.sha256(json.dumps([path, index.shape]).encode())
    digest.update(memoryview(index.reshape(-1)).cast("B"))
    return digest.hexdigest()[:16]


def _write_large_inline(document: Rfs, target: Path, limit: int, made: _Made) -> None:
    """Move the largest inline chunks to a file until what is left is within the limit."""
    sizes = {
        key: inline_size(value)
        for key, value in document["refs"].items()
        if isinstance(value, str) and parse_chunk_key(key) is not None
    }
    excess = sum(sizes.values()) - limit
    if excess <= 0:
        return
    moved: list[str] = []
    for key in sorted(sizes, key=lambda key: (-sizes[key], key)):
        if excess <= 0:
            break
        moved.append(key)
        excess -= sizes[key]
    data = [decode_inline(cast("str", document["refs"][key])) for key in moved]
    whole = b"".join(data)
    name = f"{INLINE_FOLDER}/{hashlib.sha256(whole).hexdigest()[:16]}.bin"
    made.folder(target / INLINE_FOLDER)
    if not (target / name).is_file():
        made.will_make(target / name)
        replace_file(target / name, whole)
    refs, offset = dict(document["refs"]), 0
    for key, part in zip(moved, data, strict=True):
        refs[key] = [name, offset, len(part)]
        offset += len(part)
    document["refs"] = refs
    document["inline_files"] = [name]


def _replace(target: Path, data: bytes, made: _Made, *, named_in: Sequence[Path] = ()) -> None:
    """Write the document itself, which must not be on the disk before the names that it relies on."""

    def renaming(temporary: Path) -> None:
        for folder in named_in:
            bring_names_to_disk(folder)  # with the document's content on the disk this is next to nothing
        made.will_rename(temporary, target)

    replace_file(target, data, renaming=renaming)


def _remove_unused(document: Rfs, target: Path) -> None:
    used = {Path(cast("str", entry["index"])).name for entry in document.get("indexes", {}).values()}
    used |= {Path(name).name for name in document.get("inline_files", [])}
    for folder in (target / INDEX_FOLDER, target / INLINE_FOLDER):
        for item in folder.iterdir() if folder.is_dir() else ():
            if item.name in used or not _is_ours(item):
                continue
            if item.is_dir():
                shutil.rmtree(item)
            else:
                item.unlink()
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    for left_over in target.glob(".*.tmp"):
        left_over.unlink()


def _in_memory(rfs: Rfs) -> Rfs:
    """References with their indexes and all inline chunks in memory, where loading left them."""
    whole = cast("Rfs", dict(rfs))
    lazy = {path: entry for path, entry in rfs.get("indexes", {}).items() if isinstance(entry["index"], str)}
    if lazy:
        from .access.index_arrays import read_index

        read = {path: {**entry, "index": read_index(entry)} for path, entry in lazy.items()}
        whole["indexes"] = cast("dict[str, IndexEntry]", {**rfs["indexes"], **read})
    if "inline_files" in whole:
        names = tuple(whole.pop("inline_files"))
        whole["refs"] = dict(_inlined(whole, names))
    return with_absolute_places(whole)


def _inlined(rfs: Rfs, files: tuple[str, ...]) -> Iterator[tuple[str, Reference]]:
    """References, those into the document's own files turned back into inline chunks."""
    for key, reference in rfs["refs"].items():
        if not isinstance(reference, str) and reference[0].endswith(files):
            data = _read(rfs, ChunkLocation(*reference))
            yield key, encode_inline(data)
        else:
            yield key, reference


def _size_of(rfs: Rfs, url: str) -> int | None:
    entry = rfs.get("sources", {}).get(url)
    if entry is not None:
        return entry["size"]
    from .access.locations import is_remote

    return None if is_remote(url) or not Path(url).is_file() else Path(url).stat().st_size


def _read(rfs: Rfs, location: ChunkLocation) -> bytes:
    from .access.range_reader import default_reader
    from .access.sources import Source
    from .refs.byte_range import FileRange

    entry = rfs.get("sources", {}).get(location.url)
    source = Source(location.url, entry["size"], entry.get("etag")) if entry else None
    part = FileRange(location.offset, location.length or 0)
    return bytes(default_reader().read(location.url, [part], source=source)[0])
