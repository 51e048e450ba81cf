"""The difference between what a repository should hold and what it holds (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ...icechunk.asset_groups import HeldAsset
from .contents import MissingAsset, WantedAsset

Cause = Literal["added", "changed", "renamed", "other references", "forced"]
"""Why a group is written."""


@dataclass(frozen=True)
class GroupWrite:
    """A group that is written.

    Attributes
    ----------
    group : str
        Where.
    wanted : WantedAsset
        What; it has a record.
    cause : str
        Why: ``added``; ``changed`` (other bytes, or at another place); ``renamed``; ``other references``
        (made with other options, or in another format); ``forced``.
    renamed_from : str
        The path that it had.
    """

    group: str
    wanted: WantedAsset
    cause: Cause
    renamed_from: str = ""


@dataclass
class RepositoryChange:
    """What makes a repository hold what it should.

    Attributes
    ----------
    writes : list of GroupWrite
        Groups that are written, and replaced where they are there.
    relabelled : dict of str to HeldAsset
        Groups whose bytes are those of another asset now, as after an edit of metadata.
    removed : dict of str to str
        Paths of assets that go, by group.
    kept : set of str
        Groups that stay as they are.
    missing : list of MissingAsset
        What the repository should hold and cannot.
    """

    writes: list[GroupWrite] = field(default_factory=list)
    relabelled: dict[str, HeldAsset] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    missing: list[MissingAsset] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the repository is as it should be."""
        return not (self.writes or self.relabelled or self.removed)

    @property
    def gone(self) -> list[str]:
        """Paths of the assets that went, but for those that were renamed."""
        renamed = {write.renamed_from for write in self.writes}
        return sorted(path for path in self.removed.values() if path not in renamed)

    def paths(self, cause: Cause) -> list[str]:
        """Paths of the assets that are written for a cause."""
        return [write.wanted.asset.path for write in self.writes if write.cause == cause]

    @property
    def counts(self) -> dict[str, int]:
        """What is done to how many assets; nothing that is not done."""
        causes = [write.cause for write in self.writes]
        found: dict[str, int] = {cause: causes.count(cause) for cause in dict.fromkeys(causes)}
        found |= {"relabelled": len(self.relabelled), "removed": len(self.gone)}
        return {name: count for name, count in found.items() if count}


def decide(
    held: Mapping[str, HeldAsset], wanted: Mapping[str, WantedAsset], *, force: bool = False
) -> RepositoryChange:
    """Compare what a repository holds with what it should.

    An asset whose bytes are held stays, also when the output has no references of it any more.

    Parameters
    ----------
    held, wanted : mapping
        By group.
    force : bool, optional
        Whether all that there are references of is written.
    """
    change = RepositoryChange()
    for group, asset in held.items():
        if group not in wanted:
            change.removed[group] = asset.path
    going = {asset.etag: asset.path for group, asset in held.items() if group in change.removed}
    for group, each in wanted.items():
        _decide(change, group, each, held.get(group), going, force=force)
    return change


def _decide(
    change: RepositoryChange,
    group: str,
    wanted: WantedAsset,
    held: HeldAsset | None,
    going: dict[str, str],
    *,
    force: bool,
) -> None:
    record = wanted.record
    is_current = held is not None and (held.etag, held.url) == (wanted.asset.etag, wanted.url)
    if held is not None and is_current and (record is None or _is_of(record_label(wanted), held)):
        if record is not None and force:
            change.writes.append(GroupWrite(group, wanted, "forced"))
            return
        change.kept.add(group)
        label = replace(held, path=wanted.asset.path, asset_id=wanted.asset.asset_id)
        if label != held:
            change.relabelled[group] = label
        return
    if record is None:
        change.missing.append(wanted.missing)
        if held is not None:
            change.removed[group] = held.path
        return
    change.writes.append(_write(group, wanted, held, going, is_current=is_current))


def record_label(wanted: WantedAsset) -> HeldAsset:
    """How a repository names an asset that has a record."""
    assert wanted.record is not None  # noqa: S101 - the caller looked
    return wanted.held(wanted.record)


def _is_of(label: HeldAsset, held: HeldAsset) -> bool:
    return (label.options, label.format) == (held.options, held.format)


def _write(
    group: str, wanted: WantedAsset, held: HeldAsset | None, going: dict[str, str], *, is_current: bool
) -> GroupWrite:
    if held is not None:
        return GroupWrite(group, wanted, "other references" if is_current else "changed")
    before = going.pop(wanted.asset.etag, "")  # one old path becomes one new one
    return GroupWrite(group, wanted, "renamed" if before else "added", renamed_from=before)
