"""Run a contender in a process of its own, with a limit to its time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.serving.server_process import ROOT

from .outcome import Outcome, outcome_of


@dataclass(frozen=True)
class Contender:
    """Who takes part.

    Attributes
    ----------
    name : str
        As in the tables.
    module : str
        Module with ``prepare(arguments) -> Prepared``.
    python : Path
        Interpreter of its environment.
    arguments : dict
        For ``prepare``, beside those of the task.
    in_flight : int or None
        The most requests that it keeps under way, where it has such a limit.
    aside : str
        Why it is shown but is no peer; empty for a peer.
    """

    name: str
    module: str
    python: Path
    arguments: dict[str, Any]
    in_flight: int | None = None
    aside: str = ""


def run_contender(
    contender: Contender,
    task: dict[str, Any],
    *,
    address: str,
    timeout: float,
    turn_around: float | None = None,
) -> Outcome:
    """Run once.

    Parameters
    ----------
    contender : Contender
        Who.
    task : dict
        What to do, the same for all.
    address : str
        Of the server.
    timeout : float
        Seconds after which the process is ended, imports and warming up included.
    turn_around : float, optional
        Given, waits for a free place do not count as depth; see `serial_depth`.
    """
    if not contender.python.exists():
        return Outcome(None, "not run: it has no environment; `make bench` makes it")
    with tempfile.TemporaryDirectory() as name:
        job, result = Path(name, "job.json"), Path(name, "result.json")
        job.write_text(
            json.dumps(
                {
                    "module": contender.module,
                    "address": address,
                    "arguments": {**task, **contender.arguments, "output": str(Path(name, "output"))},
                }
            )
        )
        command = [str(contender.python), "-m", "benchmarks.measure.child", str(job), str(result)]
        note = _run(command, timeout)
        if note:
            return Outcome(None, note)
        in_flight = None if turn_around is None else contender.in_flight
        return outcome_of(json.loads(result.read_text()), in_flight, turn_around or 0.0)


def _run(command: list[str], timeout: float) -> str:
    """Run a command in the project's folder; gives what went wrong, or nothing."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            _, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return f"> {timeout:.0f} s"
        finally:
            _end(process)
    if process.returncode:
        return f"failed: {last_words(errors)}"
    return ""


def _end(process: subprocess.Popen[str]) -> None:
    """End the process and all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def last_words(errors: str) -> str:
    """The last line of a traceback, shortened."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return lines[-1][:120] if lines else "it ended without a word"
