"""Put generated text between two markers of a page."""

from __future__ import annotations

from pathlib import Path


def markers(name: str) -> tuple[str, str]:
    """The lines around the text of a name; both are comments of Markdown."""
    return f"<!-- {name}: written by make bench -->", f"<!-- end of {name} -->"


def replace_between(page: str, name: str, text: str) -> str:
    """Replace what stands between the markers.

    Raises
    ------
    ValueError
        When the page does not have each marker once, in this order.
    """
    first, last = markers(name)
    if page.count(first) != 1 or page.count(last) != 1 or page.index(first) > page.index(last):
        raise ValueError(f"the page needs {first!r} and then {last!r}, once each")
    before, _, rest = page.partition(first)
    _, _, after = rest.partition(last)
    return f"{before}{first}\n\n{text.strip()}\n\n{last}{after}"


def write_between(path: Path, name: str, text: str) -> None:
    """The same for a file."""
    path.write_text(replace_between(path.read_text(encoding="utf-8"), name, text), encoding="utf-8")
