"""Headless Chromium of the system, driven by Playwright; what a page complains of fails its test."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
_OF_PREFLIGHTS = re.compile(
    r"header field if-match is not allowed|Failed to load resource: net::ERR_FAILED", re.IGNORECASE
)
"""What the console shows of a preflight that is refused, after which the store asks without If-Match."""


@contextmanager
def started(program: str) -> Iterator[Browser]:
    """A browser, ended with the block: while it runs, no event loop can be started in this thread."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page of a context of its own.

    Parameters
    ----------
    browser : Browser
    **options
        Of the context: ``viewport``, ``color_scheme``, ….

    Raises
    ------
    AssertionError
        At the end, when the page raised an error, or the console shows one, or a breach of its policy.
    """
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error" and not _OF_PREFLIGHTS.search(message.text):
            complaints.append(message.text)

    with browser.new_context(**options) as context:
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", hear)
        yield page
    assert complaints == []
