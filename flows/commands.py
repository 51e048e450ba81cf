"""What ``python -m flows`` does for each command; returns the exit code.

Configurations are checked, outputs and archive looked at, and plans printed before Prefect is imported,
which alone takes seconds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowzarr.catalog.run_summary import EXIT_FAILURE, RunSummary
from shadowzarr.errors import MissingCredentialsError, ShadowzarrError, UsageError

if TYPE_CHECKING:
    from .config import IndexDandisetsConfig

INTERRUPTED = 130
"""What shells show for a program that was ended by Ctrl-C."""


def run_config(path: str, *, changes: Sequence[str] = (), is_plan: bool = False) -> int:
    """Run the flow that a configuration is for, or print what it would do."""
    try:
        return _plan(path, changes) if is_plan else _run(path, changes)
    except MissingCredentialsError as error:
        print(f"{error} (a configuration names the variable by archive.api_key_env)", file=sys.stderr)
        return EXIT_FAILURE
    except ShadowzarrError as error:
        print(error, file=sys.stderr)
        return EXIT_FAILURE
    except KeyboardInterrupt:
        print("interrupted; what is done stays done, run again to go on", file=sys.stderr)
        return INTERRUPTED


def print_schema(flow: str) -> int:
    """Print the JSON Schema of a flow's configuration, for editors."""
    from .config import FLOWS
    from .config_messages import nearest

    if flow not in FLOWS:
        close = nearest(flow, FLOWS)
        hint = f"; did you mean {close}?" if close else ""
        print(f"there is no flow {flow!r}, expected {' or '.join(FLOWS)}{hint}", file=sys.stderr)
        return EXIT_FAILURE
    print(json.dumps(FLOWS[flow].model_json_schema(), indent=2))
    return 0


def _plan(path: str, changes: Sequence[str]) -> int:
    from rich.console import Console

    from shadowzarr.catalog.index_run import RunLog, plan_version, resolve_versions
    from shadowzarr.catalog.resolve import open_archive, resolve_assets

    from .load_config import load_config
    from .summary_text import print_plan

    config = load_config(path, changes=changes)
    request, log = config.request, RunLog()
    with open_archive(request.archive) as archive:
        log.versions = resolve_versions(archive, request)
        for version, wanted in zip(log.versions, request.dandisets, strict=True):
            assets = resolve_assets(archive, version)
            log.plan.extend(plan_version(request, version, assets, wanted.rules))
    print_plan(Console(), log, output=config.output.folder, warnings=config.warnings)
    return 0


def _run(path: str, changes: Sequence[str]) -> int:
    from rich.console import Console

    from shadowzarr.catalog.index_run import output_session, resolve_versions
    from shadowzarr.catalog.resolve import open_archive

    from .load_config import load_config
    from .summary_text import print_summary

    config = load_config(path, changes=changes)
    request = config.request
    # What makes a run impossible is told now rather than after half a minute of starting Prefect.
    with output_session(request), open_archive(request.archive) as archive:
        resolve_versions(archive, request)
    summary = _run_flow(config)
    print_summary(Console(), summary, report=str(request.public.report))
    return summary.exit_code


def _run_flow(config: IndexDandisetsConfig) -> RunSummary:
    from .prefect_settings import prepare

    prepare()
    from .index_dandisets import index_dandisets
    from .run_failed import RunFailedError

    try:
        summary = index_dandisets(config)
    except RunFailedError as error:
        return error.summary
    except RuntimeError as error:
        if "API" not in str(error):
            raise
        raise UsageError(
            f"Prefect: {error}; check PREFECT_API_URL, or unset it to run without a served API"
        ) from error
    if not isinstance(summary, RunSummary):
        raise UsageError(f"the flow ended without a summary: {summary}")
    return summary
