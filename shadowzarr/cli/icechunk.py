"""``shadowzarr icechunk``: references written into an Icechunk repository, as one commit."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import CycloptsError, Parameter

from ..access.locations import without_query
from ..formatting import format_bytes, format_count
from .array_progress import ArrayProgress
from .exit_codes import DONE, LEFT_OUT
from .left_out import document_name, left_out_lines
from .written import as_json

if TYPE_CHECKING:
    from ..icechunk import IcechunkReport

MOST_NAMED = 20
"""How many objects left out are named; the document names all."""


def icechunk(
    refs: str,
    repo: str,
    *,
    group: str | None = None,
    branch: str = "main",
    message: str | None = None,
    url_prefix: Annotated[Sequence[str], Parameter(negative="")] = (),
    copy_selections: Annotated[bool, Parameter(negative="")] = False,
    cf_attributes: Annotated[bool, Parameter(negative="")] = False,
    replace: Annotated[bool, Parameter(name=("--force", "--replace"), negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
    allow_local_files: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Write references into an Icechunk repository.

    The repository is made where there is none, and gets the virtual chunk containers that the references
    need. All is one commit, or nothing is there; when others commit meanwhile, it is tried again.

    Ends with 0, with 3 when the references leave something of their source out, and with 1 on failure.

    Parameters
    ----------
    refs
        A document (.json), a directory of one, or a URL.
    repo
        A folder, or s3://BUCKET/PREFIX with the credentials of the AWS_ variables.
    group
        The group to write to, such as sub-01/session-2; left out, the root.
    branch
        The branch to commit to; made from main when it is not there.
    message
        Says in the history of the repository what was done.
    url_prefix
        FROM=TO, any number of times: files whose locations begin with FROM are at TO for the repository.
    copy_selections
        Read arrays with a selection and write their data into the repository, rather than refuse them.
    cf_attributes
        Write _FillValue and scales of arrays with named axes as xarray reads them, not as they are stored.
    replace
        Replace what is at the group already.
    json
        Print the outcome as one JSON object.
    allow_local_files
        Let references at a URL name files of this machine.
    """
    url_for = _prefixes(url_prefix)
    _hush()
    from ..icechunk import commit_changes, open_repository
    from ..icechunk.plan import make_plan
    from ..icechunk.to_icechunk import write_plan
    from ..store.load_rfs import load_rfs

    start = time.monotonic()
    rfs = load_rfs(refs, allow_local_files=allow_local_files)
    plan = make_plan(rfs, url_for=url_for, copy_selections=copy_selections, cf_attributes=cf_attributes)
    url_for.refuse_unused()
    opened = open_repository(repo, plan.urls)
    if branch not in opened.list_branches():
        opened.create_branch(branch, opened.lookup_branch("main"))
    written: list[IcechunkReport] = []
    with ArrayProgress() as progress:
        options: dict[str, Any] = {"group": group, "replace": replace, "progress": progress}

        def write(session: Any) -> None:
            written.append(write_plan(plan, session, **options))

        snapshot = commit_changes(opened, message or f"shadowzarr: {refs}", write, branch=branch)
    seconds = round(time.monotonic() - start, 3)
    entries = [(e["path"], e["kind"], e["reason"]) for e in rfs.get("skipped", [])]
    if json:
        place = {"repository": repo, "group": group, "branch": branch, "snapshot": snapshot}
        print(as_json(written[-1], entries, **place, seconds=seconds))
        return LEFT_OUT if entries else DONE
    print(_made(written[-1], repo, group, branch, snapshot, seconds))
    for line in left_out_lines(entries, limit=MOST_NAMED, where=document_name(refs)):
        print(line)
    return LEFT_OUT if entries else DONE


def _hush() -> None:
    """Keep the library from warning on standard error of every repository in a folder."""
    from .._optional import require

    library = require("icechunk", extra="icechunk")
    if "ICECHUNK_LOG" not in os.environ:
        library.set_logs_filter("error")


class _Prefixes:
    """Maps locations by their beginnings; the longest that fits counts."""

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self._pairs = sorted(pairs.items(), key=lambda pair: -len(pair[0]))
        self._unused = set(pairs)
        self._met: set[str] = set()

    def __call__(self, location: str) -> str:
        self._met.add(location)
        fitting = [(old, new) for old, new in self._pairs if location.startswith(old)]
        self._unused.difference_update(old for old, _ in fitting)
        for old, new in fitting:
            return new + location[len(old) :]
        return location

    def refuse_unused(self) -> None:
        """Refuse prefixes that no location began with: they are misspelled, or there is no such file."""
        if self._unused:
            from ..errors import UsageError

            named = ", ".join(map(without_query, sorted(self._met)[:3])) or "none"
            raise UsageError(
                f"--url-prefix: no file of the references begins with {without_query(min(self._unused))!r}; "
                f"they name {named}"
            )


def _prefixes(given: Sequence[str]) -> _Prefixes:
    pairs = {}
    for text in given:
        old, sign, new = text.partition("=")
        if not (old and sign and new):
            error = CycloptsError(msg=f"--url-prefix {text!r}: expected FROM=TO")
            error.command_chain = ("icechunk",)
            raise error
        pairs[old] = new
    return _Prefixes(pairs)


def _made(
    report: IcechunkReport, repo: str, group: str | None, branch: str, snapshot: str | None, seconds: float
) -> str:
    place = f"{repo}, group {group}" if group else repo
    files = format_count(len(report.files), "file")
    return (
        f"{place}: {format_count(report.groups, 'group')}, {format_count(report.arrays, 'array')}, "
        f"{format_count(report.virtual_chunks, 'virtual chunk')} in {files}, "
        f"{format_count(report.native_chunks, 'native chunk')} of {format_bytes(report.native_bytes)}; "
        f"snapshot {snapshot} of branch {branch} in {seconds:.1f} s"
    )
