"""Which errors are worth trying again, and after how long; the same for every task."""

from __future__ import annotations

from typing import Any

from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff

RETRIES = 3
BACKOFF_SECONDS = 2.0
JITTER = 0.5


def is_transient(_task: Any, _task_run: Any, state: Any) -> bool:
    """Tell whether a failed task's error may pass by itself; what cannot be mended so runs once."""
    error = state.data if isinstance(state.data, BaseException) else state.result(raise_on_failure=False)
    return bool(getattr(error, "transient", False))


def policy(retries: int = RETRIES) -> dict[str, Any]:
    """Return the options of every task.

    Parameters
    ----------
    retries : int
        How often an error that may pass is tried again.
    """
    return {
        "retries": retries,
        "retry_delay_seconds": exponential_backoff(BACKOFF_SECONDS) if retries else None,
        "retry_jitter_factor": JITTER if retries else None,
        "retry_condition_fn": is_transient,
        "cache_policy": NO_CACHE,  # records decide what is done; hashing inputs costs more than the work
        "persist_result": False,
    }
