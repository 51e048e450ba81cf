"""How flows warn: a line that begins alike, of what went wrong and what to do, on standard error.

Results are on standard output, in which programs read; a plan and a summary, which people read, name their
warnings themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

BEGIN = "warning: "


def warn(*texts: str) -> None:
    """Write warnings to standard error at once; a run may be killed in the next moment.

    Parameters
    ----------
    *texts : str
        Of each what went wrong and what to do, in one line.
    """
    for text in texts:
        print(f"{BEGIN}{text}", file=sys.stderr, flush=True)


def print_warnings(console: Console, warnings: Iterable[str]) -> None:
    """Print the warnings of a plan or a summary.

    Parameters
    ----------
    console : rich.console.Console
        Where people read.
    warnings : iterable of str
        As for `warn`.
    """
    from rich.text import Text

    for warning in warnings:
        console.print(Text(f"{BEGIN}{warning}", style="yellow"), soft_wrap=True)
