"""What a version of a dandiset should be in a repository: its open assets, and what references are of them.

A pure function of a listing of the archive and what is known of the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ...icechunk.asset_groups import HeldAsset, group_of
from ...icechunk.locations import bucket_object
from ..asset_names import identity_problem, path_problem
from ..assets import CatalogAsset
from ..globs import matches_any
from ..layout import ListedRecord
from ..plan import SelectionRules
from ..records import ErrorSummary

NOT_INDEXED = "it has no references in the output; index_dandisets makes them"


@dataclass(frozen=True)
class MissingAsset:
    """An asset of the version that a repository does not hold.

    Attributes
    ----------
    path : str
        Its path.
    reason : str
        Why, in a sentence.
    is_final : bool
        Whether this is so as long as the file is what it is, rather than until it is indexed.
    """

    path: str
    reason: str
    is_final: bool = False


@dataclass(frozen=True)
class WantedAsset:
    """An asset that a repository should hold.

    Attributes
    ----------
    asset : CatalogAsset
        As it is listed.
    url : str
        Where Icechunk reads its bytes.
    record : ListedRecord, optional
        Of its references.
    missing : MissingAsset
        What is said of it when there are none.
    """

    asset: CatalogAsset
    url: str
    record: ListedRecord | None
    missing: MissingAsset

    def held(self, record: ListedRecord) -> HeldAsset:
        """How a repository names it when it is written from the references of a record."""
        key, asset = record.key, self.asset
        return HeldAsset(
            asset.path, asset.asset_id, asset.etag, self.url, key.options_digest, key.format_version
        )


@dataclass
class Contents:
    """What a repository should hold.

    Attributes
    ----------
    wanted : dict of str to WantedAsset
        By group.
    missing : list of MissingAsset
        What cannot be in it, whatever references there are.
    embargoed : int
        Assets that are left out because they are not public; they are not named.
    listed : int
        All assets of the version.
    """

    wanted: dict[str, WantedAsset] = field(default_factory=dict)
    missing: list[MissingAsset] = field(default_factory=list)
    embargoed: int = 0
    listed: int = 0


def contents_of(
    assets: Iterable[CatalogAsset],
    rules: SelectionRules,
    *,
    record_of: Callable[[CatalogAsset], ListedRecord | None],
    failure_of: Callable[[CatalogAsset], ErrorSummary | None],
) -> Contents:
    """Decide what a repository should hold of a version.

    Parameters
    ----------
    assets : iterable of CatalogAsset
        All assets of the version.
    rules : SelectionRules
        Which are wanted.
    record_of : callable
        The record of an asset's references, if there are any.
    failure_of : callable
        Why an asset could not be indexed, if somebody tried.
    """
    contents = Contents()
    for asset in sorted(assets, key=lambda asset: asset.path):
        contents.listed += 1
        if asset.embargoed:
            contents.embargoed += 1
        elif _is_wanted(asset, rules) and not _is_full(contents, rules):
            _add(contents, asset, record_of, failure_of)
    return contents


def virtual_url(asset: CatalogAsset) -> str:
    """Where Icechunk reads an open asset: the object behind it, in a bucket of AWS as ``s3://``."""
    return bucket_object(asset.blob_url) or asset.blob_url or asset.download_url


def _is_wanted(asset: CatalogAsset, rules: SelectionRules) -> bool:
    return (
        asset.kind == "blob"
        and matches_any(asset.path, rules.include)
        and not matches_any(asset.path, rules.exclude)
    )


def _is_full(contents: Contents, rules: SelectionRules) -> bool:
    return rules.limit is not None and len(contents.wanted) >= rules.limit


def _add(
    contents: Contents,
    asset: CatalogAsset,
    record_of: Callable[[CatalogAsset], ListedRecord | None],
    failure_of: Callable[[CatalogAsset], ErrorSummary | None],
) -> None:
    problem = path_problem(asset.path) or identity_problem(asset.asset_id, asset.etag)
    if not problem:
        group = group_of(asset.path)
        above = next((each for each in _above(group) if each in contents.wanted), None)
        problem = None if above is None else f"the asset {contents.wanted[above].asset.path} is above it"
    if problem:
        contents.missing.append(MissingAsset(asset.path, problem, is_final=bool(asset.etag)))
        return
    record = record_of(asset)
    missing = MissingAsset(asset.path, NOT_INDEXED)
    failure = failure_of(asset) if record is None else None
    if failure is not None:
        reason = f"it could not be indexed: {failure.message}"
        missing = MissingAsset(asset.path, reason, is_final=failure.permanent)
    contents.wanted[group] = WantedAsset(asset, virtual_url(asset), record, missing)


def _above(group: str) -> list[str]:
    parts = group.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
