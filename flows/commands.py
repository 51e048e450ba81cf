"""What ``python -m flows`` does for each command; returns the exit code.

Configurations are checked, outputs and archive looked at, and plans printed before Prefect is imported,
which alone takes seconds.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TextIO

from shadowzarr._optional import require_installed
from shadowzarr.catalog.run_summary import EXIT_FAILURE, RunSummary
from shadowzarr.cli.exit_codes import INTERRUPTED
from shadowzarr.errors import MissingCredentialsError, MissingDependencyError, ShadowzarrError, UsageError

if TYPE_CHECKING:
    from shadowzarr.catalog.index_run import RunLog

    from .begun_run import BegunRun
    from .convert_config import ConvertRecordingsConfig
    from .index_config import IndexDandisetsConfig
    from .json_lines import JsonLines

    type RunConfig = IndexDandisetsConfig | ConvertRecordingsConfig

PIPELINE = ("prefect", "pydantic", "ruamel.yaml", "jinja2", "duckdb")
"""What the extra ``pipeline`` installs for these commands."""


def run_config(
    path: str,
    *,
    changes: Sequence[str] = (),
    is_plan: bool = False,
    as_json_lines: bool = False,
    text: str | None = None,
) -> int:
    """Run the flow that a configuration is for, or print what it would do.

    With ``text`` that is the configuration, and ``path`` what messages call it.
    """
    lines = _json_lines() if as_json_lines else None
    try:
        require_installed(*PIPELINE, extra="pipeline")
        from .convert_config import ConvertRecordingsConfig
        from .load_config import load_config
        from .materialize_config import MaterializeAssetsConfig
        from .refresh_config import RefreshIcechunkConfig
        from .verify_config import VerifyOutputsConfig
        from .watch_config import WatchDeploymentsConfig

        config = load_config(path, changes=changes, text=text)
        if isinstance(config, ConvertRecordingsConfig):
            require_installed("neuroconv", "nwbinspector", extra="neuroconv")
        if isinstance(config, MaterializeAssetsConfig):
            from .materialize_command import run_materialize, show_plan

            return show_plan(config, lines) if is_plan else run_materialize(config, lines)
        if isinstance(config, RefreshIcechunkConfig):
            from .refresh_command import plan_refresh, run_refresh

            return plan_refresh(config, lines) if is_plan else run_refresh(config, lines)
        if isinstance(config, VerifyOutputsConfig):
            from .verify_command import plan_checks, run_checks

            return plan_checks(config, lines) if is_plan else run_checks(config, lines)
        if isinstance(config, WatchDeploymentsConfig):
            from .watch_command import plan_watch, run_watch

            return plan_watch(config) if is_plan else run_watch(config, lines)
        return _plan(config, lines) if is_plan else _run(config, lines)
    except MissingCredentialsError as error:
        return _refused(f"{error} (a configuration names the variable by archive.api_key_env)", lines)
    except ShadowzarrError as error:
        return _refused(str(error), lines)
    except KeyboardInterrupt:
        print("interrupted; what is done stays done, run again to go on", file=sys.stderr)
        return INTERRUPTED


def print_schema(flow: str) -> int:
    """Print the JSON Schema of a flow's configuration, for editors."""
    try:
        require_installed(*PIPELINE, extra="pipeline")
    except MissingDependencyError as error:
        print(error, file=sys.stderr)
        return EXIT_FAILURE
    from .config_messages import nearest
    from .models import FLOWS

    if flow not in FLOWS:
        close = nearest(flow, FLOWS)
        hint = f"; did you mean {close}?" if close else ""
        print(f"there is no flow {flow!r}, expected {' or '.join(FLOWS)}{hint}", file=sys.stderr)
        return EXIT_FAILURE
    print(json.dumps(FLOWS[flow].model_json_schema(), indent=2))
    return 0


def run_demo(what: Literal["archive", "recordings"] = "archive") -> int:
    """Run a demonstration, which also writes NWB files and reads references as NWB."""
    try:
        require_installed(*PIPELINE, extra="pipeline")
        require_installed("pynwb", "hdmf_zarr", extra="nwb")
        if what == "recordings":
            require_installed("neuroconv", "nwbinspector", extra="neuroconv")
    except MissingDependencyError as error:
        print(error, file=sys.stderr)
        return EXIT_FAILURE
    if what == "recordings":
        from .demo_recordings import main as convert

        return convert()
    from .demo import main

    return main()


def _json_lines() -> JsonLines:
    from .json_lines import JsonLines

    return JsonLines(sys.stdout)


def _refused(message: str, lines: JsonLines | None) -> int:
    """Say why a run was impossible."""
    print(message, file=sys.stderr)
    if lines is not None:
        lines.error(message, exit_code=EXIT_FAILURE)
    return EXIT_FAILURE


def _plan(config: RunConfig, lines: JsonLines | None) -> int:
    from rich.console import Console

    from shadowzarr.catalog.estimate import estimate_plan
    from shadowzarr.catalog.index_run import RunLog, twins_of
    from shadowzarr.catalog.run_words import words_of

    from .summary_text import print_estimate, print_plan

    request, log = config.request, RunLog()
    for layout in request.layouts:
        layout.store.check()
    _check_after(config)
    _make_plan(config, log)
    estimate = estimate_plan(
        log.plan,
        request.layouts,
        concurrency=request.concurrency,
        twins=twins_of(request, log.plan),
        prices=config.prices.prices,
    )
    if lines is not None:
        lines.plan(log.plan, estimate)
        return 0
    console = Console()
    print_plan(
        console,
        log,
        output=config.output.folder,
        warnings=config.warnings,
        words=words_of(config.flow),
    )
    print_estimate(console, estimate, currency=config.prices.currency, words=words_of(config.flow))
    return 0


