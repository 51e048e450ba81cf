"""Pages with one view of a file each, as a reader has them: opened, used, and what they draw and read."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from page_server import served_pages
from playwright.sync_api import Page

from shadowzarr import generate_rfs, write_rfs
from shadowzarr.testing import RangeServer

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="style.css">
<link rel="icon" href="data:,"><link rel="stylesheet" href="viewer.css"><title>viewer</title></head>
<body><main></main><script type="module" src="page.js"></script></body></html>"""

STYLE = """:root { color-scheme: light dark }
body { background: light-dark(#ffffff, #121212); color: light-dark(#1f1f1f, #e8e8e8) }"""

DRAWN = """({ viewer }) =>
    JSON.stringify(viewer.drawn() ?? null, (_, value) => (ArrayBuffer.isView(value) ? [...value] : value))"""
"""What an element's viewer has drawn, as JSON; a function for a page."""

_SETTLED = "main:not(:has([aria-busy]))"


@dataclass
class ViewerPages:
    """Where the page is, and a server for files and their references.

    Attributes
    ----------
    url : str
        The page.
    files : RangeServer
        Another origin than the page's.
    """

    url: str
    files: RangeServer

    def index(self, name: str) -> None:
        """Write the references of a file in the folder."""
        rfs = generate_rfs(self.files.url(name), local_hdf5_path=self.files.folder / name)
        write_rfs(rfs, self.references(name))

    def references(self, name: str) -> Path:
        return self.files.folder / f"{name}.json"

    def open(self, page: Page, name: str, path: str, kind: str | None = None, **query: Any) -> "View":
        """Open a view, and wait until it has drawn or says why it cannot."""
        view = View(page, self, name, seen=len(self.files.log.select(name, method="GET")))
        asked = {"references": self.files.url(f"{name}.json"), "path": path, **query}
        page.goto(f"{self.url}?{urlencode({**asked, 'kind': kind} if kind else asked)}")
        page.wait_for_selector("body[data-mounted]")
        page.evaluate("viewer.ready")
        return view


@dataclass
class View:
    """A view on a page.

    Attributes
    ----------
    page : Page
    pages : ViewerPages
    name : str
        Of the file.
    seen : int
        Requests of the file that are not looked at any more.
    """

    page: Page
    pages: ViewerPages
    name: str
    seen: int

    @property
    def drawn(self) -> Any:
        """What is drawn, once all that is under way has come."""
        self.page.wait_for_selector(_SETTLED)
        return json.loads(self.page.locator("main").evaluate(DRAWN))

    def requests(self) -> list[tuple[int, int]]:
        """Ranges of the file that were asked for since the last look, sorted: offset and length."""
        self.page.wait_for_selector(_SETTLED)
        entries = self.pages.files.log.select(self.name, method="GET")
        new, self.seen = entries[self.seen :], len(entries)
        return sorted((entry.start or 0, (entry.stop or 0) - (entry.start or 0)) for entry in new)

    def chunks(self, path: str, *coordinates: tuple[int, ...]) -> list[tuple[int, int]]:
        """Where chunks are in the file, sorted: offset and length."""
        refs = json.loads(self.pages.references(self.name).read_text())["refs"]
        places = [refs["/".join([path, "c", *map(str, each)])] for each in coordinates]
        return sorted((offset, length) for _, offset, length in places)

    def says(self) -> str:
        """The text of the view."""
        self.page.wait_for_selector(_SETTLED)
        return self.page.inner_text("main")


@contextmanager
def viewer_pages(built: Path, folder: Path) -> Iterator[ViewerPages]:
    """Serve a page with the viewer and the files in a folder.

    Parameters
    ----------
    built : path
        What ``node build.mjs viewer`` has made.
    folder : path
        Of the files.
    """
    (built / "index.html").write_text(PAGE)
    (built / "style.css").write_text(STYLE)
    with RangeServer(folder) as files, served_pages(built) as url:
        yield ViewerPages(url, files)
