"""What ``python -m flows catalog site`` and ``serve`` do; return the exit code. Prefect is not imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from shadowzarr._optional import require_installed
from shadowzarr.catalog.layout import layout_at
from shadowzarr.catalog.run_summary import EXIT_ALL_WELL, EXIT_FAILURE
from shadowzarr.errors import ShadowzarrError, UsageError

from .catalog_commands import output_layout


def write(output: str) -> int:
    """Write the page of the catalogue into an output."""
    try:
        require_installed("duckdb", extra="pipeline")
        return _write(output)
    except ShadowzarrError as error:
        print(error, file=sys.stderr)
        return EXIT_FAILURE


def serve(output: str, *, port: int, origins: Sequence[str] = ()) -> int:
    """Hand out the files of an output to browsers on this machine, until Ctrl-C."""
    try:
        return _serve(output, port, origins)
    except ShadowzarrError as error:
        print(error, file=sys.stderr)
        return EXIT_FAILURE


def _write(output: str) -> int:
    from shadowzarr.catalog.publish import clear_staging, remove_empty_staging
    from shadowzarr.catalog.site.built_page import built_page
    from shadowzarr.catalog.site.write_site import write_site

    layout, page = output_layout(output), built_page()
    if not layout.store.is_there():
        raise UsageError(f"the output {layout.title} does not exist")
    with layout.store.held():
        clear_staging(layout)
        try:
            site = write_site(layout, page=page)
        finally:
            remove_empty_staging(layout)
    how = "" if site.is_new else " (nothing has changed)"
    print(f"page: {layout.location(site.index)}{how}")
    if layout.bucket is None:
        print(f"to look at it: python -m flows catalog serve {output}")
    return EXIT_ALL_WELL


def _serve(output: str, port: int, origins: Sequence[str]) -> int:
    from shadowzarr.catalog.site.write_site import INDEX
    from shadowzarr.testing.page_server import PageServer

    if output.startswith("s3://"):
        raise UsageError(f"{output} is in a bucket, which hands out its files itself; open its {INDEX} there")
    layout = layout_at(Path(output).absolute())
    _check_origins(origins)
    if not layout.store.exists(INDEX) and not (origins and layout.store.is_there()):
        raise UsageError(
            f"{layout.title} has no page yet; python -m flows catalog site {output} writes it"
            if layout.store.is_there()
            else f"the output {layout.title} does not exist"
        )
    server = PageServer(Path(layout.folder), port=port, origins=origins)
    try:
        server.start()
    except OSError as error:
        raise UsageError(f"{error.strerror}; --port takes another one, 0 a free one") from error
    print(f"{server.base_url}/ (Ctrl-C ends it)", flush=True)
    try:
        server.wait()
    except KeyboardInterrupt:
        print()
    finally:
        server.close()
    return EXIT_ALL_WELL


def _check_origins(origins: Sequence[str]) -> None:
    """Refuse what no browser sends, so that pages would be refused without a word."""
    for origin in origins:
        if origin != "*" and re.fullmatch(r"https?://[^/?#@A-Z]+", origin) is None:
            raise UsageError(
                f"--allow-origin {origin!r} is no origin; expected one such as http://localhost:3000, "
                "in lower case and without a path, or *"
            )