def _run(config: RunConfig, lines: JsonLines | None) -> int:
    from rich.console import Console

    from shadowzarr.catalog.index_run import RunLog

    from .summary_text import exit_lines, print_summary

    log = RunLog()
    summary = _summary_of_run(config, log, lines)
    whole = replace(summary, seconds=round(time.perf_counter() - log.start, 3))
    public = config.request.public
    report = public.location(public.report)
    if lines is not None:
        lines.end(whole, report=report, reasons=exit_lines(whole))
        return summary.exit_code
    print_summary(Console(), whole, report=report, names_failures=not _are_one(sys.stdout, sys.stderr))
    return summary.exit_code


def _summary_of_run(config: RunConfig, log: RunLog, lines: JsonLines | None) -> RunSummary:
    """Run the flow, and tell who wants to know how that ended, unless the flow did."""
    from .after_run import let_go_after
    from .begun_run import begin_run
    from .index_config import IndexDandisetsConfig
    from .notify import Notifier
    from .run_flow import tell, telling
    from .stop_run import RunStop

    notifier = Notifier(config.notify, flow=config.flow, configuration=config.source)
    with telling(notifier):
        _check_after(config)
        stop = RunStop()
        with stop.listening(), begin_run(config.request, log, stop=stop) as begun:
            begun.json_lines, begun.notifier = lines, notifier
            if isinstance(config, IndexDandisetsConfig):
                begun.let_go = functools.partial(let_go_after, config)
            _look_ahead(config, begun)
            if not begun.is_idle:
                return _run_flow(config, begun)
            summary, report = _idle_run(config, begun), str(config.request.public.report)
            tell(
                notifier,
                lambda has_prefect: begun.tell_end(notifier, summary, report=report, has_prefect=has_prefect),
            )
            return summary


def _check_after(config: RunConfig) -> None:
    """Refuse what a run that indexes could not do in the end."""
    from .after_run import check_after
    from .index_config import IndexDandisetsConfig

    if isinstance(config, IndexDandisetsConfig):
        check_after(config)


def _make_plan(config: RunConfig, log: RunLog) -> None:
    """Find what there is to do."""
    from .convert_config import ConvertRecordingsConfig

    if isinstance(config, ConvertRecordingsConfig):
        from shadowzarr.conversion.plan import plan_recordings

        plan_recordings(config.conversion, log)
        return
    from shadowzarr.catalog.index_run import plan_run

    plan_run(config.request, log)


def _look_ahead(config: RunConfig, begun: BegunRun) -> None:
    """Find what makes a run impossible, and what there is to do, before Prefect takes its time to start.

    With a server of Prefect, listing and planning are tasks of the flow run; recordings are on this machine.
    """
    from shadowzarr.catalog.index_run import resolve_versions

    from .convert_config import ConvertRecordingsConfig

    if not os.environ.get("PREFECT_API_URL") or isinstance(config, ConvertRecordingsConfig):
        _make_plan(config, begun.log)
        begun.is_planned = True
        return
    begun.log.versions = resolve_versions(begun.request)


def _idle_run(config: RunConfig, begun: BegunRun) -> RunSummary:
    """End a run that has nothing to do and nobody to report to, without Prefect."""
    from .after_run import after_assets
    from .finish_run import finish_run
    from .index_config import IndexDandisetsConfig

    if not isinstance(config, IndexDandisetsConfig):
        return finish_run(config, begun.log)
    return finish_run(config, begun.log, after_assets(config, begun.log))


def _run_flow(config: RunConfig, begun: BegunRun) -> RunSummary:
    from .index_config import IndexDandisetsConfig
    from .under_prefect import under_prefect

    begun.prefect_start = time.perf_counter()
    with under_prefect(functools.partial(_end_without_server, begun)) as is_temporary:
        begun.has_prefect_server = not is_temporary
        if is_temporary and isinstance(config, IndexDandisetsConfig) and config.split is not None:
            raise UsageError(
                "split: needs a Prefect server that workers work for; name it by PREFECT_API_URL, or leave "
                "split out"
            )
        return _call_flow(config)


def _call_flow(config: RunConfig) -> RunSummary:
    from .run_failed import RunFailedError
    from .under_prefect import api_errors

    try:
        with api_errors():
            summary = _flow_of(config)
    except RunFailedError as error:
        return error.summary
    if not isinstance(summary, RunSummary):
        raise UsageError(f"the flow ended without a summary: {summary}")
    return summary


def _flow_of(config: RunConfig) -> object:
    """Call the flow that a configuration is for."""
    from .backfill_config import BackfillConfig
    from .convert_config import ConvertRecordingsConfig

    if isinstance(config, ConvertRecordingsConfig):
        from .convert_recordings import convert_recordings

        return convert_recordings(config)
    from .index_dandisets import backfill, index_dandisets

    return backfill(config) if isinstance(config, BackfillConfig) else index_dandisets(config)


def _end_without_server(begun: BegunRun, reason: str) -> None:
    """End the run at once: Prefect would try every request again for a minute."""
    if begun.stop is not None:
        begun.stop.stop(reason, exit_code=EXIT_FAILURE)


def _are_one(out: TextIO, err: TextIO) -> bool:
    """Whether two streams go to one place, where a reader sees what is said on either."""
    try:
        return os.path.sameopenfile(out.fileno(), err.fileno())
    except (OSError, ValueError):  # a stream that is no file
        return False
