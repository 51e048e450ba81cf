"""The difference, written into a session: all of it, or an error and nothing that is committed.

An asset whose references cannot go into Icechunk is left out by name and never costs the others; what the
repository held at its place goes all the same, since it is not what the archive has.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import icechunk

from ...access.locations import canonical
from ...errors import InvalidReferencesError, ReadError, ShadowzarrError, SourceError, UnsupportedError
from ...icechunk.asset_groups import held_assets, remove_groups, rename_asset, set_dandiset, with_asset
from ...icechunk.containers import prefix_for
from ...icechunk.plan import Plan, make_plan
from ...icechunk.to_icechunk import write_plan
from ...store.load_rfs import load_rfs
from ..layout import OutputLayout
from ..records import IndexRecord, load_record
from .contents import MissingAsset, WantedAsset
from .decide import GroupWrite, RepositoryChange, decide, record_label

_UNUSABLE = (InvalidReferencesError, UnsupportedError, ReadError, SourceError)
"""What concerns one asset alone."""


@dataclass
class SessionWriter:
    """Makes a session hold what it should; called anew when somebody else has committed meanwhile.

    Attributes
    ----------
    wanted : dict of str to WantedAsset
        By group.
    public : OutputLayout
        Where references are.
    dandiset : dict
        What the root says of the dandiset.
    copy_selections, force : bool
        As in `RefreshRequest`.
    change : RepositoryChange
        What the last call did.
    """

    wanted: dict[str, WantedAsset]
    public: OutputLayout
    dandiset: dict[str, str]
    copy_selections: bool = False
    force: bool = False
    change: RepositoryChange = field(default_factory=RepositoryChange)

    def __call__(self, session: icechunk.Session) -> None:
        """Write into a session.

        Raises
        ------
        OutputError
            When Icechunk does not take it.
        """
        change = self.change = decide(held_assets(session), self.wanted, force=self.force)
        if change.is_empty:
            return
        staying = change.kept | {write.group for write in change.writes}
        remove_groups(session, change.removed, kept=staying)
        for group, asset in change.relabelled.items():
            rename_asset(session, group, asset)
        prefixes = list(session.config.virtual_chunk_containers or {})
        change.writes = [write for write in change.writes if self._write(session, write, prefixes)]
        left_out = staying - change.kept - {write.group for write in change.writes}
        remove_groups(session, sorted(left_out), kept=staying - left_out)
        if session.has_uncommitted_changes:
            set_dandiset(session, self.dandiset)

    def _write(self, session: icechunk.Session, write: GroupWrite, prefixes: list[str]) -> bool:
        """Write one group; False when it cannot be, which is noted.

        What is held stays when it is of the right bytes and only its references were to be others.
        """
        is_right = write.cause in ("other references", "forced")
        with contextlib.ExitStack() as reading:  # chunk indexes are read while the plan is written
            try:
                plan = self._plan(write.wanted, prefixes, reading)
            except _UNUSABLE as error:
                return self._leave_out(write, error, stays=is_right)
            try:
                write_plan(plan, session, group=write.group, replace=True, is_checked=True)
            except _UNUSABLE as error:
                return self._leave_out(write, error, stays=False)
        return True

    def _leave_out(self, write: GroupWrite, error: ShadowzarrError, *, stays: bool) -> bool:
        if error.transient:
            raise error
        path = write.wanted.asset.path
        self.change.missing.append(MissingAsset(path, _sentence(error), isinstance(error, UnsupportedError)))
        if stays:
            self.change.kept.add(write.group)
        elif write.cause not in ("added", "renamed"):
            self.change.removed[write.group] = path
        return False

    def _plan(self, wanted: WantedAsset, prefixes: list[str], reading: contextlib.ExitStack) -> Plan:
        record = _usable_record(self.public, wanted)
        try:
            references = reading.enter_context(self.public.store.local_copy(str(record.references)))
        except FileNotFoundError as error:
            raise InvalidReferencesError("its references are gone; index it again") from error
        rfs = load_rfs(references)
        source = canonical(record.url)
        found = (rfs.get("sources") or {}).get(source)
        etag = (found.get("etag") if found is not None else None) or ""
        if etag.strip('"') != wanted.asset.etag:
            raise InvalidReferencesError(f"its references are of a file with the ETag {etag or '(none)'}")
        plan = make_plan(
            rfs,
            url_for=lambda location: wanted.url if location == source else location,
            copy_selections=self.copy_selections,
        )
        elsewhere = next((url for url in plan.urls if prefix_for(url, prefixes) is None), None)
        if elsewhere is not None:
            raise UnsupportedError(f"its references point into another file, {elsewhere}")
        return with_asset(plan, record_label(wanted))


def _usable_record(layout: OutputLayout, wanted: WantedAsset) -> IndexRecord:
    assert wanted.record is not None  # noqa: S101 - `decide` writes no other
    try:
        record = load_record(layout.store, layout.relative(wanted.record.path))
    except OSError as error:
        raise InvalidReferencesError(f"its record cannot be read: {error.strerror or error}") from error
    if record.private:
        raise InvalidReferencesError("its references were made while it was embargoed; index it again")
    if record.verification is None or not record.verification.equal:
        raise InvalidReferencesError("its references were never verified; index it with verification")
    return record


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())
