"""Where everything of an output folder lies, and what the names of records say.

::

    OUTPUT/
      dandisets/<dandiset>/<version>/
        <asset path>.shadowzarr/refs.json      references, as a directory …
        <asset path>.shadowzarr.json           … or as one file
        <asset path>.<asset id>.<etag>.<options digest>.f<format>.<outcome>.record.json
      dandisets/<dandiset>/<version>.skipped.json   assets passed over, with the reason
      collections/<name>/current/              the same for a folder or manifest
      catalog/                                 tables of all of it, see `shadowzarr.catalog.tables`
      gone/                                    results moved aside, whose assets left their version
      report.html                              the latest run
      .shadowzarr/lock, .shadowzarr/staging/   one run at a time; work that is not published

A version's folder holds what belongs to its assets and nothing else, so no path of an asset meets a
file of ours. The names of the records carry everything that decides whether an asset has to be done, so
that a listing tells it and no record is opened. What an asset may be called is the subject of
`shadowzarr.catalog.asset_names`, reading and writing records that of `shadowzarr.catalog.records`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import OutputError
from .asset_names import DIRECTORY_SUFFIX, JSON_SUFFIX, RECORD_SUFFIX, path_problem, safe_stem
from .assets import CatalogAsset
from .options import ReferenceOptions

_RECORD_NAME = re.compile(
    r"(?P<stem>.+)\.(?P<asset_id>[0-9a-f-]{36})\.(?P<etag>[0-9a-f]{32}-\d{1,5})"
    r"\.(?P<options>[0-9a-f]{12})\.f(?P<format>\d+)\.(?P<outcome>indexed|partial|failed)\.record\.json",
    re.DOTALL,
)


_DANDISETS, _COLLECTIONS = "dandisets", "collections"
_DANDISET = re.compile(r"\d{6}", re.ASCII)


@dataclass(frozen=True)
class RecordKey:
    """What decides whether work is done: asset, blob, options and format."""

    asset_id: str
    etag: str
    options_digest: str
    format_version: int

    @property
    def blob_key(self) -> tuple[str, str, int]:
        """What decides the content of references, whatever asset the blob belongs to."""
        return (self.etag, self.options_digest, self.format_version)


@dataclass(frozen=True)
class ListedRecord:
    """A record as a listing shows it.

    Attributes
    ----------
    key : RecordKey
        From the name.
    outcome : str
        From the name: ``indexed``, ``partial`` or ``failed``.
    path : Path
        The file.
    """

    key: RecordKey
    outcome: str
    path: Path


@dataclass
class Listing:
    """What lies in one version's folder, or in all of them.

    Attributes
    ----------
    records : dict
        Records of each asset, by the asset's place without any suffix.
    references : set of Path
        References that are there.
    """

    records: dict[Path, list[ListedRecord]] = field(default_factory=dict)
    references: set[Path] = field(default_factory=set)

    def done(self, place: Path, references: Path) -> list[ListedRecord]:
        """Return the records of an asset that succeeded and whose references are there."""
        if references not in self.references:
            return []
        return [record for record in self.records.get(place, []) if record.outcome != "failed"]


@dataclass(frozen=True)
class OutputLayout:
    """Places in one output folder.

    Attributes
    ----------
    folder : Path
        The output folder.
    options : ReferenceOptions
        Its ``form`` decides the suffix of references.
    """

    folder: Path
    options: ReferenceOptions

    @property
    def workings(self) -> Path:
        """Folder of the lock and of unpublished work."""
        return self.folder / ".shadowzarr"

    @property
    def lock(self) -> Path:
        """File that the run which writes here holds."""
        return self.workings / "lock"

    @property
    def staging(self) -> Path:
        """Folder of unpublished work."""
        return self.workings / "staging"

    @property
    def gone(self) -> Path:
        """Where results are moved whose assets left their version, when that is the policy."""
        return self.folder / "gone"

    @property
    def report(self) -> Path:
        """The latest run's report."""
        return self.folder / "report.html"

    def version_folder(self, dandiset: str, version: str) -> Path:
        """Return the folder of one version's references."""
        return self._room(dandiset) / version

    def skipped_path(self, dandiset: str, version: str) -> Path:
        """Return the list of assets that were passed over."""
        return self._room(dandiset) / f"{version}.skipped.json"

    def place(self, asset: CatalogAsset) -> Path:
        """Return the path that the names of an asset's files start with.

        Raises
        ------
        OutputError
            When the asset's path would leave the output folder, or meet another asset's references.
        """
        problem = path_problem(asset.path)
        if problem:
            raise OutputError(f"asset path {asset.path!r} cannot be a path of the output: {problem}")
        *folders, name = asset.path.split("/")
        return self.version_folder(asset.dandiset, asset.version).joinpath(*folders, safe_stem(name))

    def references_path(self, asset: CatalogAsset) -> Path:
        """Return the final place of an asset's references."""
        return with_suffix(self.place(asset), self._suffix)

    def other_form_path(self, asset: CatalogAsset) -> Path:
        """Return where the references would be in the other form."""
        other = JSON_SUFFIX if self._suffix == DIRECTORY_SUFFIX else DIRECTORY_SUFFIX
        return with_suffix(self.place(asset), other)

    def record_path(self, asset: CatalogAsset, key: RecordKey, outcome: str) -> Path:
        """Return the place of an asset's record."""
        return with_suffix(self.place(asset), record_suffix(key, outcome))

    def staging_folder(self, asset: CatalogAsset) -> Path:
        """Return an asset's own folder of unpublished work."""
        name = "\0".join((asset.dandiset, asset.version, asset.path))
        return self.staging / hashlib.sha256(name.encode()).hexdigest()[:32]

    def staged_references(self, asset: CatalogAsset) -> Path:
        """Return where the references of an asset are before they are published."""
        return self.staging_folder(asset) / ("references" + self._suffix)

    def relative(self, path: Path) -> str:
        """Return a place relative to the output folder, with ``/``."""
        return path.relative_to(self.folder).as_posix()

    def list_version(self, dandiset: str, version: str) -> Listing:
        """List the records and references of one version."""
        return list_folder(self.version_folder(dandiset, version))

    def list_all(self) -> Listing:
        """List the records and references of every version."""
        listing = list_folder(self.folder / _DANDISETS)
        others = list_folder(self.folder / _COLLECTIONS)
        return Listing(listing.records | others.records, listing.references | others.references)

    def _room(self, dandiset: str) -> Path:
        """The folder of all versions of a dandiset, or of a folder or manifest, which has another name."""
        return self.folder / (_DANDISETS if _DANDISET.fullmatch(dandiset) else _COLLECTIONS) / dandiset

    @property
    def _suffix(self) -> str:
        return DIRECTORY_SUFFIX if self.options.form == "directory" else JSON_SUFFIX


