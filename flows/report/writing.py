"""Fills the template and writes the file. What it shows is decided in `view`."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
from pathlib import Path
from typing import Any

import jinja2

from shadowzarr.catalog.run_summary import RunSummary
from shadowzarr.errors import OutputError
from shadowzarr.formatting import format_count

from .safe_text import environment_secrets, safe_text
from .view import report_view

TEMPLATES = Path(__file__).parent / "templates"


def write_report(summary: RunSummary, path: str | os.PathLike[str], *, include_private: bool = False) -> Path:
    """Write the report of a run as one HTML file that loads nothing from anywhere.

    Parameters
    ----------
    summary : RunSummary
        The run.
    path : str or path
        Where the file goes; one that is there is replaced by a rename.
    include_private : bool
        Name embargoed assets; only for a report that lies in the private output.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    content = render_report(summary, include_private=include_private)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(content, encoding="utf-8")
        unfinished.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):  # the folder itself may be what is wrong
            unfinished.unlink(missing_ok=True)
        raise OutputError(f"cannot write the report {target}: {error.strerror or error}") from error
    return target


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
