"""What the site adds to the pages in docs/: references that are made from the code, and links out of docs/.

Pages are read on a code host too, where a link such as ``../configs/demo.yaml`` leads to the file. In the
site README, CHANGELOG and CONTRIBUTING have pages of their own, and other files can be downloaded.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import generated_pages
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"README.md": "index", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}
"""Files of the repository that are pages of the site."""

_LOADED = re.compile(r"<(?:script|img|iframe)[^>]*src=.?https?:[^>]*>|<link[^>]*href=.?https?:[^>]*>")
_TARGET = re.compile(r"\]\((?![a-z]+:|#|/)")
_LINK = re.compile(r"\[(?P<text>[^\]\[]*)\]\((?P<target>(?:\.\./)+[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages that are made, and rewrite links as pages are read."""
    generated_pages.write_all(Path(app.srcdir) / "_generated")
    app.connect("source-read", _rewrite)
    app.connect("build-finished", _check_local)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _rewrite(app: Sphinx, page: str, source: list[str]) -> None:
    folder = (Path(app.srcdir) / page).parent
    file = next((ROOT / name for name, own in PAGES.items() if own == page != "index"), None)
    if file is not None:  # a page that is a file of the repository, whose links start there
        source[0] = _TARGET.sub("](../", file.read_text(encoding="utf-8")).replace("](../docs/", "](")
    source[0] = _LINK.sub(lambda link: rewritten(link, folder), source[0])


def _check_local(app: Sphinx, error: Exception | None) -> None:
    """Refuse a site that loads scripts, styles, fonts or pictures from elsewhere."""
    if error is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        found = _LOADED.search(page.read_text(encoding="utf-8"))
        if found is not None:
            raise ExtensionError(f"{page}: loads from elsewhere: {found[0]}")


def rewritten(link: re.Match[str], folder: Path) -> str:
    """A link that leaves docs/, as the site has it; others as they are."""
    text, target = link["text"], (folder / link["target"]).resolve()
    docs = ROOT / "docs"
    if target.is_relative_to(docs):
        return link[0]
    place = target.relative_to(ROOT).as_posix()
    if place in PAGES:
        page = os.path.relpath(docs / f"{PAGES[place]}.md", folder)
        return f"[{text}]({page}{link['anchor'] or ''})"
    if target.is_file():
        plain = text.replace("`", "")
        return f"{{download}}`{plain} <{os.path.relpath(target, folder)}>`"
    return text if text.startswith("`") else f"{text} (`{place}`)"
