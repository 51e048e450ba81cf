"""How far a run is: bars on a terminal, a line now and then elsewhere, JSON lines when they are asked for.

All but JSON lines goes to stderr.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from shadowzarr.catalog.jobs import IndexNews
from shadowzarr.catalog.plan import AssetWork, Plan
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.catalog.run_words import RunWords
from shadowzarr.formatting import format_bytes, format_count

from .json_lines import JsonLines
from .progress_tally import Tally
from .summary_text import failure_line
from .things import Things
from .watched_run import WatchedRun

LINE_SECONDS = 10.0
JSON_SECONDS = 1.0


class RunProgress[R]:
    """Takes news of assets, from any thread, and shows them.

    Parameters
    ----------
    tally : Tally
        What there is to do.
    show : callable
        Called with the tally after each change.
    tell : callable
        Called with each record, or other thing, that ended, before that.
    count : callable
        Adds it to the tally.
    end : callable, optional
        Called when nothing more is shown.
    """

    def __init__(
        self,
        tally: Tally,
        show: Callable[[Tally], None],
        tell: Callable[[R], None],
        count: Callable[[Tally, R], None],
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self._tally = tally
        self._end = end
        self._show = show
        self._tell = tell
        self._count = count
        self._lock = threading.Lock()
        self._is_closed = False

    def asset_news(self, work: AssetWork, news: IndexNews) -> None:
        """Take news of an asset that is being indexed."""
        with self._lock:
            if self._is_closed:
                return
            self._tally.current[work.asset.asset_id] = news
            self._show(self._tally)

    def ended(self, record: R) -> None:
        """Take the record of an asset, or what came of another thing."""
        with self._lock:
            if self._is_closed:
                return
            self._count(self._tally, record)
            self._tell(record)
            self._show(self._tally)

    def close(self) -> None:
        """Show nothing any more, from any thread, and leave the terminal as it was."""
        with self._lock:
            self._is_closed = True
            self._end()


@contextlib.contextmanager
def open_progress(
    plan: Plan,
    *,
    console: Console | None = None,
    json_lines: JsonLines | None = None,
    words: RunWords = RunWords(),  # noqa: B008 - it cannot be changed
) -> Iterator[RunProgress[IndexRecord]]:
    """Show the progress of a run while it lasts.

    Parameters
    ----------
    plan : Plan
        What is to be done.
    console : Console, optional
        Where it is shown; standard error by default.
    json_lines : JsonLines, optional
        Takes events in place of all that is shown.
    words : RunWords, optional
        What the assets are called, and what is done with them. Names in JSON lines stay the same.
    """
    tally = Tally.of(plan.work)
    if json_lines is not None:
        json_lines.begin(plan)
        yield RunProgress(
            tally, _now_and_then(json_lines.progress, JSON_SECONDS), json_lines.asset, Tally.add
        )
        return
    tally.plural = words.nouns
    first = f"{words.counted(tally.total)} to {words.verb} ({format_bytes(plan.work_bytes)})"
    with _shown(tally, console, doing=words.doing, first=first) as (show, say, end):

        def tell(record: IndexRecord) -> None:
            if record.outcome == "failed":
                say(failure_line(record))

        yield RunProgress(tally, show, tell, Tally.add, end)


@contextlib.contextmanager
def things_progress[R](things: Things[R], run: WatchedRun) -> Iterator[RunProgress[R]]:
    """Show the progress of a run of another flow while it lasts; nothing more once it is stopped.

    Parameters
    ----------
    things : Things
        What is to be done.
    run : WatchedRun
        The run.
    """
    tally, lines = Tally.of_sizes(things.sizes, things.plural), run.json_lines

    def count(tally: Tally, ended: R) -> None:
        tally.count(things.size(ended), is_failed=things.is_failed(ended))

    if lines is not None:
        lines.begin_things(things)

        def told(ended: R) -> None:
            lines.thing(things.noun, things.event(ended))

        yield RunProgress(tally, _now_and_then(lines.progress, JSON_SECONDS), told, count)
        return
    first = f"{format_count(tally.total, things.noun, things.plural)} to {things.verb}"
    with _shown(tally, None, doing=things.doing, first=first) as (show, say, end):

        def tell(ended: R) -> None:
            if line := things.line(ended):
                say(line)

        progress = RunProgress(tally, show, tell, count, end)
        run.hush = progress.close
        yield progress


@contextlib.contextmanager
def _shown(
    tally: Tally, console: Console | None, *, doing: str, first: str
) -> Iterator[tuple[Callable[[Tally], None], Callable[[str], None], Callable[[], None]]]:
    """Show a tally to people; gives what shows it, what says a line, and what ends that."""
    console = console or Console(stderr=True)
    if console.is_terminal:
        with _bars(console) as bars:
            task = bars.add_task(doing, total=tally.total, tally="")
            yield _bar_show(bars, task), functools.partial(_say, bars.console), bars.stop
        return
    _say(console, first)
    yield _line_show(console), functools.partial(_say, console), lambda: None


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
        _say(console, f"{tally.assets:,} of {tally.total:,} {tally.plural}: {tally.text()}")

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


def _say(console: Console, line: str) -> None:
    console.print(line, soft_wrap=True, markup=False, highlight=False)
