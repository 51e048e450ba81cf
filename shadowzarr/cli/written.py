"""What verbs say of references that they wrote, as a line and as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..formatting import format_bytes

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """References on disk.

    Attributes
    ----------
    out : str
        Where they are.
    groups, arrays, chunks : int
        What they hold; the root is a group, and chunks are those that are stored.
    inline_bytes : int
        Bytes of chunks that the document itself holds.
    nbytes : int
        Bytes on disk.
    """

    out: str
    groups: int
    arrays: int
    chunks: int
    inline_bytes: int
    nbytes: int

    @property
    def size(self) -> str:
        """Bytes on disk, for people."""
        return format_bytes(self.nbytes)


def written(rfs: Record, out: str) -> Written:
    """Count what was written to a path, from the document in memory."""
    from ..refs.totals import totals_of  # here, since it imports numpy, which help does without

    totals = totals_of(rfs)
    return Written(
        out, totals.groups, totals.arrays, totals.chunks, totals.inline_bytes, size_on_disk(Path(out))
    )


def size_on_disk(path: Path) -> int:
    """Bytes of a file, or of all files in a directory."""
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())


def left_out_records(entries: Iterable[tuple[str, str, str]]) -> list[dict[str, str]]:
    """What is left out, as data, from (path, kind, reason)."""
    return [{"path": path, "kind": kind, "reason": reason} for path, kind, reason in entries]


def as_json(what: Any, entries: Sequence[tuple[str, str, str]] | None = None, **more: Any) -> str:
    """One JSON object: the fields of a dataclass, more, and what is left out where something can be."""
    left_out = {} if entries is None else {"left_out": left_out_records(entries)}
    return json.dumps({**asdict(what), **more, **left_out}, default=str, ensure_ascii=False)
