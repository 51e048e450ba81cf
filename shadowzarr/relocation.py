"""relocate_rfs: references to files that were moved, pointed at their new places.

Only the document is written again: index arrays and inline files say where bytes are in a file, not which
file. What the new places hold is compared with what the document says of the old ones first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from .access.describing import refuse_signed
from .access.locations import canonical, is_remote, local_path, without_query
from .access.source_identity import Source, check_identity
from .access.sources import describe
from .errors import InvalidReferencesError, ReadError, SourceNotFoundError, UsageError
from .formatting import format_count
from .notebook import SummaryShown
from .refs.chunk_key import METADATA_NAME
from .refs.document import Rfs, SourceEntry
from .refs.templates import expand, placeholder
from .store.load_rfs import document_location, parse_document
from .write import replace_document


@dataclass(frozen=True, slots=True, repr=False)
class RelocationReport(SummaryShown):
    """What `relocate_rfs` did, or would do.

    Attributes
    ----------
    files : dict
        New places by old ones.
    places : int
        Texts of the document that name one of them: templates, references, rules, indexes and sources.
    checked : bool
        Whether size and ETag at the new places were compared.
    written : bool
        Whether the document was replaced.
    sizes, etags : int
        Files whose size, and whose ETag, the document has and were found to be the same; local files have no
        ETag.
    """

    files: dict[str, str]
    places: int
    checked: bool
    written: bool
    sizes: int = 0
    etags: int = 0

    def summary(self) -> str:
        """One line for each file, and one for all."""
        lines = [f"{without_query(old)} -> {without_query(new)}" for old, new in self.files.items()]
        done = "changed" if self.written else "would change"
        number, places = format_count(len(self.files), "file"), format_count(self.places, "place")
        return "\n".join([*lines, f"{number} ({self._found()}), {done} in {places} of the document"])

    def _found(self) -> str:
        """What was compared."""
        if not self.checked:
            return "not checked"
        if not self.sizes:
            return "there; the references have no sizes to compare"
        sizes = "size" if self.sizes == len(self.files) else f"size of {self.sizes:,}"
        if not self.etags:
            return f"{sizes} is the same; no ETag to compare"
        if self.etags == self.sizes:
            return f"{sizes} and ETag are the same"
        return f"{sizes} is the same, and the ETag of {self.etags:,}"


def relocate_rfs(
    refs: str | os.PathLike[str],
    *,
    from_prefix: str,
    to_prefix: str,
    check: bool = True,
    dry_run: bool = False,
) -> RelocationReport:
    """Point references at files that were moved.

    Parameters
    ----------
    refs : str or path
        A document (.json) or a directory of one, on this machine.
    from_prefix : str
        A file as the references name it, or the beginning of such names up to a slash.
    to_prefix : str
        What stands there now. A local path is made absolute.
    check : bool, optional
        Whether size and ETag of each file at its new place must be those that the document has; the
        new ETag is recorded where the document has none.
    dry_run : bool, optional
        Whether nothing is written.

    Returns
    -------
    RelocationReport
        Which files, in how many places.

    Raises
    ------
    InvalidReferencesError
        When ``refs`` is no references.
    UsageError
        When no file begins so, or a new place is a signed URL.
    SourceNotFoundError, SourceChangedError
        When a file is not at its new place, or another one is; nothing is written.
    OutputError
        When the document cannot be written, or somebody else has written it meanwhile.
    """
    if not from_prefix or not to_prefix:
        raise UsageError("from_prefix and to_prefix are the beginnings of names of files, and not empty")
    path = _document(refs)
    before = _read(path)
    moves = _Moves(from_prefix, to_prefix if is_remote(to_prefix) else _absolute(to_prefix))
    moved = _Relocated(_parse(before, path), moves)
    if not moves.files:
        named = ", ".join(map(without_query, sorted(moves.met)[:3])) or "no file"
        raise UsageError(f"no file in {path} begins with {without_query(from_prefix)!r}; it names {named}")
    return _written(path, moved, moves, made_of=before, check=check, dry_run=dry_run)


def point_files(
    refs: str | os.PathLike[str], url_for: Callable[[str], str], *, check: bool = True
) -> RelocationReport:
    """Point references at other places of their files, each of which is asked for by itself.

    Parameters
    ----------
    refs : str or path
        As for `relocate_rfs`.
    url_for : callable
        Gives the new place of a file that references name; its own where it stays.
    check : bool, optional
        As for `relocate_rfs`.

    Returns
    -------
    RelocationReport
        Which files, in how many places; none when all stay where they are.

    Raises
    ------
    ShadowzarrError
        As `relocate_rfs` raises them, but for files that stay.
    """
    path = _document(refs)
    before = _read(path)
    moves = _Places(url_for)
    moved = _Relocated(_parse(before, path), moves)
    return _written(path, moved, moves, made_of=before, check=check, dry_run=False)


def _written(
    path: Path, moved: _Relocated, moves: _Moves, *, made_of: bytes, check: bool, dry_run: bool
) -> RelocationReport:
    """Check what was moved, and write it."""
    refuse_signed(moves.files.values())
    if check:
        moved.check()
    if moves.files and not dry_run:
        replace_document(path, moved.document, made_of=made_of)
    return RelocationReport(
        dict(moves.files), moved.places, check, not dry_run, sizes=moved.sizes, etags=moved.etags
    )


def _absolute(prefix: str) -> str:
    """A local prefix made absolute, with the slash at its end that it may have."""
    made = canonical(prefix)
    return f"{made}/" if prefix.endswith("/") and made != "/" else made


def _document(refs: str | os.PathLike[str]) -> Path:
    location = canonical(refs)
    if is_remote(location):
        raise UsageError(f"{without_query(location)} is not on this machine, so it cannot be written")
    path = Path(document_location(local_path(location)))
    if not path.is_file():
        raise SourceNotFoundError(
            f"no references at {path}; expected a .json file, or a directory that holds refs.json"
        )
    return path


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror or error}") from error


def _parse(data: bytes, path: Path) -> Rfs:
    document = parse_document(data, str(path))
    refs: dict[str, Any] = document["refs"]
    for key, value in refs.items():
        if isinstance(value, dict):  # which may hold NaN, that orjson would write as null
            refs[key] = json.dumps(value)
    return document


class _Moves:
    """Names of files, old and new."""

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new
        self.files: dict[str, str] = {}
        self.met: set[str] = set()

    def renamed(self, name: str) -> str:
        """A name, or the beginning of one, as it is now."""
        head = self._old.rstrip("/")
        if name == self._old:
            return self._new
        return self._new.rstrip("/") + name[len(head) :] if name.startswith(f"{head}/") else name

    def of(self, name: str) -> str:
        """The new name of a file, which is kept in mind; its own when it does not begin with the prefix."""
        self.met.add(name)
        found = self.renamed(name)
        if found != name:
            self.files[name] = found
        return found


class _Places(_Moves):
    """Names of files, each with a new one of its own."""

    def __init__(self, url_for: Callable[[str], str]) -> None:
        super().__init__("", "")
        self._url_for = url_for

    def renamed(self, name: str) -> str:
        """The new name of a whole file."""
        return self._url_for(name)


class _Relocated:
    """A document with its files renamed.

    Attributes
    ----------
    document : Rfs
        As it is to be written.
    places : int
        Texts that changed.
    """

    def __init__(self, document: Rfs, moves: _Moves) -> None:
        self._old_templates = dict(document.get("templates") or {})
        self._templates = dict(self._old_templates)
        self._moves = moves
        self._texts: dict[str, str] = {}
        self.places = self.sizes = self.etags = 0
        self.document = cast("Rfs", dict(document))
        self._rename()
        self._old_sources = document.get("sources") or {}
        self._rename_sources(self._old_sources)

    def check(self) -> None:
        """Compare each file at its new place with what the document says of it, and record what is new."""
        sources = self.document.setdefault("sources", {})
        for old, new in self._moves.files.items():
            entry = self._old_sources.get(old)
            found = describe(new, url=new)
            if entry is not None:
                check_identity(
                    Source(new, entry["size"], entry.get("etag")), size=found.size, etag=found.etag
                )
                self.sizes += found.size is not None
                self.etags += bool(entry.get("etag") and found.etag)
            if found.size is not None:
                sources[new] = _entry(found, entry)

    def _rename(self) -> None:
        document = self.document
        for name, text in self._old_templates.items():
            self._templates[name] = self._moves.renamed(text)
            self.places += self._templates[name] != text
        for key, value in document["refs"].items():
            if isinstance(value, list):
                document["refs"][key] = [self._text(value[0]), *value[1:]]
        if document.get("gen"):
            document["gen"] = [{**rule, "url": self._text(rule["url"])} for rule in document["gen"]]
        if document.get("indexes"):
            document["indexes"] = {
                path: {**entry, "url": self._plain(entry["url"])}
                for path, entry in document["indexes"].items()
            }
        if self._templates:
            document["templates"] = self._templates
        self._rename_recording()

    def _rename_recording(self) -> None:
        """Where the root's attribute ``neo`` says that the recording is: a local place, or nothing."""
        text = self.document["refs"].get(METADATA_NAME)
        if not isinstance(text, str) or not text.startswith("{"):
            return
        root = json.loads(text)
        about = root.get("attributes", {}).get("neo")
        if not isinstance(about, dict) or not isinstance(about.get("path"), str):
            return
        old = about.pop("path")
        new = self._moves.renamed(old)
        if new == old:
            return
        if not is_remote(new):
            about["path"] = new
        self.document["refs"][METADATA_NAME] = json.dumps(root)
        self.places += 1

    def _text(self, text: str) -> str:
        """A file's text in the document, such that it is read as the file's new name."""
        if text not in self._texts:
            self._texts[text] = self._renamed(text)
        if self._texts[text] != text:
            self.places += 1
        return self._texts[text]

    def _plain(self, text: str) -> str:
        """The same where a document writes names out, and braces count at the beginning alone."""
        if text.startswith("{{"):
            return self._text(text)
        renamed = self._moves.of(text)
        self.places += renamed != text
        return renamed

    def _renamed(self, text: str) -> str:
        if "{{" not in text or not self._old_templates:
            return self._written(self._moves.of(text))
        wanted = self._moves.of(expand(text, self._old_templates))
        return text if expand(text, self._templates) == wanted else self._written(wanted)

    def _written(self, name: str) -> str:
        """A name, by a template where its own braces would be taken for one."""
        if "{{" not in name or not self._old_templates:
            return name
        free = next(
            number for number in range(len(self._templates) + 1) if f"r{number}" not in self._templates
        )
        self._templates[f"r{free}"] = name
        return placeholder(f"r{free}")

    def _rename_sources(self, sources: Mapping[str, SourceEntry]) -> None:
        if not sources:
            return
        renamed: dict[str, SourceEntry] = {}
        for name, entry in sources.items():
            new = self._plain(name)
            if new in renamed and renamed[new] != entry:
                raise InvalidReferencesError(f"two files would be {without_query(new)}, which is only one")
            renamed[new] = entry
        self.document["sources"] = renamed


def _entry(found: Source, old: SourceEntry | None) -> SourceEntry:
    entry: dict[str, Any] = {"size": found.size}
    if found.etag:
        entry["etag"] = found.etag
    if old is not None and old.get("linked"):
        entry["linked"] = True
    return cast("SourceEntry", entry)
