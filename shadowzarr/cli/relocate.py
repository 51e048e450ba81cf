"""``shadowzarr relocate``: references pointed at files that were moved."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from ..access.locations import without_query
from .written import as_json


def relocate(
    refs: str,
    *,
    from_: Annotated[str, Parameter(name="--from")],
    to: str,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    no_check: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Point references at files that were moved.

    Only the document is written again, by one rename; chunk indexes stay as they are.

    Parameters
    ----------
    refs
        A document (.json) or a directory of one, on this machine.
    from_
        A file as the references name it, or the beginning of such names up to a slash.
    to
        What stands there now.
    dry_run
        Say what would change, and write nothing.
    no_check
        Do not ask the files at their new places whether size, and ETag where there is one, are the same.
    json
        Print the outcome as one JSON object.
    """
    from ..relocation import relocate_rfs

    report = relocate_rfs(refs, from_prefix=from_, to_prefix=to, check=not no_check, dry_run=dry_run)
    files = {without_query(old): without_query(new) for old, new in report.files.items()}
    print(as_json(replace(report, files=files)) if json else report.summary())
    return 0
