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

An output in a bucket is the same, but that staging and the catalogue's data base are on the machine of
the run.

A version's folder holds what belongs to its assets and nothing else, so no path of an asset meets a
file of ours. The names of the records carry everything that decides whether an asset has to be done, so
that a listing tells it and no record is opened. What an asset may be called is the subject of
`shadowzarr.catalog.asset_names`, reading and writing records that of `shadowzarr.catalog.records`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from ..errors import OutputError, UsageError
from .asset_names import DIRECTORY_SUFFIX, JSON_SUFFIX, RECORD_SUFFIX, path_problem, safe_stem
from .assets import CatalogAsset
from .bucket_output import BucketOutput
from .folder_output import FolderOutput
from .options import ReferenceOptions
from .output_store import OutputStore

_RECORD_NAME = re.compile(
    r"(?P<stem>.+)\.(?P<asset_id>[0-9a-f-]{36})\.(?P<etag>[0-9a-f]{32}-\d{1,5})"
    r"\.(?P<options>[0-9a-f]{12})\.f(?P<format>\d+)\.(?P<outcome>indexed|materialized|partial|failed)\.record\.json",
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
    path : PurePath
        The file.
    state : str
        Another one when the file was written anew.
    """

    key: RecordKey
    outcome: str
    path: PurePath
    state: str = ""


@dataclass
class Listing:
    """What lies in one version's folder, or in all of them.

    Attributes
    ----------
    records : dict
        Records of each asset, by the asset's place without any suffix.
    references : set of PurePath
        References that are there.
    """

    records: dict[PurePath, list[ListedRecord]] = field(default_factory=dict)
    references: set[PurePath] = field(default_factory=set)

    def done(self, place: PurePath, references: PurePath) -> list[ListedRecord]:
        """Return the records of an asset that succeeded and whose references are there."""
        if references not in self.references:
            return []
        return [record for record in self.records.get(place, []) if record.outcome != "failed"]


@dataclass(frozen=True)
class OutputLayout:
    """Places in one output.

    Attributes
    ----------
    folder : PurePath
        The output folder, or the name of a place in a bucket. What is done with places goes through the
        store, so that it is done where they are.
    options : ReferenceOptions
        Its ``form`` decides the suffix of references.
    bucket : BucketOutput, optional
        The place in a bucket.
    run : str
        What tells the unpublished work of a run from that of others, where work of a run may go on for a
        while after its end: on other machines. What it left can so never be taken for that of the next.
    part : str
        The part of a run (`shadowzarr.catalog.parts`) whose unpublished work is meant; empty for a whole one.
    """

    folder: PurePath
    options: ReferenceOptions
    bucket: BucketOutput | None = None
    run: str = ""
    part: str = ""

    @property
    def store(self) -> OutputStore:
        """Where the published files are; names are those that `relative` gives."""
        return FolderOutput(Path(self.folder)) if self.bucket is None else self.bucket

    @property
    def title(self) -> str:
        """What people know it by: its folder, or its URL."""
        return str(self.folder if self.bucket is None else self.bucket)

    @property
    def workings(self) -> Path:
        """Folder on this machine for unpublished work."""
        return self.store.workings

    @property
    def lock(self) -> Path:
        """File that the run which writes here holds on this machine."""
        return self.workings / "lock"

    @property
    def staging(self) -> Path:
        """Folder of unpublished work."""
        return (self.workings / "parts" / self.part if self.part else self.workings) / "staging"

    @property
    def gone(self) -> PurePath:
        """Where results are moved whose assets left their version, when that is the policy."""
        return self.folder / "gone"

    @property
    def report(self) -> PurePath:
        """The latest run's report."""
        return self.folder / "report.html"

    def require(self) -> None:
        """See that there is such an output.

        Raises
        ------
        UsageError
            When there is none: its name is wrong, more often than not.
        """
        if not self.store.is_there():
            raise UsageError(f"the output {self.title} does not exist")

    def version_folder(self, dandiset: str, version: str) -> PurePath:
        """Return the folder of one version's references."""
        return self._room(dandiset) / version

    def skipped_path(self, dandiset: str, version: str) -> PurePath:
        """Return the list of assets that were passed over."""
        return self._room(dandiset) / f"{version}.skipped.json"

    def place(self, asset: CatalogAsset) -> PurePath:
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

    def references_path(self, asset: CatalogAsset) -> PurePath:
        """Return the final place of an asset's references."""
        return with_suffix(self.place(asset), self._suffix)

    def other_form_path(self, asset: CatalogAsset) -> PurePath:
        """Return where the references would be in the other form."""
        other = JSON_SUFFIX if self._suffix == DIRECTORY_SUFFIX else DIRECTORY_SUFFIX
        return with_suffix(self.place(asset), other)

    def record_path(self, asset: CatalogAsset, key: RecordKey, outcome: str) -> PurePath:
        """Return the place of an asset's record."""
        return with_suffix(self.place(asset), record_suffix(key, outcome))

    def staging_folder(self, asset: CatalogAsset) -> Path:
        """Return an asset's own folder of unpublished work."""
        name = "\0".join((asset.dandiset, asset.version, asset.path, *filter(None, [self.run])))
        return self.staging / hashlib.sha256(name.encode()).hexdigest()[:32]

    def staged_references(self, asset: CatalogAsset) -> Path:
        """Return where the references of an asset are before they are published."""
        return self.staging_folder(asset) / ("references" + self._suffix)

    def relative(self, path: PurePath) -> str:
        """Return a place relative to the output folder, with ``/``."""
        return path.relative_to(self.folder).as_posix()

    def location(self, path: PurePath) -> str:
        """Return the path or URL of a place, as readers take it."""
        return self.store.location(self.relative(path))

    def list_version(self, dandiset: str, version: str) -> Listing:
        """List the records and references of one version."""
        return self._list(self.version_folder(dandiset, version))

    def list_versions(self, dandiset: str) -> Listing:
        """List the records and references of every version of a dandiset."""
        return self._list(self._room(dandiset))

    def list_all(self) -> Listing:
        """List the records and references of every version."""
        listing = self._list(self.folder / _DANDISETS)
        others = self._list(self.folder / _COLLECTIONS)
        return Listing(listing.records | others.records, listing.references | others.references)

    def _list(self, folder: PurePath) -> Listing:
        """List records and references below a folder; one that does not exist holds none."""
        listing = Listing()
        for file in self.store.files(f"{self.relative(folder)}/", closed=DIRECTORY_SUFFIX):
            path = self.folder / file.name
            if path.name.endswith((DIRECTORY_SUFFIX, JSON_SUFFIX)):
                listing.references.add(path)
            elif parsed := parse_record_name(path.name):
                stem, key, outcome = parsed
                record = ListedRecord(key, outcome, path, file.state)
                listing.records.setdefault(path.with_name(stem), []).append(record)
        return listing

    def _room(self, dandiset: str) -> PurePath:
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


def with_suffix(place: PurePath, suffix: str) -> PurePath:
    """Append to a path's name; unlike `Path.with_suffix`, nothing is replaced."""
    return place.with_name(place.name + suffix)


def place_of(references: PurePath) -> PurePath:
    """Return the path that the names of an asset's files start with, from that of its references."""
    suffix = JSON_SUFFIX if references.name.endswith(JSON_SUFFIX) else DIRECTORY_SUFFIX
    return references.with_name(references.name.removesuffix(suffix))


def layout_at(place: Path | BucketOutput, options: ReferenceOptions | None = None) -> OutputLayout:
    """Return the places of an output in a folder or a bucket."""
    options = options or ReferenceOptions()
    if isinstance(place, BucketOutput):
        return OutputLayout(place.folder, options, place)
    return OutputLayout(place, options)


def as_layout(output: OutputLayout | Path) -> OutputLayout:
    """Return the places of an output that may be named by its folder alone."""
    return output if isinstance(output, OutputLayout) else layout_at(output)
