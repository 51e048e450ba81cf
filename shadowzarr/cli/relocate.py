"""``shadowzarr relocate``: references pointed at files that were moved."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter


def relocate(
    refs: str,
    *,
    from_: Annotated[str, Parameter(name="--from")],
    to: str,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    no_check: Annotated[bool, Parameter(negative="")] = False,
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
    """
    from ..relocation import relocate_rfs

    report = relocate_rfs(refs, from_prefix=from_, to_prefix=to, check=not no_check, dry_run=dry_run)
    print(report.summary())
    return 0
