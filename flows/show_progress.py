"""How far a run is: bars on a terminal, a line now and then elsewhere, JSON lines when they are asked for.

All but JSON lines goes to stderr.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from shadowzarr.catalog.jobs import IndexNews
from shadowzarr.catalog.plan import AssetWork, Plan
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.formatting import format_bytes

from .json_lines import JsonLines
from .progress_tally import Tally
from .summary_text import failure_line

LINE_SECONDS = 10.0
JSON_SECONDS = 1.0


class RunProgress:
    """Takes news of assets, from any thread, and shows them.

    Parameters
    ----------
    tally : Tally
        What there is to do.
    show : callable
        Called with the tally after each change.
    tell : callable
        Called with the record of each asset that ended, before that.
    end : callable, optional
        Called when nothing more is shown.
    """

    def __init__(
        self,
        tally: Tally,
        show: Callable[[Tally], None],
        tell: Callable[[IndexRecord], None],
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self._tally = tally
        self._end = end
        self._show = show
        self._tell = tell
        self._lock = threading.Lock()
        self._is_closed = False

    def asset_news(self, work: AssetWork, news: IndexNews) -> None:
        """Take news of an asset that is being indexed."""
        with self._lock:
            if self._is_closed:
                return
            self._tally.current[work.asset.asset_id] = news
            self._show(self._tally)

    def asset_ended(self, record: IndexRecord) -> None:
        """Take the record of an asset."""
        with self._lock:
            if self._is_closed:
                return
            self._tally.add(record)
            self._tell(record)
            self._show(self._tally)

    def close(self) -> None:
        """Show nothing any more, from any thread, and leave the terminal as it was."""
        with self._lock:
            self._is_closed = True
            self._end()


@contextlib.contextmanager
def open_progress(
    plan: Plan, *, console: Console | None = None, json_lines: JsonLines | None = None
) -> Iterator[RunProgress]:
    """Show the progress of a run while it lasts.

    Parameters
    ----------
    plan : Plan
        What is to be done.
    console : Console, optional
        Where it is shown; standard error by default.
    json_lines : JsonLines, optional
        Takes events in place of all that is shown.
    """
    tally = Tally.of(plan.work)
    if json_lines is not None:
        json_lines.begin(plan)
        yield RunProgress(tally, _now_and_then(json_lines.progress, JSON_SECONDS), json_lines.asset)
        return
    console = console or Console(stderr=True)
    if console.is_terminal:
        with _bars(console) as bars:
            task = bars.add_task("indexing", total=tally.total, tally="")
            yield RunProgress(tally, _bar_show(bars, task), _failures(bars.console), bars.stop)
        return
    _say(console, f"{tally.total:,} assets to index ({format_bytes(plan.work_bytes)})")
    yield RunProgress(tally, _line_show(console), _failures(console))


def _bars(console: Console) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[tally]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console)


def _bar_show(bars: Progress, task: TaskID) -> Callable[[Tally], None]:
    return lambda tally: bars.update(task, completed=tally.assets, tally=tally.text())


def _line_show(console: Console) -> Callable[[Tally], None]:
    def show(tally: Tally) -> None:
        _say(console, f"{tally.assets:,} of {tally.total:,} assets: {tally.text()}")

    return _now_and_then(show, LINE_SECONDS)


def _now_and_then(show: Callable[[Tally], None], seconds: float) -> Callable[[Tally], None]:
    """Show a tally when some time has passed since the last one, and when all is done."""
    following = time.monotonic() + seconds

    def shown(tally: Tally) -> None:
        nonlocal following
        if time.monotonic() >= following or tally.assets == tally.total:
            following = time.monotonic() + seconds
            show(tally)

    return shown


def _failures(console: Console) -> Callable[[IndexRecord], None]:
    """Say which assets failed, when they do."""

    def tell(record: IndexRecord) -> None:
        if record.outcome == "failed":
            _say(console, failure_line(record))

    return tell


def _say(console: Console, line: str) -> None:
    console.print(line, soft_wrap=True, markup=False, highlight=False)
