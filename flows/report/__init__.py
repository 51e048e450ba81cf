"""The report of a run: one HTML file that needs nothing else.

`write_report` is what flows call. What happened is the subject of
`shadowzarr.catalog.run_summary`; here it is only shown.
"""

from __future__ import annotations

from .writing import render_report, write_report

__all__ = ["render_report", "write_report"]
