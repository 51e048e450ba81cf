"""The configuration that ``python -m flows index`` stands for: one dandiset and an output, without a file."""

from __future__ import annotations

import json
from dataclasses import dataclass

PLACE = "command line"
"""What messages call the configuration."""
ARGUMENTS: dict[tuple[int | str, ...], str] = {
    ("dandisets", 0, "id"): "DANDISET",
    ("dandisets", 0, "version"): "--version",
    ("dandisets", 0, "limit"): "--limit",
    ("archive",): "--archive",
    ("archive", "api_url"): "--archive",
    ("output",): "OUTPUT",
    ("output", "folder"): "OUTPUT",
}
"""What the user wrote for a value of it."""


@dataclass(frozen=True)
class OneDandiset:
    """One dandiset and where its references go.

    Attributes
    ----------
    dandiset, output, archive, version : str
        As in a configuration.
    limit : int, optional
        At most so many assets.
    """

    dandiset: str
    output: str
    archive: str = "dandi"
    version: str = "draft"
    limit: int | None = None

    def text(self) -> str:
        """The configuration as YAML, each value in quotes."""
        lines = [
            "flow: index_dandisets",
            f"archive: {json.dumps(self.archive)}",
            "dandisets:",
            f"  - id: {json.dumps(self.dandiset)}",
            f"    version: {json.dumps(self.version)}",
            *([] if self.limit is None else [f"    limit: {self.limit}"]),
            f"output: {json.dumps(self.output)}",
        ]
        return "".join(f"{line}\n" for line in lines)
