"""Interpreters of the contenders, and what they are called in the tables."""

from __future__ import annotations

import sys
from pathlib import Path

OURS = "shadowzarr"
LIMIT = "limit"


def own() -> Path:
    """This environment."""
    return Path(sys.executable)


def lindi(scratch: Path) -> Path:
    """LINDI's environment, which the Makefile makes."""
    return scratch / "lindi" / "bin" / "python"
