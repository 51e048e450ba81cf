"""Which assets are materialized: verified references of an output, compared with what a destination holds.

::

    DESTINATION/
      dandisets/<dandiset>/<version>/
        <asset path>.zarr                 an ordinary Zarr store …
        <asset path>.zarr.zip             … or one in a zip file
        <asset path>.<asset id>.<etag>.<options digest>.f<format>.<outcome>.record.json
      collections/<name>/current/         the same for a folder or manifest
      materialized.json                   the latest run

Names of records decide what is done, in the source and in the destination; only records of what is to be done
are opened.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final, Literal

import orjson

from ..errors import InvalidReferencesError
from .asset_names import is_shortened
from .globs import matches_any
from .layout import ListedRecord, OutputLayout, RecordKey, parse_record_name, record_suffix
from .options import DIGEST_DIGITS
from .records import IndexRecord, load_record

STORE_VERSION: Final = 1
"""Raised when the same layout comes to give another store, so that all are made again."""
SUFFIXES: Final = {"folder": ".zarr", "zip": ".zarr.zip"}

NOT_VERIFIED: Final = "references are not verified"
UNREADABLE_RECORD: Final = "record cannot be read"
EMBARGOED: Final = "embargoed"
UNUSABLE_PATH: Final = "unusable path"


@dataclass(frozen=True)
class MaterializeOptions:
    """What stores look like; attributes as `shadowzarr.export.materialize` takes them, and the form."""

    layout: Literal["default", "ephys", "imaging"] = "default"
    form: Literal["folder", "zip"] = "folder"

    def as_json(self) -> dict[str, Any]:
        """Return the options as a record holds them."""
        return dataclasses.asdict(self)

    def digest(self, references: str) -> str:
        """Digest of all that decides what a store is, with that of the references' options."""
        content = orjson.dumps([self.as_json(), STORE_VERSION, references], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(content).hexdigest()[:DIGEST_DIGITS]


@dataclass(frozen=True)
class MaterializeRules:
    """Which assets are wanted.

    Attributes
    ----------
    dandisets : tuple of str
        Dandisets, and names of folders and manifests; empty for all that the output has.
    include, exclude : tuple of str
        Glob patterns over asset paths.
    embargoed : bool
        Whether embargoed assets are wanted; the destination is to be private then.
    versions : tuple of tuple of str, optional
        Pairs of a dandiset (or name) and a version, outside of which nothing is wanted; None for all.
    gone : frozenset of str
        Places, relative to the output, of assets that are known to have left their version: their
        references may stay, and lead nowhere.
    """

    dandisets: tuple[str, ...] = ()
    include: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    embargoed: bool = False
    versions: tuple[tuple[str, str], ...] | None = None
    gone: frozenset[str] = frozenset()

    def takes_version(self, dandiset: str, version: str) -> bool:
        """Whether assets of a version can be wanted."""
        is_named = not self.dandisets or dandiset in self.dandisets
        return is_named and (self.versions is None or (dandiset, version) in self.versions)


@dataclass(frozen=True)
class MaterializeWork:
    """One asset to be materialized.

    Attributes
    ----------
    source, target : OutputLayout
        Where the references are, and where the store goes.
    record : IndexRecord
        Of the references.
    place : str
        What the names of the asset's files start with, in both.
    key : RecordKey
        What its record will be named by.
    options : MaterializeOptions
    """

    source: OutputLayout
    target: OutputLayout
    record: IndexRecord
    place: str
    key: RecordKey
    options: MaterializeOptions

    @property
    def path(self) -> str:
        """The asset's path."""
        return self.record.path

    @property
    def label(self) -> str:
        """What it is called where others may look, such as in an orchestrator: no path that is private."""
        return self.record.asset_id if self.record.private else self.record.path

    @property
    def store(self) -> str:
        """Where the store goes, relative to the destination."""
        return self.place + SUFFIXES[self.options.form]

    def record_name(self, outcome: str) -> str:
        """Where its record goes, relative to the destination."""
        return self.place + record_suffix(self.key, outcome)

    @property
    def digest(self) -> str:
        """A name for unfinished work, another one when anything has changed."""
        return hashlib.sha256(f"{self.place}\0{self.key}".encode()).hexdigest()[:32]


@dataclass(frozen=True)
class PassedOver:
    """An asset that was chosen and is not materialized, and why; not named when it is embargoed."""

    place: str
    reason: str
    detail: str = ""
    private: bool = False


@dataclass
class MaterializePlan:
    """What a run will do.

    Attributes
    ----------
    work : list of MaterializeWork
        In the order of their places.
    unchanged : int
        Chosen assets whose stores are there.
    left_out_before : int
        Those of them whose references leave objects out.
    passed_over : list of PassedOver
    """

    work: list[MaterializeWork] = field(default_factory=list)
    unchanged: int = 0
    left_out_before: int = 0
    passed_over: list[PassedOver] = field(default_factory=list)

    @property
    def value_bytes(self) -> int:
        """Bytes of the values of all arrays that will be written, before compression."""
        return sum(work.record.counts.array_bytes for work in self.work)


def plan_materialize(
    source: OutputLayout, target: OutputLayout, rules: MaterializeRules, options: MaterializeOptions
) -> MaterializePlan:
    """Decide which assets are materialized.

    Parameters
    ----------
    source : OutputLayout
        The output that references are in.
    target : OutputLayout
        The destination.
    rules : MaterializeRules
    options : MaterializeOptions

    Raises
    ------
    OutputError
        When one of them cannot be listed.
    """
    plan, done = MaterializePlan(), _done(target, options)
    for place, listed in _chosen(source, rules):
        key = RecordKey(
            listed.key.asset_id,
            listed.key.etag,
            options.digest(listed.key.options_digest),
            listed.key.format_version,
        )
        name = source.relative(place)
        if key in done.get(name, {}):
            plan.unchanged += 1
            plan.left_out_before += done[name][key] == "partial"
            continue
        try:
            record = load_record(source.store, source.relative(listed.path))
        except (InvalidReferencesError, FileNotFoundError) as error:
            plan.passed_over.append(PassedOver(name, UNREADABLE_RECORD, str(error)))
            continue
        if not _is_wanted(record.path, rules):  # its file is named by a part of its path
            continue
        refusal = _refusal(record, rules, target, name)
        if refusal is not None:
            plan.passed_over.append(PassedOver(name, *refusal, private=record.private))
            continue
        plan.work.append(MaterializeWork(source, target, record, name, key, options))
    return plan


def _chosen(source: OutputLayout, rules: MaterializeRules) -> Iterator[tuple[PurePath, ListedRecord]]:
    listing = source.list_all()
    for place, records in sorted(listing.records.items()):
        name = source.relative(place)
        _, dandiset, version, *path = name.split("/")
        if name in rules.gone or not rules.takes_version(dandiset, version):
            continue
        if not is_shortened(path[-1]) and not _is_wanted("/".join(path), rules):
            continue
        yield from ((place, record) for record in records if record.outcome != "failed")


def _is_wanted(path: str, rules: MaterializeRules) -> bool:
    return matches_any(path, rules.include) and not matches_any(path, rules.exclude)


def _refusal(
    record: IndexRecord, rules: MaterializeRules, target: OutputLayout, name: str
) -> tuple[str, str] | None:
    if record.private and not rules.embargoed:
        return EMBARGOED, "embargoed: true materializes it, into a destination that is private"
    if record.verification is None or not record.verification.equal:
        return NOT_VERIFIED, "verification.mode: sample or full verifies them when they are made"
    if any(part.lower().endswith(tuple(SUFFIXES.values())) for part in name.split("/")):
        return UNUSABLE_PATH, "a part of its path ends like the stores of a destination"
    problem = target.store.name_problem(name)
    return None if problem is None else (UNUSABLE_PATH, problem)


def _done(target: OutputLayout, options: MaterializeOptions) -> dict[str, dict[RecordKey, str]]:
    """Outcomes by place and key, of those whose stores are there."""
    suffix = SUFFIXES[options.form]
    records: dict[str, dict[RecordKey, str]] = {}
    stores = set()
    for room in ("dandisets/", "collections/"):
        for file in target.store.files(room, closed=SUFFIXES["folder"]):
            folder, _, name = file.name.rpartition("/")
            if name.endswith(suffix):
                stores.add(file.name.removesuffix(suffix))
            elif (parsed := parse_record_name(name)) is not None and parsed[2] != "failed":
                records.setdefault(f"{folder}/{parsed[0]}", {})[parsed[1]] = parsed[2]
    return {place: found for place, found in records.items() if place in stores}
