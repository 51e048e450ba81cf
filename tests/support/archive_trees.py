"""What an output holds, so that two of them can be compared."""

import json
from pathlib import Path

CHANGING = ("report.html", "catalog.sqlite")
"""Files that tell times."""

DERIVED = ("catalog", "site", "index.html")
"""What is derived from what is compared, and from times of records."""


def tree(folder: Path, *, but: str = "") -> dict[str, object]:
    """Content of all files of an output by their names, without the times of records."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        content: object = path.read_bytes() if path.is_file() else None
        if path.name.endswith(".record.json"):
            content = {**json.loads(path.read_bytes()), "stages": []}
        is_derived = path.relative_to(folder).parts[0] in DERIVED or path.name in CHANGING
        if but not in path.relative_to(folder).parts and not is_derived:
            found[str(path.relative_to(folder))] = content
    return found
