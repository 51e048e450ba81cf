"""Fills the template and writes the file. What it shows is decided in `view`."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import jinja2

from shadowzarr.catalog.layout import OutputLayout
from shadowzarr.catalog.run_summary import RunSummary
from shadowzarr.formatting import format_count

from .safe_text import environment_secrets, safe_text
from .view import report_view

TEMPLATES = Path(__file__).parent / "templates"


def write_report(summary: RunSummary, layout: OutputLayout, *, include_private: bool = False) -> None:
    """Write the report of a run into an output as one HTML file that loads nothing from anywhere.

    Parameters
    ----------
    summary : RunSummary
        The run.
    layout : OutputLayout
        The output; a report that is there is replaced at once.
    include_private : bool
        Name embargoed assets; only for a report that lies in the private output.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    content = render_report(summary, include_private=include_private).encode()
    layout.store.write(layout.relative(layout.report), content, scratch=layout.staging)


def render_report(summary: RunSummary, *, include_private: bool = False) -> str:
    """Return the HTML of a report; parameters as in `write_report`."""
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    template = _environment().get_template("report.html.j2")
    return template.render(
        view=report_view(summary, include_private=include_private),
        style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
        script=script,
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _environment() -> jinja2.Environment:
    """Return an environment that escapes everything, after taking secrets out of all text."""
    secrets = environment_secrets()

    def finalize(value: Any) -> Any:
        return safe_text(value, secrets=secrets) if type(value) is str else value

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["counted"] = format_count
    return environment
