"""A program run over many files: one that ends the process costs only itself."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def outcomes(program: Path, paths: Sequence[Path], *arguments: str) -> dict[Path, dict[str, Any]]:
    """What a program prints of each file that it reads the name of, as JSON, after a line that names it."""
    found: dict[Path, dict[str, Any]] = {}
    left = list(paths)
    places = [str(program.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    while left:
        done = subprocess.run(
            [sys.executable, str(program), *arguments],
            input="\n".join(map(str, left)) + "\n",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        started = [Path(line["start"]) for line in lines if "start" in line]
        ended = [line for line in lines if "start" not in line]
        if not started:
            raise AssertionError(f"{program.name} did not start: {done.stderr[-2000:]}")
        found |= dict(zip(started, ended, strict=False))
        if len(ended) < len(started):
            found[started[-1]] = {"ended the process": done.returncode}
        left = [path for path in left if path not in found]
    return found
