"""How flows warn: a line that begins alike, of what went wrong and what to do, on standard error.

Results are on standard output, in which programs read; warnings of plans and summaries are not there either.
"""

from __future__ import annotations

import sys

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
