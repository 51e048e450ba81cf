"""Icechunk repositories: references written into a session, and read out of one.

Needs the extra ``icechunk``. Beside the two directions are functions for whole repositories: opening one
with the containers it needs, commits that are tried again, tags, and the expiry of old snapshots.
"""

from .._optional import require_installed

require_installed("icechunk", extra="icechunk")

from .commits import commit_changes, tag_version  # noqa: E402
from .from_icechunk import icechunk_to_rfs  # noqa: E402
from .locations import dandi_blob  # noqa: E402
from .repository import open_repository  # noqa: E402
from .retention import Expired, Retention, expire_snapshots  # noqa: E402
from .to_icechunk import IcechunkReport, rfs_to_icechunk  # noqa: E402

__all__ = [
    "Expired",
    "IcechunkReport",
    "Retention",
    "commit_changes",
    "dandi_blob",
    "expire_snapshots",
    "icechunk_to_rfs",
    "open_repository",
    "rfs_to_icechunk",
    "tag_version",
]
