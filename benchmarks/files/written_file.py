"""A file of the benchmarks: what it is, and writing it unless it is there."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "files"
"""Folder of the files in the scratch directory, which is what the server serves."""


@dataclass(frozen=True)
class BenchmarkFile:
    """One file.

    Attributes
    ----------
    name : str
        Short name; the file's own name adds a digest of what writes it.
    title : str
        What it is, for the tables.
    writer : callable
        Writes it: called with a path and the parameters.
    parameters : dict
        Sizes.
    dataset : str or None
        The dataset whose chunks are compared; None for a file that has no large one.
    suffix : str
        End of the file's name.
    """

    name: str
    title: str
    writer: Callable[..., None]
    parameters: dict[str, Any]
    dataset: str | None = None
    suffix: str = ".h5"

    @property
    def file_name(self) -> str:
        """Name that differs when the parameters or the writer do."""
        text = json.dumps(self.parameters, sort_keys=True) + inspect.getsource(self.writer)
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}{self.suffix}"

    def path(self, scratch: Path) -> Path:
        """Where it is or will be."""
        return scratch / FOLDER / self.file_name

    def write(self, scratch: Path) -> Path:
        """Write it unless it is there; never leaves half a file under its name."""
        path = self.path(scratch)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f"partial-{path.name}")
            partial.unlink(missing_ok=True)
            self.writer(partial, **self.parameters)
            partial.replace(path)
        return path
