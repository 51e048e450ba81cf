"""Damaged files given to a process of their own, and which of its outcomes are right."""

import json
import selectors
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import damaged_child

SECONDS = 60
"""A child may be slow on a busy machine; a loop without end is slower."""


class Child:
    """A process that takes files one by one; started again when one kills it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None

    def ask(self, line: str) -> dict:
        process = self._started()
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            ready = selector.select(SECONDS)
        answer = process.stdout.readline() if ready else ""
        if answer:
            return json.loads(answer)
        self.close()
        return {"hangs": SECONDS} if not ready else {"crash": process.returncode}

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen:
        if self._process is None or self._process.poll() is not None:
            self.close()
            pipe = subprocess.PIPE
            command = [sys.executable, damaged_child.__file__]
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
            )
        return self._process


def check(child: Child, path: Path, *, way: str = "") -> dict:
    """The outcome for one file, which must be one of the right ones; `way` as `damaged_child` has it."""
    found = child.ask(f"{way} {path}".lstrip())
    if "crash" in found or "hangs" in found:
        judge = "tifffile" if way == "tiff" else "h5py"
        alone = child.ask(f"{judge} {path}")
        assert "crash" in alone or "hangs" in alone, f"{path.name}: {found}, where {judge} gives {alone}"
        return found
    assert "escaped" not in found, f"{path.name}: {found.get('escaped')}\n{found.get('trace')}"
    assert found.get("named", True), f"{path.name}: {found}"
    assert not found.get("wrong"), f"{path.name}: {found['wrong']}"
    return found


def kind_of(found: dict) -> str:
    """What became of a file, in a word, for counting."""
    for word in ("crash", "hangs"):
        if word in found:
            return word
    for word in ("not judged", "unreadable"):
        if word in found:
            return word
    if "error" in found:
        return "refused"
    return "left out" if found["skipped"] else "equal"


def check_damaged(
    child: Child, files: Iterable[Path], folder: Path, *, change: Callable[[bytes], bytes], way: str
) -> Counter[str]:
    """Change files, have each read, and count the outcomes; those that are wrong stay in the folder."""
    seen: Counter[str] = Counter()
    wrong: list[str] = []
    for number, original in enumerate(files):
        path = folder / f"{number}-{original.name}"
        path.write_bytes(change(original.read_bytes()))
        try:
            seen[kind_of(check(child, path, way=way))] += 1
        except AssertionError as error:
            wrong.append(str(error))
        else:
            path.unlink()
    assert wrong == [], "\n".join(wrong)
    return seen