def record_suffix(key: RecordKey, outcome: str) -> str:
    """Return what a record's name adds to the asset's."""
    return f".{key.asset_id}.{key.etag}.{key.options_digest}.f{key.format_version}.{outcome}{RECORD_SUFFIX}"


def parse_record_name(name: str) -> tuple[str, RecordKey, str] | None:
    """Take a record's name apart: the asset's name, the key and the outcome; none for other files."""
    match = _RECORD_NAME.fullmatch(name)
    if match is None:
        return None
    key = RecordKey(match["asset_id"], match["etag"], match["options"], int(match["format"]))
    return match["stem"], key, match["outcome"]


def with_suffix(place: Path, suffix: str) -> Path:
    """Append to a path's name; unlike `Path.with_suffix`, nothing is replaced."""
    return place.with_name(place.name + suffix)


def place_of(references: Path) -> Path:
    """Return the path that the names of an asset's files start with, from that of its references."""
    suffix = JSON_SUFFIX if references.name.endswith(JSON_SUFFIX) else DIRECTORY_SUFFIX
    return references.with_name(references.name.removesuffix(suffix))


def list_folder(folder: Path) -> Listing:
    """List records and references below a folder; one that does not exist holds none."""
    listing = Listing()
    for path in _walk(folder):
        if path.name.endswith((DIRECTORY_SUFFIX, JSON_SUFFIX)):
            listing.references.add(path)
        elif parsed := parse_record_name(path.name):
            stem, key, outcome = parsed
            listing.records.setdefault(path.with_name(stem), []).append(ListedRecord(key, outcome, path))
    return listing


def _walk(folder: Path) -> Iterator[Path]:
    """Yield files, and the directories that are references without looking into them."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputError(f"cannot list {folder}: {error.strerror or error}") from error
    for entry in entries:
        path = folder / entry.name
        if entry.is_dir(follow_symlinks=False) and not entry.name.endswith(DIRECTORY_SUFFIX):
            yield from _walk(path)
        else:
            yield path
