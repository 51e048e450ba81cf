"""Tells somebody how a run ended: a webhook, and a notification block of Prefect.

A URL of a webhook is a secret: it stands in no message, and the library that sends writes no log.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from shadowzarr.access.http_client import user_agent
from shadowzarr.catalog.clock import utc_now
from shadowzarr.catalog.run_summary import EXIT_FAILURE, RunSummary, SkippedAsset
from shadowzarr.errors import ShadowzarrError

from .notify_section import NotifySection
from .report.outcome import headline
from .summary_text import exit_lines, failure_line, untold_line
from .warning_lines import warn

TIMEOUT = 10.0
"""Seconds that telling may take."""

SHOWN_FAILURES = 20


class Notifier:
    """Tells how one run ended, once; who cannot be told is said on standard error, and nothing more.

    Parameters
    ----------
    section : NotifySection, optional
        Whom and when; nobody without it.
    flow : str
        What runs.
    configuration : str
        The file that says so.
    """

    def __init__(self, section: NotifySection | None, *, flow: str, configuration: str = "") -> None:
        self._section = section
        self._about = {"flow": flow, "configuration": configuration, "host": socket.gethostname()}
        self._once = threading.Lock()

    def ended(
        self,
        summary: RunSummary,
        *,
        report: str,
        has_prefect: bool = True,
        untold: Sequence[SkippedAsset] = (),
    ) -> bool:
        """Tell how a run ended that came to its end; arguments and answer as for `tell`.

        ``untold`` are assets in quarantine whose failure nobody was told of: they are failures to be told.
        """
        text = " ".join([headline(summary), *_untold_sentence(untold, summary), *exit_lines(summary)])
        failures = [*map(failure_line, summary.failures), *map(untold_line, untold)]
        details = {
            "outcomes": summary.outcome_counts,
            "quarantined": summary.quarantined,
            "not_started": summary.not_started,
            "failures": failures[:SHOWN_FAILURES],
            "more_failures": max(0, len(failures) - SHOWN_FAILURES),
            "warnings": summary.warnings,
            "seconds": summary.seconds,
            "report": report,
            "output": summary.output,
        }
        return self.tell(
            text,
            exit_code=summary.exit_code,
            is_failure=summary.exit_code == EXIT_FAILURE or bool(untold),
            has_prefect=has_prefect,
            **details,
        )

    def tell(
        self,
        text: str,
        *,
        exit_code: int = EXIT_FAILURE,
        is_failure: bool | None = None,
        has_prefect: bool = True,
        **details: Any,
    ) -> bool:
        """Tell something about how the run ended, unless that was told, or nobody wants to know.

        Parameters
        ----------
        text : str
            In a sentence.
        exit_code : int
            Of the run.
        is_failure : bool, optional
            Whether those are told too who want to know of failures alone; by default those of exit code 1.
        has_prefect : bool
            Whether Prefect's API is there, which alone knows the block.
        **details
            What else the webhook's JSON object says.

        Returns
        -------
        bool
            Whether nobody is left who should know and does not.
        """
        section = self._section
        is_failure = exit_code == EXIT_FAILURE if is_failure is None else is_failure
        if section is None or not self.is_wanted(is_failure=is_failure):
            return True
        if not self._once.acquire(blocking=False):
            return False
        subject = f"shadowzarr {self._about['flow']}"
        body = {
            "text": f"{subject}: {text}",
            **self._about,
            "exit_code": exit_code,
            "time": utc_now(),
            **details,
        }
        problems = []
        if section.webhook is not None or section.webhook_env is not None:
            problems.append(section.problem or _post(section.url, body))
            self._report("webhook", problems[-1])
        if section.block is not None:
            problem = _notify_block(section.block, subject, text) if has_prefect else "Prefect is not there"
            problems.append(problem)
            self._report(f"block {section.block}", problem)
        return not any(problems)

    def is_wanted(self, *, is_failure: bool) -> bool:
        """Whether somebody wants to know of a run that failed, or of one that did not."""
        return self._section is not None and (is_failure or self._section.on == "always")

    @property
    def wants_prefect(self) -> bool:
        """Whether a block is still to be told, which Prefect alone knows."""
        return self._section is not None and self._section.block is not None and not self._once.locked()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Tell how a run ended that breaks off inside; what broke it goes on."""
        try:
            yield
        except BaseException as error:
            self.tell(breaking(error))
            raise

    def _report(self, whom: str, problem: str) -> None:
        if problem:
            warn(f"the {whom} could not be notified: {problem}")


def _untold_sentence(untold: Sequence[SkippedAsset], summary: RunSummary) -> list[str]:
    """Say that failures of an earlier run are told now."""
    if not untold:
        return []
    return [f"Never told before: the failure of {summary.words.counted(len(untold))}."]


def breaking(error: BaseException) -> str:
    """What broke a run off, in words; of an error that is none of ours only its class, for it may quote."""
    return str(error) if isinstance(error, ShadowzarrError) else f"crashed ({type(error).__name__})"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """What was meant for one address goes to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _post(url: str, body: dict[str, Any]) -> str:
    """Send JSON; gives what stood in the way, without the URL, or nothing.

    urllib because it logs nothing: httpx logs each URL, and so would whoever listens to it.
    """
    headers = {"Content-Type": "application/json", "User-Agent": user_agent()}
    try:
        request = urllib.request.Request(url, orjson.dumps(body), headers, method="POST")  # noqa: S310 - checked
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=TIMEOUT):
            return ""
    except urllib.error.HTTPError as error:
        error.close()
        return f"it answered {error.code}"
    except urllib.error.URLError as error:
        return f"it cannot be reached ({_reason(error.reason)})"
    except (OSError, ValueError) as error:
        return f"it cannot be reached ({_reason(error)})"


def _reason(reason: object) -> str:
    """An error in words that cannot hold an address."""
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror
    return "no answer in time" if isinstance(reason, TimeoutError) else type(reason).__name__


@contextlib.contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Let a library log nothing but warnings meanwhile; httpx logs URLs, in which blocks may have secrets."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(max(level, logging.WARNING))
    try:
        yield
    finally:
        logger.setLevel(level)


def _notify_block(name: str, subject: str, text: str) -> str:
    """Notify through a block; gives what stood in the way, or nothing."""
    from prefect.blocks.abstract import NotificationBlock
    from prefect.blocks.core import Block
    from prefect.plugins import load_prefect_collections

    try:
        load_prefect_collections()  # what other packages bring, beside Prefect's own blocks
        importlib.import_module("prefect.blocks.notifications")
        block: Any = Block.load(name)
        if not isinstance(block, NotificationBlock):
            return "it is no notification block"
        with _quiet("httpx"):
            notify: Any = block.notify
            notify(body=text, subject=subject)
    except ValueError as error:
        return "there is no such block" if "Unable to find" in str(error) else type(error).__name__
    except Exception as error:  # noqa: BLE001 (blocks raise what their libraries do; a run never fails by it)
        return type(error).__name__
    return ""
