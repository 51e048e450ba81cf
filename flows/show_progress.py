"""How far a run is: bars on a terminal, a line now and then elsewhere. Everything goes to stderr."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from shadowzarr.catalog.jobs import IndexNews
from shadowzarr.catalog.plan import AssetWork, Plan
from shadowzarr.catalog.records import IndexRecord
from shadowzarr.formatting import format_bytes

from .summary_text import failure_line

LINE_SECONDS = 10.0


@dataclass
class Tally:
    """What has been done so far, and the news of what is being done."""

    assets: int = 0
    failed: int = 0
    chunks: int = 0
    nbytes: int = 0
    started: float = field(default_factory=time.monotonic)
    current: dict[str, IndexNews] = field(default_factory=dict)

    def add(self, record: IndexRecord) -> None:
        """Count an asset that ended."""
        self.current.pop(record.asset_id, None)
        self.assets += 1
        self.failed += record.outcome == "failed"
        self.chunks += record.counts.chunks
        self.nbytes += record.size if record.outcome != "failed" else 0

    def text(self) -> str:
        """Say how much that is: chunks and bytes so far, and assets per second."""
        news = list(self.current.values())
        chunks = self.chunks + sum(each.chunks for each in news)
        nbytes = self.nbytes + sum(each.bytes for each in news)
        rate = self.assets / max(time.monotonic() - self.started, 0.001)
        failed = f", {self.failed:,} failed" if self.failed else ""
        return f"{chunks:,} chunks, {format_bytes(nbytes)}, {rate:.1f} assets/s{failed}"


class RunProgress:
    """Takes news of assets, from any thread, and shows them.

    Parameters
    ----------
    total : int
        Assets to be done.
    show : callable
        Called with the tally after each change.
    say : callable
        Called with a line that is to stay, such as a failure.
    end : callable, optional
        Called when nothing more is shown.
    """

    def __init__(
        self,
        total: int,
        show: Callable[[Tally], None],
        say: Callable[[str], None],
        end: Callable[[], None] = lambda: None,
    ) -> None:
        self.total = total
        self._end = end
        self._show = show
        self._say = say
        self._tally = Tally()
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
            if record.outcome == "failed":
                self._say(failure_line(record))
            self._show(self._tally)

    def close(self) -> None:
        """Show nothing any more, from any thread, and leave the terminal as it was."""
        with self._lock:
            self._is_closed = True
            self._end()


@contextlib.contextmanager
def open_progress(plan: Plan, *, console: Console | None = None) -> Iterator[RunProgress]:
    """Show the progress of a run while it lasts."""
    console = console or Console(stderr=True)
    total = len(plan.work)
    if console.is_terminal:
        with _bars(console) as bars:
            task = bars.add_task("indexing", total=total, tally="")
            yield RunProgress(total, _bar_show(bars, task), lambda line: _say(bars.console, line), bars.stop)
        return
    _say(console, f"{total:,} assets to index ({format_bytes(plan.work_bytes)})")
    yield RunProgress(total, _line_show(console, total), lambda line: _say(console, line))


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


def _line_show(console: Console, total: int) -> Callable[[Tally], None]:
    following = time.monotonic() + LINE_SECONDS

    def show(tally: Tally) -> None:
        nonlocal following
        if time.monotonic() >= following or tally.assets == total:
            following = time.monotonic() + LINE_SECONDS
            _say(console, f"{tally.assets:,} of {total:,} assets: {tally.text()}")

    return show


def _say(console: Console, line: str) -> None:
    console.print(line, soft_wrap=True, markup=False, highlight=False)
