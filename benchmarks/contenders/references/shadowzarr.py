"""Ours: the directory, and the single JSON that others read too."""

from __future__ import annotations

from typing import Any

from benchmarks.measure.prepared import Prepared
from shadowzarr import generate_rfs, write_rfs


def prepare(arguments: dict[str, Any]) -> Prepared:
    """Nothing is warmed up."""
    return Prepared(lambda: _make(arguments), lambda made: made)


def _make(arguments: dict[str, Any]) -> None:
    is_remote = arguments["source"].startswith("http")
    local = {"local_hdf5_path": arguments["path"]} if is_remote else {}
    rfs = generate_rfs(arguments["source"], **local)
    for form in arguments["forms"]:
        write_rfs(rfs, f"{arguments['target']}.{form}")
