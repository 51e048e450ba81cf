"""The command, called by a process that may not take much; run by `other_processes`."""

import importlib
import json
import resource
from collections.abc import Callable
from pathlib import Path

from command_line import call

import shadowzarr.cli  # noqa: F401 (before there are limits)

for name in ("generate", "materialize", "icechunk", "to_hdf5", "convert", "verify"):
    importlib.import_module(f"shadowzarr.cli.{name}")

LIMITS = {"files": resource.RLIMIT_NOFILE, "memory": resource.RLIMIT_AS}


def command(begin: Callable[[], object], result: str, limits: str, *arguments: str) -> None:
    """Call the command under limits; memory is what it may take beyond what it has."""
    with Path(result).open("w") as answer:
        begin()
        for name, most in json.loads(limits).items():
            limit = most + (_address_space() if name == "memory" else 0)
            resource.setrlimit(LIMITS[name], (limit, resource.getrlimit(LIMITS[name])[1]))
        done = call(*arguments)
        json.dump([done.returncode, done.stdout, done.stderr], answer)


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
