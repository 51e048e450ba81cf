"""How Prefect behaves under ``python -m flows``: set before it is imported, and only where nobody has.

Where a flow is called without ``flows run`` and without a served API, Prefect starts a temporary server of
its own, which takes up to 40 s on two processors; its default limit is 20 s. Its home is left where it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping

ALWAYS = {
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    # What went wrong is told once, by us; a traceback of every failed asset helps nobody.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
}
IDLE_SERVICES = (
    "CANCELLATION_CLEANUP",
    "EVENT_PERSISTER",
    "FOREMAN",
    "LATE_RUNS",
    "PAUSE_EXPIRATIONS",
    "REPOSSESSOR",
    "SCHEDULER",
    "TRIGGERS",
)
"""What a server does for schedules, workers and automations; without them it costs a fifth less per task."""

WITHOUT_SERVER = {
    # Logs of a server that ends with the run would be written for nobody.
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    **{f"PREFECT_SERVER_SERVICES_{service}_ENABLED": "false" for service in IDLE_SERVICES},
    # Nine events of an asset, written one by one, cost the server five times what all else does.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}


def starting(environment: Mapping[str, str] = os.environ) -> str:
    """Say that Prefect starts, and how long that takes."""
    if environment.get("PREFECT_API_URL"):
        return "starting Prefect (some seconds) …"
    return "starting Prefect (half a minute or more: its temporary server starts too) …"


def prepare(environment: MutableMapping[str, str] = os.environ) -> None:
    """Set what is not set."""
    settings = ALWAYS if environment.get("PREFECT_API_URL") else ALWAYS | WITHOUT_SERVER
    for name, value in settings.items():
        environment.setdefault(name, value)
