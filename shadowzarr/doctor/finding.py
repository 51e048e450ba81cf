"""What one check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["fine", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    check : str
        What was looked at: ``python``, ``libraries``, ``extras``, ``codecs``, ``cache``, ``archive``,
        ``key``, ``clock`` or ``s3``.
    state : {"fine", "note", "wrong"}
        ``wrong`` stops something from working that should; a ``note`` is worth knowing.
    says : str
        What was found, in one line.
    remedy : str
        What to do; empty when there is nothing to do.
    """

    check: str
    state: State
    says: str
    remedy: str = ""
