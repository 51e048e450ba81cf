"""A flow that is killed; run by `other_processes`, whose process has imported Prefect before it forks."""

from collections.abc import Callable

import flows.index_dandisets  # noqa: F401 (before the fork)
from flows.__main__ import main


def run_config(begin: Callable[[], object], config: str) -> None:
    """Run a configuration as the command does."""
    begin()
    assert main(["run", config]) == 0
