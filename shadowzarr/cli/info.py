"""``shadowzarr info``: what references hold, and where its bytes are."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter


def info(
    refs: str,
    path: str = "",
    /,
    *,
    json: Annotated[bool, Parameter(negative="")] = False,
    allow_local_files: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Show what references hold, and where its bytes are.

    Parameters
    ----------
    refs
        A document (.json), a directory of one, or a URL.
    path
        A group, to show what is in it; or an array, to show how its chunks lie in the file.
    json
        Print all of it as JSON.
    allow_local_files
        Let references at a URL name files of this machine.
    """
    from ..store.load_rfs import load_rfs
    from .info_json import array_record, group_record
    from .tree import array_lines, group_lines, node_at

    rfs = load_rfs(refs, allow_local_files=allow_local_files)
    path = path.strip("/")
    node = node_at(rfs, path)
    is_array = node["node_type"] == "array"
    if json:
        _print_json(array_record(rfs, path) if is_array else group_record(rfs, path))
    else:
        _show(array_lines(rfs, path) if is_array else group_lines(rfs, path))
    return 0


def _print_json(record: object) -> None:
    import json

    print(json.dumps(record, indent=1, ensure_ascii=False))


def _show(lines: list[str]) -> None:
    """In colour on a terminal, as plain text elsewhere."""
    if not sys.stdout.isatty():
        print("\n".join(lines))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in lines:
        text = Text(line, no_wrap=True, overflow="ellipsis")
        text.highlight_regex(r"^[ │├└─]*[^ ]*/$", "bold blue")
        text.highlight_regex(r"(?<= )(u?int|float|complex|bool|string|struct)[0-9]*", "cyan")
        text.highlight_regex(r"[░▒▓█]+", "green")
        console.print(text)
