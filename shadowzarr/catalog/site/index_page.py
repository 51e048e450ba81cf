"""``index.html``: it names the page's scripts, styles and data, and says what the browser may do for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final

from .built_page import BuiltPage
from .site_data import OVERVIEW

FILES: Final = "site/files"
DATA: Final = "site/data"
DIGEST_DIGITS: Final = 16

_DATA_META = re.compile(
    rf'<meta name="shadowzarr-catalog" content="{DATA}/([0-9a-f]{{{DIGEST_DIGITS}}})/">', re.ASCII
)
_ORIGIN = re.compile(r"(http://[a-z0-9.-]+(?::\d{1,5})?)/", re.ASCII)
_LOCAL: Final = ("http://127.0.0.1:*", "http://localhost:*")
_ON_THIS_MACHINE: Final = ("http://127.0.0.1:", "http://localhost:")


def index_page(page: BuiltPage, digest: str, *, origins: Iterable[str] = ()) -> bytes:
    """Return the page.

    Parameters
    ----------
    page : BuiltPage
    digest : str
        Of the state of the site, which names the folder of its data.
    origins : iterable of str
        Servers that files are read from, beside those behind https and on the reader's own machine.
    """
    data = f"{DATA}/{digest}/"
    scripts = [name for name in page.first if name.endswith(".js") and name != page.script]
    preloads = "".join(f'<link rel="modulepreload" href="{FILES}/{escape(name)}">\n' for name in scripts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(policy(origins))}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="shadowzarr-catalog" content="{data}">
<title>Catalogue of references</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{FILES}/{escape(page.style)}">
<link rel="preload" as="fetch" crossorigin="anonymous" href="{data}{OVERVIEW}">
{preloads}<script type="module" src="{FILES}/{escape(page.script)}"></script>
</head>
<body>
<div id="page"><main><h1>Catalogue of references</h1>
<p>This page needs JavaScript and a web server; for one of a folder:
<code>python -m flows catalog serve OUTPUT</code></p>
</main></div>
</body>
</html>
""".encode()


def policy(origins: Iterable[str] = ()) -> str:
    """Return the content-security policy: scripts and styles of the page's own, and reading of files.

    Decoders of Blosc, LZ4 and Zstandard are WebAssembly, hence ``wasm-unsafe-eval``; no text becomes script.
    """
    reads = ("'self'", "https:", *_LOCAL, *sorted(set(origins)))
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self' 'wasm-unsafe-eval'",
            "style-src 'self'",
            "img-src 'self' data:",
            f"connect-src {' '.join(reads)}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def plain_origin(url: str | None) -> str | None:
    """The origin of a URL behind http, which has to be allowed by name; nothing for any other."""
    found = _ORIGIN.match(url or "")
    return found[1] if found and not found[1].startswith(_ON_THIS_MACHINE) else None


def named_data(index: bytes) -> str | None:
    """The digest that a page of ours names; nothing when it is none of ours."""
    found = _DATA_META.search(index.decode(errors="replace"))
    return found[1] if found else None
