import importlib
from pathlib import Path

import pytest
from prefect import Task
from prefect.states import Failed

from shadowzarr.errors import ArchiveUnavailableError, DamagedSourceError, TransientReadError
from tasks.retrying import is_transient, policy

TASKS = Path(__file__).resolve().parents[2] / "tasks"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TransientReadError("busy"), True),
        (ArchiveUnavailableError("down"), True),
        (DamagedSourceError("cut"), False),
        (ValueError("a mistake"), False),
    ],
)
def test_only_errors_that_may_pass_are_worth_another_try(error, expected):
    assert is_transient(None, None, Failed(data=error)) is expected


def test_pauses_grow():
    options = policy(3)
    assert options["retries"] == 3
    pauses = options["retry_delay_seconds"](3)
    assert pauses == sorted(pauses)
    assert len(set(pauses)) == 3


def test_no_retries_at_all():
    assert (policy(0)["retries"], policy(0)["retry_delay_seconds"]) == (0, None)


@pytest.mark.parametrize(
    "module", sorted(p.stem for p in TASKS.glob("*.py") if p.stem not in ("__init__", "retrying"))
)
def test_every_task_has_the_policy_and_is_a_few_lines(module):
    found = [
        value
        for value in vars(importlib.import_module(f"tasks.{module}")).values()
        if isinstance(value, Task)
    ]
    assert found
    for task in found:
        assert task.retry_condition_fn is is_transient
        assert task.retries == 3
        assert task.persist_result is False
    assert len((TASKS / f"{module}.py").read_text().splitlines()) < 45
